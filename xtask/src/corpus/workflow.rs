//! Shell text in CI files: `run` of GitHub's steps, and keys of other services that end in `script`.
//!
//! Left out and counted: steps with another shell (`pwsh`, `python`), jobs with `windows` in `runs-on`, files that are
//! not YAML. The service replaces `${{ ... }}` before a shell runs the text. The word `value` takes its place, or
//! `secretvalue` for one of the service's secrets. Variables of `env` that a step uses are put before its text.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, Span};

use super::item::{Items, Kind};

/// Files of other services, by name.
pub(crate) const OTHER_FILES: &[&str] = &[".travis.yml", ".gitlab-ci.yml", ".cirrus.yml", "appveyor.yml"];

/// Limit of nesting in workflows, to stop the recursion.
const DEPTH_MAX: usize = 40;

#[derive(Debug)]
enum Yaml {
    /// With its line, from 1.
    Scalar(String, usize),
    List(Vec<Yaml>),
    Map(Vec<(String, Yaml)>),
}

pub(crate) fn read(text: &str, origin: &str, items: &mut Items) {
    if origin.ends_with("appveyor.yml") {
        return items.leave_out("CI files for Windows");
    }
    let Some(document) = parse(text) else { return items.leave_out("CI files that are not read as YAML") };
    steps(&document, &Variables::new(), origin, items);
}

/// The variables in `env` of a workflow, job or step. The innermost value applies.
type Variables = BTreeMap<String, String>;

/// Adds the texts that a mapping runs, then reads its values. `outer`: the variables declared around it.
fn steps(node: &Yaml, outer: &Variables, origin: &str, items: &mut Items) {
    match node {
        Yaml::Scalar(..) => {}
        Yaml::List(list) => list.iter().for_each(|node| steps(node, outer, origin, items)),
        Yaml::Map(map) => {
            let mut variables = outer.clone();
            variables.extend(declared(map));
            let scalar = |key: &str| {
                map.iter().find_map(|(name, value)| match value {
                    Yaml::Scalar(text, _) if name == key => Some(text.as_str()),
                    Yaml::Scalar(..) | Yaml::List(_) | Yaml::Map(_) => None,
                })
            };
            if scalar("runs-on").is_some_and(|on| on.contains("windows")) {
                return items.leave_out("CI jobs for Windows");
            }
            let is_shell = scalar("shell").is_none_or(|shell| {
                matches!(shell.split(' ').next().unwrap_or_default(), "bash" | "sh")
                    || shell.starts_with("${{")
            });
            for (key, value) in map {
                let runs = key == "run" || key == "script" || key.ends_with("_script");
                match value {
                    Yaml::Scalar(..) | Yaml::List(_) if runs && !is_shell => {
                        items.leave_out("CI steps in other languages")
                    }
                    Yaml::Scalar(text, line) if runs => add(text, *line, &variables, origin, items),
                    Yaml::List(list) if runs => {
                        let texts = list.iter().filter_map(|node| match node {
                            Yaml::Scalar(text, line) => Some((text, *line)),
                            Yaml::List(_) | Yaml::Map(_) => None,
                        });
                        texts.for_each(|(text, line)| add(text, line, &variables, origin, items));
                    }
                    Yaml::Scalar(..) | Yaml::List(_) | Yaml::Map(_) => {
                        steps(value, &variables, origin, items)
                    }
                }
            }
        }
    }
}

/// Returns the variables that a mapping declares.
fn declared(map: &[(String, Yaml)]) -> impl Iterator<Item = (String, String)> {
    let env = map.iter().filter_map(|(key, value)| match value {
        Yaml::Map(variables) if key == "env" => Some(variables),
        Yaml::Map(_) | Yaml::Scalar(..) | Yaml::List(_) => None,
    });
    env.flatten().filter_map(|(name, value)| match value {
        Yaml::Scalar(text, _) => Some((name.clone(), text.clone())),
        Yaml::List(_) | Yaml::Map(_) => None,
    })
}

