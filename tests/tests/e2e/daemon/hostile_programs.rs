//! Hostile program texts: the session that runs them holds up no other session, and a replay decides the same.

use std::fs;

use castellan_corpus::hostile_programs;
use castellan_tests::home::Home;
use castellan_tests::hook::{self, bash, judge, understood};
use castellan_tests::process::Running;
use serde_json::{Value as Json, json};

use super::history::run_json;
use super::long_programs::{ALONE, RULES};
use super::status;

/// Each language with the program that runs a file of it.
const LANGUAGES: &[(&str, &str)] = &[
    ("applescript", "osascript"),
    ("cmd", "cmd.exe /c"),
    ("javascript", "node"),
    ("lua", "lua"),
    ("perl", "perl"),
    ("php", "php"),
    ("powershell", "pwsh -File"),
    ("python", "python3"),
    ("ruby", "ruby"),
];

/// Bytes of a program for a helper. tree-sitter and oxc need more time for some of them than the helper gets.
const BYTES: usize = 24 << 10;

const AT_A_TIME: usize = 4;

/// A call of a session in the workspace.
fn call(home: &Home, session: &str, command: &str) -> Json {
    let mut call = bash(command);
    call["session_id"] = json!(session);
    call["cwd"] = home.workspace().to_string_lossy().as_ref().into();
    call
}

fn start(home: &Home, call: &Json) -> anyhow::Result<Running> {
    let payload = call.to_string();
    Running::start_with_input(&mut hook::command(home, "claude", "PreToolUse"), payload.as_bytes())
}

#[test]
fn hostile_programs_end_and_are_replayed_as_they_were() -> anyhow::Result<()> {
    let home = Home::with_castellan("hostile-programs", ALONE, RULES)?;
    let daemon = home.start_daemon()?;
    let mut calls = Vec::new();
    for (language, program) in LANGUAGES {
        for (at, shape) in hostile_programs(language).map_err(anyhow::Error::msg)?.iter().enumerate() {
            let begin = if *language == "php" { "<?php " } else { "" };
            let name = format!("{language}-{at}");
            fs::write(home.workspace().join(&name), format!("{begin}{}\n", shape.text(BYTES)))?;
            calls.push(call(&home, "hostile", &format!("{program} {name}")));
        }
    }
    for calls in calls.chunks(AT_A_TIME) {
        let running: Vec<Running> =
            calls.iter().map(|call| start(&home, call)).collect::<anyhow::Result<_>>()?;
        // The other session needs no helper.
        assert_eq!(understood(&judge(&home, &call(&home, "other", "python3 -c 'print(1)'"))?), "defer");
        for (hook, call) in running.into_iter().zip(calls) {
            let answer = understood(&hook.finish(hook::HOOK_LIMIT)?);
            assert!(["deny", "ask", "defer"].contains(&answer.as_str()), "{}: {answer}", call["tool_input"]);
        }
    }
    assert_eq!(status(&home)["pid"], daemon.as_raw_nonzero().get());
    let records = home.records()?;
    assert!(!records.iter().any(|record| record["type"] == "failure"), "calls that failed inside");
    let is_given_up = |record: &&Json| record["call"]["world"].to_string().contains("given up");
    let given_up: Vec<&Json> = records.iter().filter(is_given_up).collect();
    assert!(!given_up.is_empty(), "no program was given up");
    for record in given_up {
        assert_eq!(record["call"]["verdict"], "deny", "{record}");
    }

    let (done, json) = run_json(&home, &["replay"])?;
    assert_eq!((done.code, &json["changes"]), (Some(0), &json!([])), "{json}");
    Ok(())
}

#[test]
fn a_slow_program_holds_up_no_other_session() -> anyhow::Result<()> {
    let home = Home::with_castellan("slow-program", ALONE, RULES)?;
    home.start_daemon()?;
    // tree-sitter takes seconds for it.
    fs::write(home.workspace().join("slow.lua"), "a b ".repeat(15_000))?;
    let slow = start(&home, &call(&home, "hostile", "lua slow.lua"))?;
    let mut took = Vec::new();
    for command in ["ls", "python3 -c 'print(1)'", "perl -e 'print 1'"] {
        let done = judge(&home, &call(&home, "other", command))?;
        assert_eq!(understood(&done), "defer", "{command}");
        took.push(done.took);
    }
    let slow = slow.finish(hook::HOOK_LIMIT)?;
    assert_eq!(understood(&slow), "deny");
    assert!(took.iter().all(|took| *took < slow.took), "{took:?} beside {:?}", slow.took);
    Ok(())
}
