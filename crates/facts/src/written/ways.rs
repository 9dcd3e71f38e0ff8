//! The commands that run a file with code, by its first line, its name or as a task. This module must not know the
//! effects.

use castellan_event::Why;
use castellan_programs::{Arg, Style, find};
use castellan_shell::interpreter;
use serde_json::Value as Json;

use crate::language;
use crate::limits::WRITTEN_TASKS_MAX;
use castellan_programs::base_name;

/// A command that runs a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) argv: Vec<Arg>,
    /// The directory for the command, if not the call's.
    pub(super) cwd: Option<String>,
}

/// File extensions, with the command that people use to run such files.
const BY_ENDING: &[(&str, &[&str])] = &[
    ("applescript", &["osascript"]),
    ("awk", &["awk", "-f"]),
    ("bash", &["bash"]),
    ("bat", &["cmd", "/c"]),
    ("cjs", &["node"]),
    ("cmd", &["cmd", "/c"]),
    ("command", &["bash"]),
    ("cts", &["tsx"]),
    ("dash", &["dash"]),
    ("js", &["node"]),
    ("jsx", &["tsx"]),
    ("ksh", &["ksh"]),
    ("lua", &["lua"]),
    ("mjs", &["node"]),
    ("mts", &["tsx"]),
    ("php", &["php"]),
    ("phtml", &["php"]),
    ("pl", &["perl"]),
    ("pm", &["perl"]),
    ("ps1", &["pwsh", "-File"]),
    ("psm1", &["pwsh", "-File"]),
    ("py", &["python3"]),
    ("rb", &["ruby"]),
    ("scpt", &["osascript"]),
    ("sh", &["bash"]),
    ("sql", &["psql", "-f"]),
    ("sql", &["sqlite3", "-init"]),
    ("ts", &["tsx"]),
    ("tsx", &["tsx"]),
    ("vim", &["vim", "-S"]),
    ("zsh", &["zsh"]),
];

/// Files of a project that programs read when they open it, by the ends of their paths, with a command that opens it.
const OPENED: &[(&str, &[&str])] = &[
    (".devcontainer.json", &["devcontainer", "up"]),
    (".devcontainer/devcontainer.json", &["devcontainer", "up"]),
    (".helix/languages.toml", &["hx", "."]),
    (".vscode/launch.json", &["code", "."]),
    (".vscode/settings.json", &["code", "."]),
    (".vscode/tasks.json", &["code", "."]),
    ("binding.gyp", &["node-gyp", "configure"]),
    (".zed/settings.json", &["zed", "."]),
    (".zed/tasks.json", &["zed", "."]),
];

/// A command that runs one task of a file, and a function for the tasks of a text. `None` is the default task.
type Runner = (&'static [&'static str], fn(&str) -> Vec<Option<String>>);

/// Files that tools load as code, with a command that reads the same language.
const LOADED: &[(&str, &[&str])] = &[
    (".envrc", &["bash"]),
    ("Brewfile", &["ruby"]),
    ("Capfile", &["ruby"]),
    ("Dangerfile", &["ruby"]),
    ("Fastfile", &["ruby"]),
    ("Gemfile", &["ruby"]),
    ("Guardfile", &["ruby"]),
    ("PKGBUILD", &["bash"]),
    ("Podfile", &["ruby"]),
    ("Rakefile", &["ruby"]),
    ("SConstruct", &["python3"]),
    ("Vagrantfile", &["ruby"]),
    ("wscript", &["python3"]),
];

/// Files of task runners.
const BY_NAME: &[(&str, Runner)] = &[
    (".justfile", JUST),
    ("GNUmakefile", MAKE),
    ("Justfile", JUST),
    ("Makefile", MAKE),
    ("Taskfile.dist.yaml", TASK),
    ("Taskfile.dist.yml", TASK),
    ("Taskfile.yaml", TASK),
    ("Taskfile.yml", TASK),
    ("composer.json", (&["composer", "run-script"], scripts)),
    ("deno.json", (&["deno", "task"], deno_tasks)),
    ("deno.jsonc", (&["deno", "task"], deno_tasks)),
    ("justfile", JUST),
    ("makefile", MAKE),
    ("package.json", (&["npm", "run"], scripts)),
    ("taskfile.dist.yaml", TASK),
    ("taskfile.dist.yml", TASK),
    ("taskfile.yaml", TASK),
    ("taskfile.yml", TASK),
];

const JUST: Runner = (&["just"], targets);
const MAKE: Runner = (&["make"], targets);
const TASK: Runner = (&["task"], taskfile);

/// True if the name means a file with code.
pub(super) fn is_named(path: &str) -> bool {
    by_name(path).next().is_some() || runner(path).is_some() || opened(path).is_some()
}

