//! Tasks of a `deno.json`, by Deno 2, and scripts of a `package.json` as Deno runs them.

use serde_json::Value;

use castellan_event::Why;

use super::{Script, Wanted, quoted};
use crate::limits::TASKS_MAX;
use crate::memo;

/// Returns the requested task, with its dependencies.
pub(super) fn script(text: &str, wanted: &Wanted<'_>) -> Script {
    let mut script = Script::default();
    let Some(goal) = wanted.name else { return script };
    let Some(file) = memo::json(text) else {
        // Deno allows comments in this file.
        script.holes.push((Why::Syntax, "deno.json".to_owned()));
        return script;
    };
    let tasks = file.get("tasks").or_else(|| file.get("scripts"));
    let mut todo = vec![goal];
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
        let Some(task) = tasks.and_then(|tasks| tasks.get(name)) else {
            // It may be in the package.json beside it, or be a pattern.
            script.holes.push((Why::File, name.to_owned()));
            continue;
        };
        let needs = task.get("dependencies").and_then(Value::as_array).into_iter().flatten();
        todo.extend(needs.filter_map(Value::as_str));
        if let Some(text) = task.as_str().or_else(|| task.get("command")?.as_str()) {
            let more = if name == goal { further(wanted, goal) } else { String::new() };
            script.texts.push(format!("{text}{more}"));
        }
    }
    script
}

/// Returns the words after the task's name.
fn further(wanted: &Wanted<'_>, goal: &str) -> String {
    let rest = wanted.argv.iter().skip_while(|arg| arg.as_str() != Some(goal)).skip(1);
    rest.map(|arg| format!(" {}", quoted(arg))).collect()
}

#[cfg(test)]
mod tests {
    use castellan_programs::Arg;

    use super::*;

    fn check(text: &str, argv: &[&str], expected: &[&str]) {
        let argv: Vec<Arg> = argv.iter().map(|arg| Arg::known(*arg)).collect();
        let name = argv.get(2).and_then(Arg::as_str);
        let script = script(
            text,
            &Wanted { verb: "run", name, argv: &argv, env: &[], is_shown: false, directory: "/w" },
        );
        let holes = script.holes.iter().map(|(why, text)| format!("hole {why} {text}"));
        let found: Vec<String> = script.texts.iter().cloned().chain(holes).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn tasks_and_what_they_depend_on() {
        check(r#"{"tasks": {"a": "rm x"}}"#, &["deno", "task", "a"], &["rm x"]);
        check(r#"{"tasks": {"a": "rm"}}"#, &["deno", "task", "a", "-rf", "/"], &["rm '-rf' '/'"]);
        let needs = r#"{"tasks": {"a": {"command": "rm x", "dependencies": ["b"]}, "b": "rm y"}}"#;
        check(needs, &["deno", "task", "a"], &["rm x", "rm y"]);
        check(r#"{"scripts": {"a": "rm x"}}"#, &["deno", "task", "a"], &["rm x"]);
        check(r#"{"tasks": {}}"#, &["deno", "task", "a"], &["hole file a"]);
        check("{/* */}", &["deno", "task", "a"], &["hole syntax deno.json"]);
    }
}
