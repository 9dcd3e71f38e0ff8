//! Tests program models with the cases beside them (`crates/programs/models/*.cases`): a command, then all of its
//! effects in any order.
//!
//! ```text
//! $ rm -rf build "a b"
//! delete build recursive force
//! delete "a b" recursive force
//! ```
//!
//! The command is split at blanks, with quotes as in a shell. `$X` is an unknown value, and a `*` outside quotes is a
//! pattern. Standard input may follow: `<<< TEXT`, `< FILE`, or `|` for another command's output. The command runs in
//! the workspace `/w` with the home `/home/u`; paths below `/w` omit it. An effect is its kind, then its path, then its
//! other fields; its scope only if that is not `workspace`.
mod world;

use crate::call;
use std::fmt::Write as _;
use std::path::Path;

use castellan_event::{Effect, Facts, HostClass, Recorder, Scope, Why};
use castellan_facts::{Setting, effects_of};
use castellan_programs::{Arg, Piece};
use castellan_shell::tree::Span;
use castellan_shell::{Found, Item, Origin, Run, Stdin};

use self::world::Table;

#[test]
fn programs_do_what_their_cases_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs/models");
    let only = std::env::var("CASES").unwrap_or_default();
    let mut wrong = String::new();
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "cases")) {
        let name = file.file_stem().unwrap().to_string_lossy();
        if name.contains(&only) {
            check_file(&name, &std::fs::read_to_string(file).unwrap(), &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_family_has_cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../programs/models");
    for entry in std::fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        if file.extension().is_some_and(|ending| ending == "md") {
            continue;
        }
        assert!(file.with_extension("cases").is_file(), "{} has no cases", file.display());
        assert!(file.with_extension("toml").is_file(), "{} has no models", file.display());
    }
}

fn check_file(name: &str, text: &str, wrong: &mut String) {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')).peekable();
    while let Some((number, line)) = lines.next() {
        let Some(command) = line.strip_prefix("$ ") else {
            assert!(line.trim().is_empty(), "{name}.cases:{}: an effect without a command", number + 1);
            continue;
        };
        let mut expected: Vec<String> = Vec::new();
        while let Some((_, line)) =
            lines.next_if(|(_, line)| !line.trim().is_empty() && !line.starts_with("$ "))
        {
            expected.push(line.trim().to_owned());
        }
        let mut got: Vec<String> = facts(command).effects.iter().map(dump).collect();
        expected.sort();
        got.sort();
        got.dedup();
        if got != expected {
            writeln!(wrong, "{name}.cases:{}: $ {command}", number + 1).unwrap();
            for line in expected.iter().filter(|line| !got.contains(line)) {
                writeln!(wrong, "    missing: {line}").unwrap();
            }
            for line in got.iter().filter(|line| !expected.contains(line)) {
                writeln!(wrong, "    more:    {line}").unwrap();
            }
        }
    }
}

fn facts(command: &str) -> Facts {
    let mut argv = split(command);
    let stdin = stdin(&mut argv);
    let run = Run {
        pipe_from: argv.pop_if(|last| last.as_str() == Some("|")).map(|_| 0),
        argv,
        env: Vec::new(),
        redirects: Vec::new(),
        wrappers: std::rc::Rc::default(),
        script: None,
        origin: Origin::Text,
        span: Span::default(),
        line: command.to_owned(),
        cwd: Some("/w".to_owned()),
        remote: std::rc::Rc::default(),
        stdin,
        made: Vec::new(),
        background: false,
    };
    let found = Found { items: vec![Item::Command(run)], ..Found::default() };
    let setting = Setting { workspace: "/w".to_owned(), ..Setting::default() };
    effects_of(&found, &call::shell("claude_code", command), &setting, &mut Recorder::new(&Table))
}

/// Removes the redirect of standard input from the command and returns it.
fn stdin(argv: &mut Vec<Arg>) -> Stdin {
    let before = argv.len().checked_sub(2).and_then(|at| argv[at].as_str().map(str::to_owned));
    let is_file = before.as_deref() == Some("<");
    if !is_file && before.as_deref() != Some("<<<") {
        return Stdin::Inherited;
    }
    let what = argv.pop().unwrap();
    argv.pop();
    if is_file { Stdin::File(what) } else { Stdin::Text(what) }
}

/// Kind, path, and the other fields in a fixed order.
fn dump(effect: &Effect) -> String {
    let mut text = effect.kind().to_string();
    let short = |path: &str| {
        let path = path.strip_prefix("/w/").unwrap_or(path);
        if path.contains(' ') { format!("{path:?}") } else { path.to_owned() }
    };
    match (effect.path(), effect.path_raw()) {
        (Some(path), _) => write!(text, " {}", short(path)).unwrap(),
        (None, Some(raw)) => write!(text, " ?{}", short(raw)).unwrap(),
        (None, None) => {}
    }
    let keys = [
        ("target", effect.target().map(short)),
        ("host", effect.host().map(str::to_owned)),
        (
            "class",
            effect.host_class().filter(|class| *class != HostClass::Public).map(|class| class.to_string()),
        ),
        ("url", effect.url().map(str::to_owned)),
        ("system", effect.system().map(str::to_owned)),
        ("verb", effect.verb().map(str::to_owned)),
        ("role", effect.role().map(|role| role.to_string())),
        ("why", effect.why().map(|why| why.to_string())),
        ("scope", effect.scope().filter(|scope| *scope != Scope::Workspace).map(|scope| scope.to_string())),
    ];
    for (key, value) in keys.into_iter().filter_map(|(key, value)| Some((key, value?))) {
        write!(text, " {key}={value}").unwrap();
    }
    for (word, said) in [("recursive", effect.op.recursive), ("force", effect.op.force)] {
        if said == Some(true) {
            write!(text, " {word}").unwrap();
        }
    }
    text
}

/// Splits a command at blanks, with quotes as in a shell.
fn split(command: &str) -> Vec<Arg> {
    let mut args = Vec::new();
    let mut pieces: Vec<Piece> = Vec::new();
    let mut is_open = false;
    let mut quote = None;
    let mut letters = command.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None, ' ') => {
                if is_open {
                    args.push(Arg::from_pieces(pieces.drain(..), false));
                }
                is_open = false;
                continue;
            }
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None | Some('"'), '$') if letters.next_if_eq(&'X').is_some() => {
                pieces.push(Piece::Unknown { why: Why::Variable, written: "$X".into() });
            }
            (None, '*') => pieces.push(Piece::Unknown { why: Why::Glob, written: "*".into() }),
            (_, letter) => pieces.push(Piece::Text(letter.into())),
        }
        is_open = true;
    }
    if is_open {
        args.push(Arg::from_pieces(pieces, false));
    }
    args
}