/// The way to open the project of such a file.
fn opened(path: &str) -> Option<Way> {
    let (directory, words) =
        OPENED.iter().find_map(|(end, words)| Some((path.strip_suffix(end)?.strip_suffix('/')?, words)))?;
    let directory = if directory.is_empty() { "/" } else { directory };
    Some(Way { argv: words.iter().copied().map(Arg::known).collect(), cwd: Some(directory.to_owned()) })
}

/// True if the file may hold code: a file without an extension may begin with the name of an interpreter.
pub(super) fn may_be(path: &str) -> bool {
    is_named(path) || !base_name(path).contains('.')
}

/// The ways to run a file; empty if the file is not code. A file that is code in two languages runs as both.
pub(super) fn ways_to_run(path: &str, text: Option<&str>, is_executable: bool) -> Vec<Way> {
    if let Some(runner) = runner(path) {
        return tasks(path, runner, text.unwrap_or_default());
    }
    if let Some(way) = opened(path) {
        return vec![way];
    }
    let first: Option<Vec<&str>> = text.and_then(interpreter).filter(|words| !words.is_empty());
    let named = by_name(path).map(<[&str]>::to_vec);
    let named = named.filter(|named| first.as_ref().is_none_or(|first| !is_same(first, named)));
    let named: Vec<Vec<&str>> = named.collect();
    let mut ways: Vec<Vec<&str>> = first.into_iter().chain(named).collect();
    if ways.is_empty() && is_executable && text.is_some() {
        ways.push(vec!["sh"]);
    }
    let way = |words: Vec<&str>| {
        let file = [Arg::known(path), Arg::unknown(Why::Parameter, "$@", true)];
        Way { argv: words.into_iter().map(Arg::known).chain(file).collect(), cwd: None }
    };
    ways.into_iter().map(way).collect()
}

/// The commands for a name: by the whole name, and by the extension.
fn by_name(path: &str) -> impl Iterator<Item = &'static [&'static str]> {
    let name = base_name(path);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending).unwrap_or_default();
    let loaded = LOADED.iter().filter(move |(one, _)| *one == name);
    let ended = BY_ENDING.iter().filter(move |(one, _)| *one == ending);
    loaded.chain(ended).map(|(_, words)| *words)
}

fn runner(path: &str) -> Option<Runner> {
    BY_NAME.iter().find(|(name, _)| *name == base_name(path)).map(|(_, runner)| *runner)
}

/// True if two interpreters read the same language.
fn is_same(first: &[&str], other: &[&str]) -> bool {
    let language = |words: &[&str]| {
        let name = base_name(words.first()?);
        let is_shell = find(name).is_some_and(|program| program.style == Style::Shell);
        if is_shell { Some("shell") } else { language::of_files(name) }
    };
    language(first).is_some_and(|language_of_first| language(other) == Some(language_of_first))
}

/// All tasks of a file, up to one more than the limit.
fn tasks(path: &str, (words, names): Runner, text: &str) -> Vec<Way> {
    let (directory, _) = path.rsplit_once('/').unwrap_or_default();
    let directory = if directory.is_empty() { "/" } else { directory };
    let names = names(text).into_iter().map(|name| name.map(Arg::known));
    let way = |name: Option<Arg>| Way {
        argv: words.iter().map(|word| Arg::known(*word)).chain(name).collect(),
        cwd: Some(directory.to_owned()),
    };
    names.take(WRITTEN_TASKS_MAX + 1).map(way).collect()
}

/// The script names of a `package.json` or `composer.json`.
fn scripts(text: &str) -> Vec<Option<String>> {
    names_in("scripts", text)
}

/// The task names of a `deno.json`. If the file does not parse (it may have comments), the default task is used.
fn deno_tasks(text: &str) -> Vec<Option<String>> {
    let is_read = serde_json::from_str::<Json>(text).is_ok();
    if is_read { names_in("tasks", text) } else { vec![Some("default".to_owned())] }
}

fn names_in(key: &str, text: &str) -> Vec<Option<String>> {
    let json: Json = serde_json::from_str(text).unwrap_or_default();
    let tasks = json.get(key).and_then(Json::as_object);
    tasks.into_iter().flat_map(|tasks| tasks.keys().cloned().map(Some)).collect()
}

/// The task names of a Taskfile, and its default task: the keys at the first depth below `tasks:`.
fn taskfile(text: &str) -> Vec<Option<String>> {
    let mut names = vec![None];
    let below = text.lines().skip_while(|line| !line.starts_with("tasks:")).skip(1);
    let mut depth = None;
    for line in below.take_while(|line| line.is_empty() || line.starts_with([' ', '#'])) {
        let key = line.trim_start();
        let indent = line.len() - key.len();
        if key.is_empty() || key.starts_with('#') || *depth.get_or_insert(indent) != indent {
            continue;
        }
        let name = key.split_once(": ").map_or(key.trim_end(), |(name, _)| name);
        let name = name.trim_end_matches(':').trim_matches(['"', '\'']);
        names.push(Some(name.to_owned()));
    }
    names
}

