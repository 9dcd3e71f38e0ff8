//! Compares the found arguments with those that bash itself produces for the same text.

use std::process::Command;

use castellan_shell::{Item, Start, commands};

use crate::dump::start;

const CASES: &str = include_str!("../data/found/oracle.txt");

/// Defines a function that writes its arguments between marks that occur in no case.
const WRITES: &str = "shopt -s expand_aliases\nexec 9>&1\nargs(){ { printf A; printf '\\x1f%s' \"$@\"; printf '\\x1e'; } >&9; }\n";

#[test]
fn arguments_are_those_of_bash() {
    let mut wrong = String::new();
    for case in CASES.split("====\n").filter(|case| !case.is_empty()) {
        let Some(expected) = of_bash(case) else { return };
        let found = of_castellan(case);
        if found != expected {
            wrong.push_str(&format!("{case}bash  {expected:?}\nfound {found:?}\n\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Returns bash's arguments for a case; `None` if bash is not installed.
fn of_bash(case: &str) -> Option<Vec<Vec<String>>> {
    let output = Command::new("bash")
        .args(["--norc", "--noprofile", "-c", &format!("{WRITES}{case}")])
        .env_clear()
        .env("HOME", "/home/u")
        .env("PATH", "/usr/bin:/bin")
        .env("LC_ALL", "C.UTF-8")
        .current_dir("/")
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let calls = text.split_terminator('\u{1e}');
    Some(calls.map(|call| call.split('\u{1f}').skip(1).map(str::to_owned).collect()).collect())
}

fn of_castellan(case: &str) -> Vec<Vec<String>> {
    let start = Start { cwd: Some("/".into()), complete_env: true, ..start() };
    let mut calls = Vec::new();
    for item in commands(&format!("shopt -s expand_aliases\n{case}"), &start).items {
        let Item::Command(run) = item else { continue };
        if run.argv.first().and_then(|name| name.as_str()) != Some("args") {
            continue;
        }
        let mut args: Vec<String> = run
            .argv
            .iter()
            .skip(1)
            .map(|arg| arg.as_str().map_or_else(|| format!("{arg:?}"), str::to_owned))
            .collect();
        if args.is_empty() {
            // Without arguments, `printf` applies its format once.
            args.push(String::new());
        }
        calls.push(args);
    }
    calls
}
