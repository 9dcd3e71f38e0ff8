//! Shell commands in tool files that also hold other data. Must not know what the commands do.

use castellan_event::{Why, single_quoted};
use toml::Value;

use crate::language::{CARGO, GENERATED, ROBOT, SHELL_TESTS, TOX};

/// Returns true if a language is one of these files.
pub(super) fn is_one(language: &str) -> bool {
    matches!(language, GENERATED | TOX | CARGO | ROBOT | SHELL_TESTS)
}

/// Returns the commands in a text of such a language, as shell text.
pub(super) fn shell(language: &str, text: &str) -> Result<String, Why> {
    match language {
        TOX => Ok(of_tox(text)),
        CARGO => of_cargo(text),
        ROBOT => Ok(of_robot(text)),
        SHELL_TESTS => Ok(of_tests(text)),
        _ => Ok(generated(text)),
    }
}

fn generated(text: &str) -> String {
    let commands = text.lines().filter_map(|line| line.strip_prefix("//go:generate"));
    lines(commands.filter(|line| line.starts_with([' ', '\t'])).map(str::to_owned))
}

/// Returns the commands of tox environments, including those before and after `commands`, one a line.
fn of_tox(text: &str) -> String {
    let mut is_commands = false;
    let mut found = Vec::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
        let mut rest = line;
        if !line.starts_with([' ', '\t']) && !line.is_empty() {
            let (key, value) = line.split_once('=').unwrap_or((line, ""));
            is_commands = matches!(key.trim(), "commands" | "commands_pre" | "commands_post");
            rest = value;
        }
        // These prefixes change how tox handles a failure.
        let command = rest.trim().trim_start_matches(['-', '!']).trim_start();
        // Names of environments before a command limit it to them.
        let command =
            command.split_once(": ").filter(|(names, _)| is_factor(names)).map_or(command, |(_, it)| it);
        // Commands of another section are read there.
        let is_other = command.starts_with("{[") && command.ends_with('}') && !command.contains(' ');
        if is_commands && !command.is_empty() && !is_other {
            found.push(substituted(command));
        }
    }
    lines(found.into_iter())
}

fn is_factor(names: &str) -> bool {
    names.chars().all(|c| c.is_ascii_alphanumeric() || "-_.,!{}".contains(c))
}

/// Replaces words in braces as tox does.
fn substituted(command: &str) -> String {
    let mut text = String::new();
    let mut rest = command;
    while let Some((before, behind)) = rest.split_once('{') {
        let Some((name, after)) = behind.split_once('}') else { break };
        text.push_str(before);
        rest = after;
        let parts: Vec<&str> = name.splitn(3, ':').collect();
        match parts.as_slice() {
            ["posargs", default, more @ ..] => {
                text.push_str(default);
                more.iter().for_each(|one| text.extend([":", one]));
            }
            ["posargs"] => {}
            ["toxinidir" | "tox_root" | "changedir"] => text.push('.'),
            ["envpython" | "env_python"] => text.push_str("python"),
            ["envbindir" | "env_bin_dir"] => text.push_str(".tox/bin"),
            ["envdir" | "envtmpdir" | "env_tmp_dir" | "toxworkdir" | "work_dir" | "env_dir"] => {
                text.push_str(".tox")
            }
            ["/"] => text.push('/'),
            ["env", variable, default] => text.extend(["${", variable, ":-", default, "}"]),
            ["env", variable] => text.extend(["${", variable, "}"]),
            // A value of another section, or a property of the terminal.
            _ => text.push_str("$tox"),
        }
    }
    text + rest
}

/// Keywords of Robot Framework 7 with shell text, and with the words of a command.
const SHELL_KEYWORDS: &[&str] =
    &["run", "run and return rc", "run and return rc and output", "start command", "execute command"];
const WORD_KEYWORDS: &[&str] = &["run process", "start process"];

/// Returns the commands of the keywords that start programs.
fn of_robot(text: &str) -> String {
    let command = |line: &str| {
        // Two blanks or a tab separate the cells of a line.
        let cells = line.split("  ").flat_map(|part| part.split('\t')).map(str::trim);
        let mut cells = cells.filter(|cell| !cell.is_empty() && !cell.starts_with("${")).map(str::to_owned);
        let keyword = cells.next()?.to_lowercase();
        let keyword = keyword.rsplit_once('.').map_or(keyword.as_str(), |(_, own)| own);
        if SHELL_KEYWORDS.contains(&keyword) {
            return cells.next();
        }
        let words: Vec<String> = cells.map(|cell| single_quoted(&cell)).collect();
        WORD_KEYWORDS.contains(&keyword).then(|| words.join(" "))
    };
    lines(text.lines().filter_map(command))
}

