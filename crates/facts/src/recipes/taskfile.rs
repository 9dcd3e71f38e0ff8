//! Tasks of a `Taskfile.yml`, by Task 3, with the tasks that they name. Task has a shell of its own, which reads bash.

use std::collections::BTreeMap;

use serde_json::Value;

use castellan_event::{Why, matches_star};
use castellan_programs::Arg;

use super::{Script, UNKNOWN, Wanted, quoted};
use crate::limits::TASKS_MAX;
use crate::yaml;

/// Values of variables; `None`: unknown.
type Variables = BTreeMap<String, Option<String>>;

/// Returns the script of a task.
pub(super) fn script(text: &str, wanted: &Wanted<'_>) -> Script {
    let mut script = Script::default();
    let file = match yaml::read(text) {
        Ok(file) => file,
        Err(why) => {
            script.holes.push((why, "Taskfile.yml".to_owned()));
            return script;
        }
    };
    let goal = wanted.name.unwrap_or("default");
    // `NAME=value` is not a task.
    if goal.contains('=') {
        return script;
    }
    let mut own = variables(&file, &["vars", "env"], &mut script);
    own.extend(of_command(wanted.argv));
    let mut todo = vec![(goal.to_owned(), Variables::new())];
    let mut done = Vec::new();
    while let Some(next) = todo.pop() {
        if done.contains(&next) {
            continue;
        }
        if done.len() >= TASKS_MAX {
            script.holes.push((Why::Budget, next.0));
            break;
        }
        match task(&file, &next.0) {
            Some(task) => {
                let mut known = own.clone();
                known.extend(variables(task, &["vars", "env"], &mut script));
                known.extend(next.1.clone());
                add(&file, task, &known, &mut script, &mut todo);
            }
            None => match included(&file, &next.0) {
                Some(task) => script.tasks.push(task),
                None => script.holes.push((Why::File, next.0.clone())),
            },
        }
        done.push(next);
    }
    script
}

/// Returns the variables of `task NAME=value`.
fn of_command(argv: &[Arg]) -> Variables {
    let assigned = argv.iter().skip(1).filter_map(|arg| {
        let (name, value) = arg.prefix().split_once('=').filter(|(name, _)| !name.starts_with('-'))?;
        Some((name.to_owned(), arg.as_str().map(|_| value.to_owned())))
    });
    assigned.collect()
}

fn task<'f>(file: &'f Value, name: &str) -> Option<&'f Value> {
    let tasks = file.get("tasks")?.as_object()?;
    let has_alias = |task: &Value| each(task.get("aliases")).any(|alias| alias.as_str() == Some(name));
    let by_alias = || tasks.values().find(|task| has_alias(task));
    let by_pattern = || tasks.iter().find(|(one, _)| matches_star(one, name)).map(|(_, task)| task);
    tasks.get(name).or_else(by_alias).or_else(by_pattern)
}

/// Returns the file and the name of a task in an included file.
fn included(file: &Value, name: &str) -> Option<(String, String)> {
    let (space, name) = name.split_once(':')?;
    let included = file.get("includes")?.get(space)?;
    let path = included.as_str().or_else(|| included.get("taskfile")?.as_str())?;
    let is_file = [".yml", ".yaml"].iter().any(|end| path.ends_with(end));
    let is_plain = !path.contains("{{") && !path.contains("://");
    let path = if is_file { path.to_owned() } else { format!("{path}/Taskfile.yml") };
    is_plain.then(|| (path, name.to_owned()))
}

/// Returns the values of a list, or the single value in its place.
fn each(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    match value {
        Some(Value::Array(values)) => values.as_slice(),
        Some(value) => std::slice::from_ref(value),
        None => &[],
    }
    .iter()
}

/// Returns the variables under these keys. If a command computes a value, the value is unknown and the command runs.
fn variables(of: &Value, keys: &[&str], script: &mut Script) -> Variables {
    let mut found = Variables::new();
    for (name, value) in keys.iter().filter_map(|key| of.get(key)?.as_object()).flatten() {
        if let Some(code) = value.get("sh").and_then(Value::as_str) {
            script.texts.push(filled(code, &Variables::new()));
        }
        found.insert(name.clone(), value.as_str().filter(|text| !text.contains("{{")).map(str::to_owned));
    }
    found
}

fn add(
    file: &Value,
    task: &Value,
    known: &Variables,
    script: &mut Script,
    todo: &mut Vec<(String, Variables)>,
) {
    let mut before = String::new();
    for environment in [file, task].iter().filter_map(|one| one.get("env")?.as_object()) {
        for name in environment.keys() {
            let value = known.get(name).cloned().flatten();
            let value = value.map_or_else(|| Arg::unknown(Why::Dynamic, "", false), Arg::known);
            before.push_str(&format!("export {name}={}\n", quoted(&value)));
        }
    }
    if let Some(directory) = task.get("dir").and_then(Value::as_str) {
        before.push_str(&format!("cd {}\n", filled(directory, known)));
    }
    let mut text = |code: &str| script.texts.push(format!("{before}{}", filled(code, known)));
    for check in each(task.get("preconditions")).chain(each(task.get("status"))).chain(each(task.get("if"))) {
        if let Some(code) = check.as_str().or_else(|| check.get("sh")?.as_str()) {
            text(code);
        }
    }
    let is_short = !task.is_object();
    let commands = if is_short { Some(task) } else { task.get("cmds").or_else(|| task.get("cmd")) };
    for command in
        each(task.get("deps")).map(|name| (name, true)).chain(each(commands).map(|one| (one, false)))
    {
        let (command, is_name) = command;
        let command = command.get("defer").unwrap_or(command);
        let code = command.as_str().filter(|_| !is_name).or_else(|| command.get("cmd")?.as_str());
        if let Some(code) = code {
            text(code);
        }
        let name = command.as_str().filter(|_| is_name).or_else(|| command.get("task")?.as_str());
        if let Some(name) = name {
            let given = command.get("vars").and_then(Value::as_object).into_iter().flatten();
            let value = |value: &Value| value.as_str().filter(|text| !text.contains("{{")).map(str::to_owned);
            let given = given.map(|(name, one)| (name.clone(), value(one))).collect();
            todo.push((name.trim_start_matches(':').to_owned(), given));
        }
    }
}

