//! Scripts of a `composer.json`, by Composer 2: shell text, other scripts, PHP functions.

use serde_json::Value;

use castellan_event::Why;

use super::{Script, Wanted};
use crate::limits::TASKS_MAX;
use crate::memo;

/// Scripts that Composer runs for its own commands.
const EVENTS: &[(&str, &[&str])] = &[
    ("dump-autoload", &["pre-autoload-dump", "post-autoload-dump"]),
    ("install", &["pre-install-cmd", "pre-autoload-dump", "post-autoload-dump", "post-install-cmd"]),
    ("update", &["pre-update-cmd", "pre-autoload-dump", "post-autoload-dump", "post-update-cmd"]),
];

/// Returns the requested script, with those that it names.
pub(super) fn script(text: &str, wanted: &Wanted<'_>) -> Script {
    let mut script = Script::default();
    let Some(manifest) = memo::json(text) else {
        script.holes.push((Why::Syntax, "composer.json".to_owned()));
        return script;
    };
    let event = EVENTS.iter().find(|(verb, _)| *verb == wanted.verb && wanted.name.is_none());
    let mut todo: Vec<&str> = match event {
        Some((_, names)) => names.iter().rev().copied().collect(),
        None => wanted.name.into_iter().collect(),
    };
    let mut done: Vec<&str> = Vec::new();
    while let Some(name) = todo.pop() {
        if done.contains(&name) {
            continue;
        }
        if done.len() >= TASKS_MAX {
            script.holes.push((Why::Budget, name.to_owned()));
            break;
        }
        done.push(name);
        let lines = match manifest.get("scripts").and_then(|scripts| scripts.get(name)) {
            Some(Value::Array(lines)) => lines.as_slice(),
            Some(line) => std::slice::from_ref(line),
            None => {
                // A command of a plug-in, an alias of a command of Composer, or nothing.
                if Some(name) == wanted.name {
                    script.holes.push((Why::Unsupported, name.to_owned()));
                }
                continue;
            }
        };
        for line in lines.iter().filter_map(Value::as_str) {
            if let Some(next) = add(line, &mut script) {
                todo.push(next);
            }
        }
    }
    script
}

/// Adds one line; returns the script that it names.
fn add<'l>(line: &'l str, script: &mut Script) -> Option<&'l str> {
    let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
    match first.strip_prefix('@') {
        Some(program @ ("php" | "composer")) => script.texts.push(format!("{program} {rest}")),
        Some("putenv") => script.texts.push(format!("export {rest}")),
        Some(name) => return Some(name),
        None if rest.is_empty() && first.contains("::") => {
            script.holes.push((Why::Language, line.to_owned()))
        }
        None => script.texts.push(line.to_owned()),
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(scripts: &str, (verb, name): (&str, Option<&str>), expected: &[&str]) {
        let text = format!(r#"{{"scripts": {scripts}}}"#);
        let script =
            script(&text, &Wanted { verb, name, argv: &[], env: &[], is_shown: false, directory: "/w" });
        let holes = script.holes.iter().map(|(why, text)| format!("hole {why} {text}"));
        let found: Vec<String> = script.texts.iter().cloned().chain(holes).collect();
        assert_eq!(found, expected, "{scripts}");
    }

    #[test]
    fn scripts_and_what_they_name() {
        let run = |name| ("run", Some(name));
        check(r#"{"a": "rm x"}"#, run("a"), &["rm x"]);
        check(r#"{"a": ["@b", "rm x"], "b": "rm y"}"#, run("a"), &["rm x", "rm y"]);
        check(
            r#"{"a": ["@php x.php --y", "@composer install"]}"#,
            run("a"),
            &["php x.php --y", "composer install"],
        );
        check(r#"{"a": "@putenv PATH=/tmp/x"}"#, run("a"), &["export PATH=/tmp/x"]);
        check(r#"{"a": "X\\Y::run"}"#, run("a"), &["hole language X\\Y::run"]);
        check(r#"{"a": "@a"}"#, run("a"), &[]);
        check(r#"{"a": "@b"}"#, run("a"), &[]);
        check(r#"{"a": "rm x"}"#, run("inst"), &["hole unsupported inst"]);
        check(r#"["#, run("a"), &["hole syntax composer.json"]);
    }

    #[test]
    fn what_runs_when_packages_are_installed() {
        let scripts =
            r#"{"post-install-cmd": "rm i", "post-update-cmd": "rm u", "post-autoload-dump": "rm a"}"#;
        check(scripts, ("install", None), &["rm a", "rm i"]);
        check(scripts, ("update", None), &["rm a", "rm u"]);
        check(scripts, ("dump-autoload", None), &["rm a"]);
    }
}
