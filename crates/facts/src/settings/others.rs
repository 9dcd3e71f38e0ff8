//! Reads settings of programs other than git, each in the format of its file. Must not know which settings there are.

use castellan_event::{Why, matches_star, single_quoted};
use serde_json::Value as Json;

use super::Starts;
use super::table::{FILES, Files, Format, Value};
use crate::language::GIT_HOOK;
use crate::limits::SETTING_NAME_BYTES_MAX;
use crate::{builds, yaml};

/// Returns the file's row, and the name of the part of the file that belongs to the program (`jest#jest`).
fn files_of(language: &str) -> Option<(&'static Files, &str)> {
    let (name, part) = language.split_once('#').unwrap_or((language, ""));
    FILES.iter().find(|(one, ..)| *one == name).map(|files| (files, part))
}

/// Returns true if a language is one of these files.
pub(super) fn is_one(language: &str) -> bool {
    files_of(language).is_some()
}

/// Returns the starts of the settings in a text.
pub(super) fn starts(language: &str, text: &str) -> Result<Vec<Starts>, Why> {
    let Some(((_, format, settings), part)) = files_of(language) else { return Ok(Vec::new()) };
    let found = match format {
        Format::Sections => single(sections(text)),
        Format::Lines => single(text.lines().filter_map(pair)),
        Format::Words => single(text.split_whitespace().filter_map(pair)),
        Format::Items => single(text.lines().filter_map(item)),
        Format::Whole => vec![(String::new(), vec![text.to_owned()])],
        Format::Toml => {
            let table: toml::Table = text.parse().map_err(|_| Why::Syntax)?;
            flat(&serde_json::to_value(table).map_err(|_| Why::Syntax)?)?
        }
        Format::Yaml => flat(&yaml::read(text)?)?,
        Format::Data => flat(&data(text)?)?,
        Format::Code => {
            let is_known = |name: &str| {
                let name = name.to_ascii_lowercase();
                settings.iter().any(|(pattern, _)| matches_star(pattern, &name))
            };
            builds::assigned(text, is_known).ok_or(Why::Budget)?
        }
    };
    let mut all: Vec<Starts> = Vec::new();
    for (written, values) in found {
        let name = written.to_ascii_lowercase();
        let own = match part {
            "" => Some(name.as_str()),
            part if part == name => Some(""),
            part => name.strip_prefix(part).and_then(|rest| rest.strip_prefix('.')),
        };
        let Some(own) = own else { continue };
        if let Some((_, how)) = settings.iter().find(|(pattern, _)| matches_star(pattern, own)) {
            // The name shows what the value is.
            let named = |one| {
                if let Starts::Later(value) = one {
                    Starts::Later(format!("{written}: {value}"))
                } else {
                    one
                }
            };
            all.extend(of_values(*how, &values).into_iter().map(named));
        }
    }
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

fn single(found: impl IntoIterator<Item = (String, String)>) -> Vec<(String, Vec<String>)> {
    found.into_iter().map(|(name, value)| (name, vec![value])).collect()
}

/// Reads JSON, with comments and commas before a close, or YAML.
pub(crate) fn data(text: &str) -> Result<Json, Why> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if !text.starts_with(['{', '[']) {
        return yaml::read(text);
    }
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&plain_json(text))).map_err(|_| Why::Syntax)
}

/// Removes comments, and commas before a close.
fn plain_json(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else {
            0
        };
        if skipped > 0 {
            rest = rest.get(skipped..).unwrap_or_default();
            continue;
        }
        let mut end = first.len_utf8();
        if first == '"' {
            let mut is_escaped = false;
            let close = rest.char_indices().skip(1).find(|(_, one)| {
                let is_end = *one == '"' && !is_escaped;
                is_escaped = *one == '\\' && !is_escaped;
                is_end
            });
            end = close.map_or(rest.len(), |(at, _)| at + 1);
        }
        if matches!(first, '}' | ']') {
            let kept = plain.trim_end().trim_end_matches(',').len();
            plain.truncate(kept);
        }
        plain.push_str(rest.get(..end).unwrap_or_default());
        rest = rest.get(end..).unwrap_or_default();
    }
    plain
}