/// The default target, and the names of rules and recipes, without special targets and patterns.
fn targets(text: &str) -> Vec<Option<String>> {
    let mut names = vec![None];
    for line in text.lines() {
        let Some((head, rest)) = line.split_once(':').filter(|_| !line.starts_with([' ', '\t', '#'])) else {
            continue;
        };
        if rest.starts_with('=') || head.contains('=') {
            continue;
        }
        let is_plain = |word: &&str| {
            word.chars().all(|one| one.is_alphanumeric() || "_-/.@".contains(one)) && !word.starts_with('.')
        };
        // The further words of a `just` recipe are parameters. As names these are harmless: no file has a rule for
        // them.
        for word in head.split_whitespace().map(|word| word.trim_start_matches('@')).filter(is_plain) {
            if !word.is_empty() && !names.iter().flatten().any(|name| name == word) {
                names.push(Some(word.to_owned()));
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: Option<&str>, is_executable: bool, expected: &[&str]) {
        let ways = ways_to_run(path, text, is_executable);
        let shown: Vec<String> = ways
            .iter()
            .map(|way| way.argv.iter().map(|arg| arg.written().into_owned()).collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(shown, expected, "{path} {text:?}");
    }

    #[test]
    fn a_file_is_run_by_its_first_line_and_its_name() {
        check("/w/x.sh", Some("ls"), false, &["bash /w/x.sh $@"]);
        check("/w/x.sh", Some("#!/bin/sh -e\nls"), false, &["/bin/sh -e /w/x.sh $@"]);
        check("/w/x.py", Some("#!/usr/bin/env python\n"), false, &["python /w/x.py $@"]);
        check("/w/x.py", Some("#!/bin/sh\n"), false, &["/bin/sh /w/x.py $@", "python3 /w/x.py $@"]);
        check("/w/x", Some("#!/usr/bin/env node\n"), false, &["node /w/x $@"]);
        check("/w/x", Some("ls"), false, &[]);
        check("/w/x", Some("ls"), true, &["sh /w/x $@"]);
        check("/w/x", None, true, &[]);
        check("/w/x.txt", Some("ls"), false, &[]);
        check("/w/x.sh", None, false, &["bash /w/x.sh $@"]);
        check("/w/x.awk", Some(""), false, &["awk -f /w/x.awk $@"]);
        check("/w/sh", Some("ls"), false, &[]);
        check("/w/Rakefile", Some(""), false, &["ruby /w/Rakefile $@"]);
        check("/w/.envrc", Some(""), false, &["bash /w/.envrc $@"]);
        check("/w/x.tsx", Some(""), false, &["tsx /w/x.tsx $@"]);
        check("/w/.vscode/tasks.json", Some("{}"), false, &["code ."]);
        check("/w/a/.devcontainer.json", Some("{}"), false, &["devcontainer up"]);
        check("/w/tasks.json", Some("{}"), false, &[]);
        check("/w/x.sql", Some(""), false, &["psql -f /w/x.sql $@", "sqlite3 -init /w/x.sql $@"]);
    }

    #[test]
    fn each_task_of_a_runner_is_run() {
        let make = "V := 1\nall: clean\n.PHONY: all\n%.o: %.c\n\tcc: x\nclean other:\n\trm x # a: b\n";
        check("/w/Makefile", Some(make), false, &["make", "make all", "make clean", "make other"]);
        check("/justfile", Some("x := '1'\n@wipe:\n    rm x\n"), false, &["just", "just wipe"]);
        let json = r#"{"scripts": {"a": "x", "b": "y"}}"#;
        check("/w/package.json", Some(json), false, &["npm run a", "npm run b"]);
        check("/w/package.json", Some("{"), false, &[]);
        check("/w/composer.json", Some(json), false, &["composer run-script a", "composer run-script b"]);
        let deno = r#"{"tasks": {"a": "x"}}"#;
        check("/w/deno.json", Some(deno), false, &["deno task a"]);
        check("/w/deno.jsonc", Some("{ // a"), false, &["deno task default"]);
        let task =
            "version: 3\ntasks:\n  a:\n    cmds: [x]\n  # b\n  docs:build: echo a: b\n\nvars:\n  c: d\n";
        check("/w/Taskfile.yml", Some(task), false, &["task", "task a", "task docs:build"]);
        let many: String = (0..=WRITTEN_TASKS_MAX).map(|number| format!("t{number}:\n")).collect();
        assert_eq!(ways_to_run("/w/Makefile", Some(&many), false).len(), WRITTEN_TASKS_MAX + 1);
    }
}