/// Replaces `{{.NAME}}` by its value. Other results of a template are unknown.
fn filled(text: &str, known: &Variables) -> String {
    let mut made = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        made.push_str(before);
        let (name, next) = after.split_once("}}").unwrap_or((after, ""));
        let name = name.trim_matches(['-', ' ']).strip_prefix('.');
        match name.and_then(|name| known.get(name)) {
            Some(Some(value)) => made.push_str(value),
            Some(None) | None => made.push_str(&format!("${{{UNKNOWN}}}")),
        }
        rest = next;
    }
    made + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, argv: &[&str], expected: &[&str]) {
        let argv: Vec<Arg> = argv.iter().map(|arg| Arg::known(*arg)).collect();
        let name = argv.get(1).and_then(Arg::as_str);
        let script = script(
            text,
            &Wanted { verb: "run", name, argv: &argv, env: &[], is_shown: false, directory: "/w" },
        );
        let holes = script.holes.iter().map(|(why, text)| format!("hole {why} {text}"));
        let tasks = script.tasks.iter().map(|(file, name)| format!("task {file} {name}"));
        let found: Vec<String> = script.texts.iter().cloned().chain(holes).chain(tasks).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn tasks_and_what_they_name() {
        let tasks = |text: &str| format!("version: '3'\ntasks:\n{text}");
        check(&tasks("  default: echo a\n"), &["task"], &["echo a"]);
        check(&tasks("  a: [echo a, rm b]\n"), &["task", "a"], &["echo a", "rm b"]);
        check(
            &tasks("  a:\n    cmds:\n      - cmd: rm a\n        silent: true\n"),
            &["task", "a"],
            &["rm a"],
        );
        check(&tasks("  a:\n    deps: [b]\n    cmd: rm a\n  b: rm b\n"), &["task", "a"], &["rm a", "rm b"]);
        check(&tasks("  a:\n    cmds:\n      - task: b\n  b: rm b\n"), &["task", "a"], &["rm b"]);
        check(&tasks("  a:\n    cmds:\n      - defer: rm a\n"), &["task", "a"], &["rm a"]);
        check(&tasks("  a:\n    aliases: [x]\n    cmd: rm a\n"), &["task", "x"], &["rm a"]);
        check(&tasks("  a-*: rm a\n"), &["task", "a-b"], &["rm a"]);
        check(&tasks("  a:\n    dir: b\n    cmd: rm a\n"), &["task", "a"], &["cd b\nrm a"]);
        check(&tasks("  a:\n    status: [rm b]\n    cmd: rm a\n"), &["task", "a"], &["rm b", "rm a"]);
        check(&tasks("  a: task b\n"), &["task", "docs:b"], &["hole file docs:b"]);
        let more = "includes: {docs: ./docs, x: {taskfile: x.yml}}\ntasks: {a: [{task: 'x:c'}]}\n";
        check(more, &["task", "docs:b"], &["task ./docs/Taskfile.yml b"]);
        check(more, &["task", "a"], &["task x.yml c"]);
    }

    #[test]
    fn variables_are_put_in_place() {
        let tasks = |text: &str| format!("vars: {{OUT: dist, NOW: {{sh: date}}}}\ntasks:\n{text}");
        let unknown = "rm ${castellan_unknown_value}";
        check(&tasks("  a: rm {{.OUT}}/x\n"), &["task", "a"], &["date", "rm dist/x"]);
        check(&tasks("  a: rm {{.OUT}}/x\n"), &["task", "a", "OUT=/"], &["date", "rm //x"]);
        check(&tasks("  a: rm {{.NOW}}\n"), &["task", "a"], &["date", unknown]);
        check(&tasks("  a: rm {{.CLI_ARGS}}\n"), &["task", "a"], &["date", unknown]);
        let called = "  a:\n    cmds:\n      - {task: b, vars: {OUT: /}}\n  b: rm {{.OUT}}\n";
        check(&tasks(called), &["task", "a"], &["date", "rm /"]);
        let environment = "tasks:\n  a:\n    env: {PATH: /tmp/x}\n    cmd: ls\n";
        check(environment, &["task", "a"], &["export PATH='/tmp/x'\nls"]);
    }

    #[test]
    fn what_is_no_file_of_tasks_is_not_understood() {
        check("tasks: {a: [}", &["task", "a"], &["hole syntax Taskfile.yml"]);
        check("x: &x {cmd: ls}\ntasks: {a: *x}\n", &["task", "a"], &["hole language Taskfile.yml"]);
        let deep = format!("tasks: {}{}", "[".repeat(100), "]".repeat(100));
        check(&deep, &["task", "a"], &["hole budget Taskfile.yml"]);
        let around = "tasks:\n  a:\n    deps: [b]\n  b:\n    deps: [a]\n    cmd: rm b\n";
        check(around, &["task", "a"], &["rm b"]);
    }
}
