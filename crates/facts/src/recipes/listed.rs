//! Tasks in a table of a TOML file, by Poe the Poet 0.31, PDM 2.22, Pipenv 2024, Hatch 1.13 and Rye 0.43: shell text,
//! or further tasks.

use castellan_event::{Why, matches_star};
use castellan_programs::Arg;
use toml::{Table, Value};

use super::{Script, Wanted, quoted};
use crate::limits::TASKS_MAX;

/// The tables of tasks, by the runner.
const TABLES: &[(&str, &[&str])] = &[
    ("hatch", &["tool", "hatch", "envs", "*", "scripts"]),
    ("pdm", &["tool", "pdm", "scripts"]),
    ("pipenv", &["scripts"]),
    ("poe", &["tool", "poe", "tasks"]),
    ("rye", &["tool", "rye", "scripts"]),
];

/// Keys of a task with shell text or lists of it.
const COMMANDS: &[&str] = &["chain", "cmd", "composite", "pre_build", "sequence", "shell"];

/// Keys of a task with names of tasks.
const NAMES: &[&str] = &["deps", "uses", "ref"];

/// Keys of a task with a function of Python.
const FUNCTIONS: &[&str] = &["call", "expr", "script"];

/// Returns the script of a task. A name without a task is a program of the environment, if `runs_programs`.
pub(super) fn script(system: &str, text: &str, wanted: &Wanted<'_>, runs_programs: bool) -> Script {
    let mut script = Script::default();
    let Ok(file) = text.parse::<Table>() else {
        script.holes.push((Why::Syntax, "pyproject.toml".to_owned()));
        return script;
    };
    let mut tables = vec![&file];
    for part in TABLES.iter().find(|(name, _)| *name == system).map_or(&[][..], |(_, path)| path) {
        let mut inner = Vec::new();
        for table in tables {
            let fitting = table.iter().filter(|(key, _)| matches_star(part, key));
            inner.extend(fitting.filter_map(|(_, one)| one.as_table()));
        }
        tables = inner;
    }
    let Some(goal) = wanted.name else { return script };
    // `hatch run ENVIRONMENT:TASK`
    let goal = if system == "hatch" { goal.rsplit(':').next().unwrap_or(goal) } else { goal };
    let mut todo = vec![goal.to_owned()];
    let mut done: Vec<String> = Vec::new();
    while let Some(name) = todo.pop() {
        if done.contains(&name) {
            continue;
        }
        if done.len() >= TASKS_MAX {
            script.holes.push((Why::Budget, name));
            break;
        }
        let found: Vec<&Value> = tables.iter().filter_map(|table| table.get(&name)).collect();
        match found.is_empty() {
            // A list of commands may begin with the name of a task.
            true if name != goal => script.texts.push(name.clone()),
            true if runs_programs => script.texts.push(program(wanted)),
            true => {}
            false => found.into_iter().for_each(|task| add(task, &tables, &mut script, &mut todo)),
        }
        done.push(name);
    }
    script
}

fn add(task: &Value, tables: &[&Table], script: &mut Script, todo: &mut Vec<String>) {
    match task {
        Value::String(text) => {
            let first = text.split_whitespace().next().unwrap_or_default();
            let is_task = tables.iter().any(|table| table.contains_key(first));
            if is_task {
                todo.push(first.to_owned());
            } else {
                script.texts.push(filled(text));
            }
        }
        Value::Array(all) => all.iter().for_each(|one| add(one, tables, script, todo)),
        Value::Table(table) => {
            for (key, value) in table {
                if COMMANDS.contains(&key.as_str()) {
                    add(value, tables, script, todo);
                } else if NAMES.contains(&key.as_str()) {
                    let names = value.as_array().into_iter().flatten().filter_map(Value::as_str);
                    todo.extend(names.map(str::to_owned));
                } else if FUNCTIONS.contains(&key.as_str()) {
                    script.holes.push((Why::Language, value.as_str().unwrap_or_default().to_owned()));
                }
            }
        }
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => {}
    }
}

/// Returns the words after the subcommand as one command.
fn program(wanted: &Wanted<'_>) -> String {
    let words = wanted.argv.iter().skip_while(|arg| arg.as_str() != Some("run")).skip(1);
    let words: Vec<String> = words.map(|word: &Arg| quoted(word)).collect();
    words.join(" ")
}

/// Replaces `{args:default}` by its default, as without arguments.
fn filled(text: &str) -> String {
    let mut made = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{args") {
        let Some((inner, behind)) = after.split_once('}') else { break };
        made.push_str(before);
        made.push_str(inner.trim_start_matches(':'));
        rest = behind;
    }
    made + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_found_by_their_runner() {
        let check = |system: &str, text: &str, words: &[&str], expected: &[&str]| {
            let argv: Vec<Arg> = words.iter().map(|word| Arg::known(*word)).collect();
            let name = words.last().copied();
            let wanted =
                Wanted { verb: "run", name, argv: &argv, env: &[], is_shown: false, directory: "/w" };
            let script = script(system, text, &wanted, system == "hatch");
            let holes = script.holes.iter().map(|(why, text)| format!("hole {why} {text}"));
            assert_eq!(script.texts.iter().cloned().chain(holes).collect::<Vec<_>>(), expected, "{text}");
        };
        let poe = "[tool.poe.tasks]\na = \"x -q\"\nb = [\"a\", {shell = \"y | z\"}]\nc = {cmd = \"x\", deps = [\"a\"]}\nd = {script = \"m:f\"}\n";
        check("poe", poe, &["poe", "a"], &["x -q"]);
        check("poe", poe, &["poe", "b"], &["y | z", "x -q"]);
        check("poe", poe, &["poe", "c"], &["x", "x -q"]);
        check("poe", poe, &["poe", "d"], &["hole language m:f"]);
        check("poe", poe, &["poe", "e"], &[]);
        check(
            "pdm",
            "[tool.pdm.scripts]\na = {composite = [\"b\", \"x\"]}\nb.shell = \"y\"\n",
            &["pdm", "run", "a"],
            &["x", "y"],
        );
        check("pipenv", "[scripts]\na = \"x\"\n", &["pipenv", "run", "a"], &["x"]);
        let hatch = "[tool.hatch.envs.t.scripts]\na = \"pytest {args:tests}\"\n";
        check("hatch", hatch, &["hatch", "run", "t:a"], &["pytest tests"]);
        check("hatch", hatch, &["hatch", "run", "ls"], &["'ls'"]);
        check("poe", "[", &["poe", "a"], &["hole syntax pyproject.toml"]);
    }
}