/// Returns the starts of one setting. The values are the texts of a list, or one text.
fn of_values(how: Value, values: &[String]) -> Vec<Starts> {
    let words = || values.iter().flat_map(|value| value.split_whitespace()).map(str::to_owned);
    match how {
        Value::Each => values.iter().filter_map(|value| of_value(Value::Shell, value.clone())).collect(),
        Value::Words => {
            let quoted: Vec<String> = values.iter().map(|word| single_quoted(word)).collect();
            vec![Starts::Shell(quoted.join(" "))]
        }
        Value::Modules(language) => words().map(|word| Starts::Module(language, word)).collect(),
        Value::Dotted => {
            // The object in a module is no part of its name.
            let name = |word: String| {
                let name = word.rsplit('=').next().unwrap_or(&word).trim_end_matches(',');
                let name = name.split(':').next().unwrap_or_default();
                if name.contains('/') { name.to_owned() } else { name.replace('.', "/") }
            };
            words().map(|word| Starts::Module("python", name(word))).collect()
        }
        Value::Plugins => {
            let all: Vec<String> = words().collect();
            let apart = all
                .iter()
                .zip(all.iter().skip(1))
                .filter(|(one, _)| *one == "-p")
                .map(|(_, next)| next.as_str());
            let attached =
                all.iter().filter_map(|one| one.strip_prefix("-p").filter(|rest| !rest.is_empty()));
            let names = apart.chain(attached).filter(|name| !name.starts_with("no:"));
            names.map(|name| Starts::Module("python", name.replace('.', "/"))).collect()
        }
        Value::Opens(known) => {
            let opens = |value: &&String| known.is_empty() || known.contains(&value.as_str());
            values.iter().find(opens).map(|value| Starts::Later(value.clone())).into_iter().collect()
        }
        Value::OpensProgram | Value::OpensServer => {
            let is_server = matches!(how, Value::OpensServer);
            let strange = values
                .iter()
                .filter(|value| is_own_program(value) || is_server && INTERPRETERS.contains(&value.as_str()));
            strange.map(|value| Starts::Later(value.clone())).collect()
        }
        Value::Fetched(system) => {
            words().filter(|word| is_address(word)).map(|url| Starts::Package(system, url)).collect()
        }
        Value::Hosted(system) => {
            words().map(|name| Starts::Package(system, format!("https://github.com/{name}"))).collect()
        }
        Value::Registry => {
            // Properties of Java escape colons.
            let urls = words().map(|word| word.replace('\\', "")).filter(|word| is_address(word));
            urls.map(Starts::Registry).collect()
        }
        Value::OptionsOf(program) => {
            // `-J-Xmx1g` is an option for the machine of Java.
            let options = words().map(|word| word.strip_prefix("-J").map_or(word.clone(), str::to_owned));
            let options: Vec<String> = options.collect();
            vec![Starts::Shell(format!("{program} {}", options.join(" ")))]
        }
        Value::MsBuild => words().filter(|word| !is_plain_option(word)).map(Starts::Unknown).collect(),
        Value::Text(language) => vec![Starts::Text(language, values.join("\n"))],
        Value::Shell
        | Value::Marked
        | Value::Hook
        | Value::File(_)
        | Value::Options
        | Value::Below(_)
        | Value::Settings
        | Value::Unknown
        | Value::Nothing => of_value(how, values.join(" ")).into_iter().collect(),
    }
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
        Value::Options => Some(Starts::Shell(format!("node {value} --eval ''"))),
        Value::Below(program) => Some(Starts::Module(GIT_HOOK, format!("{value}/{program}"))),
        Value::Settings => Some(Starts::Settings(value)),
        Value::Unknown => Some(Starts::Unknown(value)),
        Value::Each
        | Value::Words
        | Value::Modules(_)
        | Value::Dotted
        | Value::Plugins
        | Value::Fetched(_)
        | Value::Hosted(_)
        | Value::Registry
        | Value::OptionsOf(_)
        | Value::MsBuild
        | Value::Text(_)
        | Value::Opens(_)
        | Value::OpensProgram
        | Value::OpensServer => None,
    }
}

/// Options of `MSBuild` that name no code.
const PLAIN_OPTIONS: &[&str] = &[
    "bl",
    "clp",
    "consoleloggerparameters",
    "low",
    "lowpriority",
    "m",
    "maxcpucount",
    "nodereuse",
    "nologo",
    "nr",
    "p",
    "property",
    "restore",
    "tl",
    "v",
    "verbosity",
    "warnaserror",
    "warnasmessage",
];