/// Returns the text of tests in a shell, with the bodies of its functions and tests as commands: the tool runs them.
fn of_tests(text: &str) -> String {
    let body = |line: &str| {
        let bare = line.trim_start();
        let is_test = bare.starts_with("@test ");
        let function = bare.split_once('{').map(|(head, _)| head.trim());
        let is_function = function.is_some_and(|head| head.ends_with("()") || head.starts_with("function "));
        let rest = bare.split_once('{').filter(|_| is_test || is_function).map(|(_, rest)| rest);
        rest.map_or_else(|| line.to_owned(), |rest| format!("{{ {rest}"))
    };
    lines(text.lines().map(body))
}

/// Programs that Cargo starts instead of its own, or to run its output.
const PROGRAMS: &[&str] = &[
    "linker",
    "runner",
    "rustc",
    "rustc-workspace-wrapper",
    "rustc-wrapper",
    "rustdoc",
    "credential-provider",
];

fn of_cargo(text: &str) -> Result<String, Why> {
    let file: toml::Table = text.parse().map_err(|_| Why::Syntax)?;
    let mut found = Vec::new();
    // Tables of targets and profiles nest at most three deep.
    let mut open: Vec<(&toml::Table, usize)> = vec![(&file, 0)];
    while let Some((table, depth)) = open.pop() {
        for (key, value) in table {
            if let Some(inner) = value.as_table().filter(|_| depth < 3) {
                open.push((inner, depth + 1));
            }
            if PROGRAMS.contains(&key.as_str()) {
                found.extend(words(value));
            } else if key.ends_with("flags") {
                // `-C linker=x`
                let flags = words(value).map(|flags| flags.replace('\'', ""));
                found.extend(flags.filter(|flags| flags.contains("linker=")).map(with_flags));
            }
        }
    }
    for (name, value) in table_of(&file, "env") {
        let value = value.get("value").unwrap_or(value).as_str();
        found.extend(value.map(|value| format!("{name}={} rustc --version", single_quoted(value))));
    }
    // Other aliases are the commands that they name, with the settings that all of them have.
    let aliases = table_of(&file, "alias").filter_map(|(_, value)| words(value));
    found.extend(aliases.filter(|alias| alias.contains("--config")).map(|alias| format!("cargo {alias}")));
    for (kind, key) in [("source", "registry"), ("registries", "index")] {
        let urls = table_of(&file, kind).filter_map(|(_, one)| one.get(key)?.as_str());
        let setting = |url| format!("CARGO_SOURCE_REGISTRY={} rustc --version", single_quoted(url));
        found.extend(urls.map(setting));
    }
    Ok(lines(found.into_iter()))
}

fn with_flags(flags: String) -> String {
    format!("RUSTFLAGS={} rustc --version", single_quoted(&flags))
}

/// Returns the words of a value as shell text: a text, or a list of words.
fn words(value: &Value) -> Option<String> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    let list: Vec<String> = list.iter().filter_map(Value::as_str).map(single_quoted).collect();
    value.as_str().map(str::to_owned).or_else(|| (!list.is_empty()).then(|| list.join(" ")))
}

fn table_of<'v>(file: &'v toml::Table, name: &str) -> impl Iterator<Item = (&'v String, &'v Value)> {
    file.get(name).and_then(Value::as_table).into_iter().flatten()
}

fn lines(commands: impl Iterator<Item = String>) -> String {
    commands.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_among_other_things() {
        let check = |language: &str, text: &str, expected: &str| {
            assert_eq!(shell(language, text).as_deref(), Ok(expected), "{text}");
        };
        check(
            GENERATED,
            "//go:generate stringer -type=T\n// go:generate no\n//go:generated\n",
            " stringer -type=T",
        );
        check(TOX, "[testenv]\ndeps = pytest\ncommands = pytest {posargs:tests -q}\n", "pytest tests -q");
        check(
            TOX,
            "[testenv]\ncommands =\n    - rm -rf {toxinidir}/out\n    # no\n    lint: {envpython} x.py {posargs}\n",
            "rm -rf ./out\npython x.py ",
        );
        check(TOX, "[testenv]\ndeps =\n  x\ncommands_pre=a {env:B:c}\nsetenv =\n  D = e\n", "a ${B:-c}");
        check(TOX, "[testenv]\ncommands =\n  {[base]commands}\n  a {[base]b}\n", "a $tox");
        check(CARGO, "[build]\njobs = 2\nrustc-wrapper = \"sccache\"\n", "sccache");
        check(
            CARGO,
            "[target.x86_64-unknown-linux-gnu]\nrunner = [\"sudo\", \"-E\"]\nrustflags = [\"-C\"]\n",
            "'sudo' '-E'",
        );
        check(CARGO, "[alias]\nx = \"run\"\n", "");
        assert_eq!(shell(CARGO, "[build"), Err(Why::Syntax));
    }
}
