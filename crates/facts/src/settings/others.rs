//! Settings of programs other than git, each in the format of its file. Sources: the manuals of Mercurial 6.7 (hgrc),
//! npm 10 (npmrc), Yarn 1.22 and 4.5, Jujutsu 0.25, mise 2024.11, OpenSSH 9.7 (`ssh_config`).

use castellan_event::{Why, matches_star};
use serde_json::Value as Json;

use super::Starts;
use crate::yaml;

/// Format of a program's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// `[section]`, then `name = value`: the name of a setting is `section.name`.
    Sections,
    /// `name value` on each line.
    Lines,
    /// TOML: the names of all tables around a setting are part of its name.
    Toml,
    Yaml,
}

/// How the value of a setting starts something.
#[derive(Debug, Clone, Copy)]
enum Value {
    /// Shell text.
    Shell,
    /// Shell text after `!`.
    Marked,
    /// Shell text, unless it names a Python function.
    Hook,
    /// A file in this language; nothing if the value is not a path.
    File(&'static str),
    /// Options of node.
    Options,
    /// Another such file.
    Settings,
    /// A command that the program has itself: starts nothing.
    Nothing,
}

/// Files of settings: the word for their language, their format, and settings by their names in lower case. The first
/// match applies; `*` matches any text.
type Files = (&'static str, Format, &'static [(&'static str, Value)]);

const FILES: &[Files] = &[
    (
        "hgrc",
        Format::Sections,
        &[
            ("hooks.*", Value::Hook),
            ("alias.*", Value::Marked),
            ("extensions.*", Value::File("python")),
            ("ui.editor", Value::Shell),
            ("ui.ssh", Value::Shell),
            ("ui.merge", Value::Shell),
            ("ui.askusername", Value::Nothing),
            ("pager.pager", Value::Shell),
            ("merge-tools.*.executable", Value::Shell),
            ("extdiff.cmd.*", Value::Shell),
            ("encode.*", Value::Shell),
            ("decode.*", Value::Shell),
            ("%include", Value::Settings),
        ],
    ),
    (
        "npmrc",
        Format::Sections,
        &[
            ("script-shell", Value::Shell),
            ("shell", Value::Shell),
            ("git", Value::Shell),
            ("editor", Value::Shell),
            ("viewer", Value::Shell),
            ("node-options", Value::Options),
            ("init-module", Value::File("node")),
            ("onload-script", Value::File("node")),
            ("globalconfig", Value::Settings),
            ("userconfig", Value::Settings),
        ],
    ),
    ("yarnrc", Format::Lines, &[("yarn-path", Value::File("node")), ("script-shell", Value::Shell)]),
    ("yarnrc-yml", Format::Yaml, &[("yarnpath", Value::File("node")), ("plugins.*", Value::File("node"))]),
    (
        "jj-config",
        Format::Toml,
        &[
            ("ui.editor", Value::Shell),
            ("ui.pager", Value::Shell),
            ("ui.diff.tool", Value::Nothing),
            ("fix.tools.*.command", Value::Shell),
            ("merge-tools.*.program", Value::Shell),
            ("signing.backends.*.program", Value::Shell),
            ("git.executable-path", Value::Shell),
            ("aliases.*", Value::Shell),
        ],
    ),
    (
        "mise",
        Format::Toml,
        &[
            ("hooks.*", Value::Shell),
            ("tasks.*.run", Value::Shell),
            ("tasks.*", Value::Shell),
            ("env._.source", Value::File("sh")),
            ("watch_files.*.run", Value::Shell),
        ],
    ),
    (
        "ssh-config",
        Format::Lines,
        &[
            ("proxycommand", Value::Shell),
            ("localcommand", Value::Shell),
            ("knownhostscommand", Value::Shell),
            ("xauthlocation", Value::Shell),
            ("pkcs11provider", Value::File("")),
            ("securitykeyprovider", Value::File("")),
            ("include", Value::Settings),
        ],
    ),
];

fn files_of(language: &str) -> Option<&'static Files> {
    FILES.iter().find(|(name, ..)| *name == language)
}

/// Returns true if a language is one of these files.
pub(super) fn is_one(language: &str) -> bool {
    files_of(language).is_some()
}

/// Returns the starts of the settings in a text.
pub(super) fn starts(language: &str, text: &str) -> Result<Vec<Starts>, Why> {
    let Some((_, format, settings)) = files_of(language) else { return Ok(Vec::new()) };
    let found = match format {
        Format::Sections => sections(text),
        Format::Lines => text.lines().filter_map(pair).collect(),
        Format::Toml => {
            let table: toml::Table = text.parse().map_err(|_| Why::Syntax)?;
            flat(&serde_json::to_value(table).map_err(|_| Why::Syntax)?)
        }
        Format::Yaml => flat(&yaml::read(text)?),
    };
    let of_one = |(name, value): (String, String)| {
        let name = name.to_ascii_lowercase();
        let (_, how) = settings.iter().find(|(pattern, _)| matches_star(pattern, &name))?;
        of_value(*how, value)
    };
    let mut all: Vec<Starts> = found.into_iter().filter_map(of_one).collect();
    // A template of mise can run a command in any value.
    if language == "mise" && text.contains("exec(") {
        all.push(Starts::Unknown("exec".to_owned()));
    }
    // A condition of SSH that runs a command.
    let asks = |line: &&str| {
        pair(line).is_some_and(|(name, rest)| name.eq_ignore_ascii_case("match") && rest.contains("exec"))
    };
    let asked = text.lines().filter(asks).map(|line| Starts::Unknown(line.trim().to_owned()));
    all.extend(asked.filter(|_| language == "ssh-config"));
    Ok(all)
}

fn of_value(how: Value, value: String) -> Option<Starts> {
    match how {
        Value::Nothing => None,
        Value::Shell => (!value.is_empty()).then_some(Starts::Shell(value)),
        Value::Marked => value.strip_prefix('!').map(|text| Starts::Shell(text.to_owned())),
        Value::Hook if value.starts_with("python:") => Some(Starts::Unknown(value)),
        Value::Hook => (!value.is_empty()).then_some(Starts::Shell(value)),
        Value::File(language) => value.contains(['/', '.']).then_some(Starts::Program(language, value)),
        // Node gets the options as if it was started with them.
        Value::Options => Some(Starts::Shell(format!("node {value} --version"))),
        Value::Settings => Some(Starts::Settings(value)),
    }
}

/// Parses the settings of sections. A line that begins with blanks continues the line before.
fn sections(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut section = String::new();
    for line in text.lines() {
        let known = line.trim();
        if known.is_empty() || known.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = known.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            section = format!("{}.", name.0.trim());
        } else if line.starts_with([' ', '\t'])
            && let Some((_, value)) = found.last_mut()
        {
            value.push_str(&format!("\n{known}"));
        } else if let Some(path) = known.strip_prefix("%include ") {
            found.push(("%include".to_owned(), path.trim().to_owned()));
        } else if let Some((name, value)) = known.split_once('=') {
            found.push((format!("{section}{}", name.trim()), unquoted(value)));
        }
    }
    found
}

/// Parses `name value` or `name=value`.
fn pair(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let (name, value) = line.split_once([' ', '\t', '=']).filter(|_| !line.starts_with('#'))?;
    Some((name.trim_matches('"').to_owned(), unquoted(value.trim_start_matches([' ', '\t', '=']))))
}

fn unquoted(value: &str) -> String {
    let value = value.trim();
    let inner = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
    inner.unwrap_or(value).to_owned()
}

/// Returns the texts of a tree, each with the names on the way to it. A list of texts holds the words of one command.
fn flat(tree: &Json) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open: Vec<(String, &Json)> = vec![(String::new(), tree)];
    while let Some((name, value)) = open.pop() {
        let below = |key: &str| if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
        match value {
            Json::Object(map) => open.extend(map.iter().map(|(key, value)| (below(key), value))),
            Json::Array(all) => {
                let words: Vec<&str> = all.iter().filter_map(Json::as_str).collect();
                if words.len() == all.len() {
                    found.push((name, words.join(" ")));
                } else {
                    open.extend(all.iter().map(|value| (below("item"), value)));
                }
            }
            Json::String(text) => found.push((name, text.clone())),
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_other_programs_start_programs() {
        let check = |language: &str, text: &str, expected: &[Starts]| {
            assert_eq!(starts(language, text).as_deref(), Ok(expected), "{language}: {text}");
        };
        let shell = |text: &str| Starts::Shell(text.to_owned());
        let file = |language, text: &str| Starts::Program(language, text.to_owned());
        check("hgrc", "[hooks]\npre-status = evil\n[ui]\nusername = x\n", &[shell("evil")]);
        check("hgrc", "[alias]\nx = log\ny = !evil\n", &[shell("evil")]);
        check("hgrc", "[extensions]\nrebase =\nx = ./evil.py\n", &[file("python", "./evil.py")]);
        check("hgrc", "[hooks]\na = python:x.py:f\n", &[Starts::Unknown("python:x.py:f".to_owned())]);
        check("hgrc", "%include more\n", &[Starts::Settings("more".to_owned())]);
        check("npmrc", "script-shell=./evil\nregistry=https://h/\n", &[shell("./evil")]);
        check("npmrc", "node-options=\"-r ./x.js\"\n", &[shell("node -r ./x.js --version")]);
        check("npmrc", "save-exact = true\n", &[]);
        check("yarnrc", "yarn-path \".yarn/x.js\"\nlastUpdateCheck 1\n", &[file("node", ".yarn/x.js")]);
        check(
            "yarnrc-yml",
            "yarnPath: .yarn/x.cjs\nnodeLinker: node-modules\n",
            &[file("node", ".yarn/x.cjs")],
        );
        check("yarnrc-yml", "plugins:\n  - path: .yarn/p.cjs\n    spec: x\n", &[file("node", ".yarn/p.cjs")]);
        check("jj-config", "[ui]\npager = [\"evil\", \"-x\"]\n[user]\nname = \"x\"\n", &[shell("evil -x")]);
        check("mise", "[hooks]\nenter = \"evil\"\n[tools]\nnode = \"20\"\n", &[shell("evil")]);
        check("mise", "[env]\nA = \"{{ exec(command='x') }}\"\n", &[Starts::Unknown("exec".to_owned())]);
        check("ssh-config", "Host x\n  ProxyCommand evil %h\n  User y\n", &[shell("evil %h")]);
        check("ssh-config", "Match exec \"evil\"\n", &[Starts::Unknown("Match exec \"evil\"".to_owned())]);
        assert_eq!(starts("jj-config", "[ui"), Err(Why::Syntax));
    }
}