/// Adds a text after the declared variables that it uses, because an agent must set them itself.
fn add(text: &str, line: usize, variables: &Variables, origin: &str, items: &mut Items) {
    let names = |name: &str| {
        let plain = text.match_indices(&format!("${name}")).any(|(at, found)| {
            let after = text.get(at + found.len()..).and_then(|rest| rest.chars().next());
            !after.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
        });
        plain || text.contains(&format!("${{{name}"))
    };
    let named = variables.iter().filter(|(name, _)| names(name));
    let set: String = named
        .map(|(name, value)| format!("export {name}={}\n", castellan_event::single_quoted(value)))
        .collect();
    items.add(Kind::Step, format!("{origin}#{line}"), &without_expressions(&format!("{set}{text}")));
}

fn without_expressions(text: &str) -> String {
    let mut rest = text;
    let mut whole = String::new();
    while let Some((before, expression)) = rest.split_once("${{") {
        let Some((expression, after)) = expression.split_once("}}") else { break };
        whole.push_str(before);
        let is_secret = expression.contains("secrets.") || expression.contains("github.token");
        whole.push_str(if is_secret { "secretvalue" } else { "value" });
        rest = after;
    }
    whole + rest
}

/// Parses the first document. Does not resolve aliases: their steps are read at the anchor.
fn parse(text: &str) -> Option<Yaml> {
    let mut parser = Parser::new_from_str(text);
    loop {
        let event = parser.next_event()?.ok()?;
        if !matches!(event.0, Event::StreamStart | Event::DocumentStart(_) | Event::Nothing) {
            return node(event, &mut parser, DEPTH_MAX);
        }
    }
}

fn node<'t>(
    (event, span): (Event<'t>, Span),
    parser: &mut Parser<'t, saphyr_parser::StrInput<'t>>,
    depth: usize,
) -> Option<Yaml> {
    let depth = depth.checked_sub(1)?;
    match event {
        Event::Scalar(text, ..) => Some(Yaml::Scalar(text.into_owned(), span.start.line())),
        Event::Alias(_) => Some(Yaml::Scalar(String::new(), span.start.line())),
        Event::SequenceStart(..) => {
            let mut list = Vec::new();
            loop {
                let event = parser.next_event()?.ok()?;
                if event.0 == Event::SequenceEnd {
                    return Some(Yaml::List(list));
                }
                list.push(node(event, parser, depth)?);
            }
        }
        Event::MappingStart(..) => {
            let mut map = Vec::new();
            loop {
                let event = parser.next_event()?.ok()?;
                if event.0 == Event::MappingEnd {
                    return Some(Yaml::Map(map));
                }
                let key = match node(event, parser, depth)? {
                    Yaml::Scalar(key, _) => key,
                    Yaml::List(_) | Yaml::Map(_) => String::new(),
                };
                let event = parser.next_event()?.ok()?;
                map.push((key, node(event, parser, depth)?));
            }
        }
        Event::Nothing
        | Event::StreamStart
        | Event::StreamEnd
        | Event::DocumentStart(_)
        | Event::DocumentEnd
        | Event::SequenceEnd
        | Event::MappingEnd => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_found_and_others_left_out() {
        let text = "jobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: cargo test -p ${{ matrix.p }}\n      \
                    - run: |\n          ls\n          pwd\n      - shell: pwsh\n        run: Get-ChildItem\n  b:\n    \
                    runs-on: windows-latest\n    steps:\n      - run: dir\n";
        let mut items = Items::default();
        read(text, "w.yml", &mut items);
        assert_eq!(items.len(), 2, "{items:?}");
        let shown = format!("{items:?}");
        assert!(shown.contains("cargo test -p value") && shown.contains(r"ls\npwd"), "{shown}");
    }

    #[test]
    fn declared_variables_are_set_where_they_are_named() {
        let text = "env:\n  A: 1\n  B: x y\njobs:\n  a:\n    env:\n      A: 2\n    steps:\n      - run: echo $A ${B}\n      \
                    - run: echo $AB\n      - env:\n          A: it's\n        run: echo $A\n";
        let mut items = Items::default();
        read(text, "w.yml", &mut items);
        let (texts, _) = items.into_texts();
        let texts: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
        let expected =
            ["export A='2'\nexport B='x y'\necho $A ${B}", "echo $AB", "export A='it'\\''s'\necho $A"];
        assert_eq!(texts, expected);
    }
}