/// Returns true for an option of `MSBuild` that names no file with code.
fn is_plain_option(word: &str) -> bool {
    let Some(option) = word.strip_prefix("--").or_else(|| word.strip_prefix(['-', '/'])) else {
        return false;
    };
    let (name, value) = option.split_once(':').unwrap_or((option, ""));
    let has_ending = value.rsplit_once('.').is_some_and(|(_, end)| end.starts_with(char::is_alphabetic));
    PLAIN_OPTIONS.contains(&name.to_ascii_lowercase().as_str())
        && !value.contains(['/', '\\', '$', '@'])
        && !has_ending
}

/// Returns true for the address of a package outside of a registry.
fn is_address(word: &str) -> bool {
    const HOSTED: &[&str] = &["bitbucket:", "gist:", "git@", "github:", "gitlab:"];
    word.contains("://") && !word.starts_with("file:") || HOSTED.iter().any(|begin| word.starts_with(begin))
}

/// Directories in which package managers install programs for a project.
const INSTALLED: &[&str] = &["/.venv/", "/venv/", "/node_modules/", "/vendor/", "/.yarn/sdks/"];

const INTERPRETERS: &[&str] =
    &["bash", "cmd", "curl", "node", "perl", "powershell", "pwsh", "python", "python3", "ruby", "sh", "wget"];

/// Returns true for a program that is one of the project's own files, or that any user may replace.
fn is_own_program(name: &str) -> bool {
    const BEGINS: &[&str] = &[".", "${workspace", "/tmp/", "/var/tmp/", "/dev/shm/"];
    let is_installed = INSTALLED.iter().any(|part| format!("/{name}").contains(part));
    name.contains('/') && BEGINS.iter().any(|begin| name.starts_with(begin)) && !is_installed
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

/// Parses an item: the name and its value, or one word for both.
fn item(line: &str) -> Option<(String, String)> {
    let line = line.split(" #").next().unwrap_or(line).trim();
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let option = pair(line).filter(|_| line.starts_with('-'));
    Some(option.unwrap_or_else(|| (line.to_owned(), line.to_owned())))
}

fn unquoted(value: &str) -> String {
    let value = value.trim();
    let inner = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
    inner.unwrap_or(value).to_owned()
}

/// Returns the texts of a tree, each with the names on the way to it, or the texts of a list.
fn flat(tree: &Json) -> Result<Vec<(String, Vec<String>)>, Why> {
    let mut found = Vec::new();
    let mut open: Vec<(String, &Json)> = vec![(String::new(), tree)];
    while let Some((name, value)) = open.pop() {
        if name.len() > SETTING_NAME_BYTES_MAX {
            return Err(Why::Budget);
        }
        let below = |key: &str| if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
        match value {
            Json::Object(map) => open.extend(map.iter().map(|(key, value)| (below(key), value))),
            Json::Array(all) => {
                let texts: Vec<String> = all.iter().filter_map(Json::as_str).map(str::to_owned).collect();
                if texts.len() == all.len() {
                    found.push((name, texts));
                } else {
                    open.extend(all.iter().map(|value| (below("item"), value)));
                }
            }
            Json::String(text) => found.push((name, vec![text.clone()])),
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
    Ok(found)
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
        check("npmrc", "node-options=\"-r ./x.js\"\n", &[shell("node -r ./x.js --eval ''")]);
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
        let later = |text: &str| Starts::Later(text.to_owned());
        check(
            "editor-tasks",
            "{// a\n\"tasks\": [{\"runOptions\": {\"runOn\": \"folderOpen\"},},]}",
            &[later("runOn: folderOpen")],
        );
        check("editor-tasks", "{\"tasks\": [{\"command\": \"x\"}]}", &[]);
        check("editor", "{\"git.path\": \"./x\", \"a.path\": \"/usr/bin/a\"}", &[later("git.path: ./x")]);
        check("editor", "{\"python.defaultInterpreterPath\": \"./.venv/bin/python\"}", &[]);
        check("devcontainer", "{\"initializeCommand\": \"x\"}", &[later("initializeCommand: x")]);
        let module = |name: &str| Starts::Module("node", name.to_owned());
        check("mocha", "require: [./a, b]\n", &[module("./a"), module("b")]);
        check("mocha#mocha", "{\"mocha\": {\"require\": \"./a\"}, \"require\": \"./b\"}", &[module("./a")]);
        check("jest-code", "export default { setupFiles: ['./a'], x: 'y' };", &[module("./a")]);
        check(
            "pytest",
            "[pytest]\naddopts = -q -p a.b -p no:x\n",
            &[Starts::Module("python", "a/b".to_owned())],
        );
        assert_eq!(starts("jj-config", "[ui"), Err(Why::Syntax));
    }
}
