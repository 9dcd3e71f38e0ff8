//! Recipes of a justfile, by just 1.40: lines of a recipe each run in a shell of their own, or all of them as one script.

use std::collections::BTreeMap;

use castellan_event::Why;
use castellan_shell::interpreter;

use super::{Script, UNKNOWN, Wanted};
use crate::limits::JUST_RECIPES_MAX;

/// Attributes that change how or where a recipe runs.
const WAYS: &[&str] = &["script", "working-directory", "no-cd", "extension"];

/// A recipe.
#[derive(Debug, Default)]
struct Recipe {
    name: String,
    parameters: Vec<String>,
    needs: Vec<String>,
    lines: Vec<String>,
}

/// What runs for a recipe.
pub(super) fn script(text: &str, wanted: &Wanted<'_>) -> Script {
    let (recipes, variables, mut script) = read(text);
    let default = || recipes.first().map(|recipe| recipe.name.clone());
    let Some(goal) = wanted.name.map(str::to_owned).or_else(default) else { return script };
    let mut todo = vec![goal];
    let mut done: Vec<String> = Vec::new();
    while let Some(name) = todo.pop() {
        let Some(recipe) = recipes.iter().find(|recipe| recipe.name == name) else { continue };
        if done.contains(&name) {
            continue;
        }
        if done.len() >= JUST_RECIPES_MAX {
            script.holes.push((Why::Budget, name));
            break;
        }
        done.push(name);
        todo.extend(recipe.needs.iter().cloned());
        add(recipe, &variables, &mut script);
    }
    script
}

fn add(recipe: &Recipe, variables: &BTreeMap<String, String>, script: &mut Script) {
    let within = recipe.lines.iter().flat_map(|line| line.split("{{").skip(1));
    let expressions = within.filter_map(|text| text.split("}}").next());
    for code in expressions.filter(|text| text.contains('`') || text.contains("shell(")) {
        script.holes.push((Why::Language, code.to_owned()));
    }
    let filled = |line: &String| filled(line, recipe, variables);
    let first = recipe.lines.first().map(String::as_str).unwrap_or_default();
    match interpreter(first).map(|words| words.first().map(|word| (*word).to_owned())) {
        None => {
            let lines = recipe.lines.iter().map(filled);
            script.texts.extend(lines.map(|line| line.trim_start_matches(['@', '-']).to_owned()));
        }
        Some(Some(program)) if matches!(program.rsplit('/').next(), Some("sh" | "bash" | "zsh" | "dash")) => {
            script.texts.push(recipe.lines.iter().skip(1).map(filled).collect::<Vec<_>>().join("\n"));
        }
        Some(program) => script.holes.push((Why::Language, program.unwrap_or_default())),
    }
}

/// Text with `{{name}}` in place. Parameters and expressions are not known.
fn filled(line: &str, recipe: &Recipe, variables: &BTreeMap<String, String>) -> String {
    let mut made = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("{{") {
        made.push_str(before);
        let (name, next) = after.split_once("}}").unwrap_or((after, ""));
        let name = name.trim();
        let is_own = recipe.parameters.iter().any(|one| one == name);
        match variables.get(name).filter(|_| !is_own) {
            Some(value) => made.push_str(value),
            None => made.push_str(&format!("${{{UNKNOWN}}}")),
        }
        rest = next;
    }
    made + rest
}

fn read(text: &str) -> (Vec<Recipe>, BTreeMap<String, String>, Script) {
    let mut recipes: Vec<Recipe> = Vec::new();
    let mut variables = BTreeMap::new();
    let mut script = Script::default();
    for line in text.lines() {
        let line = line.trim_end_matches('\r');
        if line.starts_with([' ', '\t']) {
            if let Some(recipe) = recipes.last_mut().filter(|_| !line.trim().is_empty()) {
                let line = line.trim_start();
                match recipe.lines.last_mut().filter(|before| before.ends_with('\\')) {
                    Some(before) => {
                        before.pop();
                        before.push_str(line);
                    }
                    None => recipe.lines.push(line.to_owned()),
                }
            }
            continue;
        }
        top(line, &mut recipes, &mut variables, &mut script);
    }
    (recipes, variables, script)
}

/// A line that is no part of a recipe.
fn top(line: &str, recipes: &mut Vec<Recipe>, variables: &mut BTreeMap<String, String>, script: &mut Script) {
    let line = line.trim_end();
    if line.is_empty() || line.starts_with('#') {
        return;
    }
    if line.starts_with('[') {
        if WAYS.iter().any(|way| line.contains(way)) {
            script.holes.push((Why::Language, line.to_owned()));
        }
        return;
    }
    let word = line.split_whitespace().next().unwrap_or_default();
    match word {
        "set" if line.contains("shell") || line.contains("working-directory") => {
            script.holes.push((Why::Language, line.to_owned()))
        }
        "set" | "unexport" => return,
        "import" | "import?" | "mod" | "mod?" => {
            let file = line.split_once(['\'', '"']).map(|(_, rest)| rest.trim_end_matches(['\'', '"']));
            match file.filter(|_| word.starts_with("import")) {
                Some(file) => script.includes.push(file.to_owned()),
                None => script.holes.push((Why::File, line.to_owned())),
            }
            return;
        }
        _ => {}
    }
    if let Some((name, value)) = line.split_once(":=") {
        let name = name.trim_start_matches("export ").trim_start_matches("alias ").trim();
        // Commands in backticks run when the file is read.
        let code: Vec<&str> = value.split('`').skip(1).step_by(2).collect();
        if value.contains("shell(") || code.iter().any(|code| code.is_empty()) {
            script.holes.push((Why::Language, line.to_owned()));
        }
        if !code.is_empty() {
            script.texts.extend(code.into_iter().map(str::to_owned));
        } else if let Some(text) = literal(value.trim()) {
            variables.insert(name.to_owned(), text.to_owned());
        } else if line.starts_with("alias ") {
            recipes.push(Recipe {
                name: name.to_owned(),
                needs: vec![value.trim().to_owned()],
                ..Recipe::default()
            });
        }
        return;
    }
    let Some((head, needs)) = line.split_once(':') else { return };
    let mut words = head.trim_start_matches('@').split_whitespace();
    let name = words.next().unwrap_or_default().to_owned();
    let plain = |word: &str| word.trim_start_matches(['+', '*', '$']).split('=').next().map(str::to_owned);
    let parameters = words.filter_map(plain).collect();
    let needs =
        needs.split(['(', ')', ' ', '&']).filter(|word| !word.is_empty()).map(str::to_owned).collect();
    recipes.push(Recipe { name, parameters, needs, lines: Vec::new() });
}

/// A text in quotes without escapes.
fn literal(value: &str) -> Option<&str> {
    ['\'', '"'].iter().find_map(|quote| {
        let inner = value.strip_prefix(*quote)?.strip_suffix(*quote)?;
        (!inner.contains([*quote, '\\'])).then_some(inner)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, name: Option<&str>, expected: &[&str]) {
        let script = script(text, &Wanted { verb: "run", name, argv: &[], env: &[], is_shown: false });
        let holes = script.holes.iter().map(|(why, text)| format!("hole {why} {text}"));
        let found: Vec<String> = script.texts.iter().cloned().chain(holes).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn recipes_and_what_they_need() {
        check("a: b\n  @echo a\nb:\n  rm x\n", None, &["echo a", "rm x"]);
        check("dir := 'out'\nclean:\n    rm -rf {{dir}}/x\n", Some("clean"), &["rm -rf out/x"]);
        check("go target:\n    rm -rf {{target}}\n", Some("go"), &["rm -rf ${castellan_unknown_value}"]);
        let own = "target := 'x'\ngo target='y':\n    rm -rf {{target}}\n";
        check(own, Some("go"), &["rm -rf ${castellan_unknown_value}"]);
        check("alias c := clean\nclean:\n    rm x\n", Some("c"), &["rm x"]);
        check("a:\n    #!/usr/bin/env bash\n    cd x\n    rm y\n", None, &["cd x\nrm y"]);
        check("a:\n    #!/usr/bin/env python3\n    print(1)\n", None, &["hole language python3"]);
        check("v := `rm -rf y`\na:\n    echo\n", None, &["rm -rf y", "echo"]);
        check("v := `a` + `rm b`\nx:\n    echo\n", None, &["a", "rm b", "echo"]);
        let shell = "v := shell('rm y')";
        check(&format!("{shell}\nx:\n    echo\n"), None, &["echo", &format!("hole language {shell}")]);
        let there = "set working-directory := '/'";
        check(&format!("{there}\nx:\n    echo\n"), None, &["echo", &format!("hole language {there}")]);
        let there = "[working-directory: '/']";
        check(&format!("{there}\nx:\n    echo\n"), None, &["echo", &format!("hole language {there}")]);
        check(
            "x:\n    echo {{`rm y`}}\n",
            None,
            &["echo ${castellan_unknown_value}", "hole language `rm y`"],
        );
        check(
            "set shell := ['python3', '-c']\na:\n    x\n",
            None,
            &["x", "hole language set shell := ['python3', '-c']"],
        );
    }
}
