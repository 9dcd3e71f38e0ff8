//! Pending calls whose hook waits for a person. The daemon answers them after the person's decision or at the time
//! limit, and they do not delay other calls.

use std::time::Duration;

use anyhow::Context;
use castellan_tests::home::Home;
use castellan_tests::hook::{self, HOOK_LIMIT, RULES, bash, understood};
use castellan_tests::process::Running;
use castellan_tests::terminal;
use castellan_tests::wait::until;
use rustix::process::{Signal, kill_process};
use serde_json::Value as Json;

use super::LIMIT;

const LONG: &str = "version = 1\nask_wait = 300\n";

fn start(home: &Home, agent: &str, command: &str) -> anyhow::Result<Running> {
    let payload = bash(command).to_string();
    Running::start_with_input(&mut hook::command(home, agent, "PreToolUse"), payload.as_bytes())
}

/// Waits until this number of hooks is waiting, and returns the ids of their calls.
fn held(home: &Home, count: usize) -> anyhow::Result<Vec<String>> {
    let look = || -> anyhow::Result<Option<Vec<String>>> {
        let shown: Json = serde_json::from_str(&home.run_castellan(&["pending", "--json"])?.stdout)?;
        let calls = shown["pending"].as_array().cloned().unwrap_or_default();
        let held = calls.iter().filter(|call| call["waiting"] == true);
        let ids: Vec<String> = held.filter_map(|call| Some(call["id"].as_str()?.to_owned())).collect();
        Ok((ids.len() == count).then_some(ids))
    };
    until(LIMIT, look)?.with_context(|| format!("there are never {count} held calls"))
}

/// Returns the recorded answers.
fn answers(home: &Home) -> anyhow::Result<Vec<String>> {
    let records = home.records()?;
    let answers = records.iter().filter_map(|record| record["call"]["answer"].as_str());
    Ok(answers.map(str::to_owned).collect())
}

#[test]
fn a_held_call_is_answered_as_soon_as_a_person_has_spoken() -> anyhow::Result<()> {
    for (agent, granted) in [("codex", "defer"), ("claude", "allow")] {
        let home = Home::with_castellan("held", LONG, RULES)?;
        home.start_daemon()?;
        let hook = start(&home, agent, "doubtful")?;
        let id = held(&home, 1)?.remove(0);
        let approved = terminal::run_castellan(&home, &["approve", &id, "--yes"])?;
        assert!(approved.stdout.contains("which waits, makes it now"), "{approved:?}");
        assert_eq!(understood(&hook.finish(HOOK_LIMIT)?), granted, "{agent}");
        assert_eq!(answers(&home)?, ["hold", "allow"], "{agent}");
        // The approval was valid once.
        let hook = start(&home, agent, "doubtful")?;
        let id = held(&home, 1)?.remove(0);
        home.run_castellan(&["refuse", &id])?;
        assert_eq!(understood(&hook.finish(HOOK_LIMIT)?), "deny", "{agent}");
        assert_eq!(answers(&home)?, ["hold", "allow", "hold", "deny"], "{agent}");
        assert_eq!(held(&home, 0)?, [] as [String; 0]);
    }
    Ok(())
}

#[test]
fn without_a_person_it_is_answered_in_time() -> anyhow::Result<()> {
    let home = Home::with_castellan("held-out", "version = 1\nask_wait = 1\n", RULES)?;
    for (agent, answer) in [("codex", "deny"), ("claude", "ask")] {
        let done = start(&home, agent, "doubtful")?.finish(HOOK_LIMIT)?;
        assert_eq!(understood(&done), answer);
        assert!(done.took >= Duration::from_secs(1), "{done:?}");
    }
    // A call that no person can change does not wait.
    for (command, answer) in [("forbidden", "deny"), ("ls", "defer")] {
        assert_eq!(understood(&start(&home, "codex", command)?.finish(HOOK_LIMIT)?), answer);
    }
    assert_eq!(answers(&home)?, ["hold", "deny", "hold", "ask", "deny", "defer"]);
    // An approval after the time limit needs the agent to make the call again.
    let id = serde_json::from_str::<Json>(&home.run_castellan(&["pending", "--json"])?.stdout)?;
    assert_eq!(id["pending"].as_array().map(Vec::len), Some(2), "{id}");
    Ok(())
}

#[test]
fn no_held_call_outlives_the_daemon() -> anyhow::Result<()> {
    for signal in [Signal::TERM, Signal::KILL] {
        let home = Home::with_castellan("held-end", LONG, RULES)?;
        let daemon = home.start_daemon()?;
        let hook = start(&home, "codex", "doubtful")?;
        held(&home, 1)?;
        kill_process(daemon, signal)?;
        assert_eq!(understood(&hook.finish(HOOK_LIMIT)?), "deny", "{signal:?}");
    }
    Ok(())
}

#[test]
fn two_hundred_held_calls_cost_others_nothing() -> anyhow::Result<()> {
    let home = Home::with_castellan("held-many", LONG, RULES)?;
    let daemon = home.start_daemon()?;
    // In rounds: an agent has at most 32 calls in flight, and a busy machine would run all of them at once.
    let mut hooks: Vec<Running> = Vec::new();
    while hooks.len() < 200 {
        for number in hooks.len()..hooks.len() + 20 {
            hooks.push(start(&home, "codex", &format!("doubtful {number}"))?);
        }
        held(&home, hooks.len())?;
    }
    assert_eq!(understood(&hook::judge(&home, &bash("ls"))?), "defer");
    let threads = std::fs::read_dir(format!("/proc/{}/task", daemon.as_raw_nonzero()))?.count();
    assert!(threads < 20, "{threads} threads");
    kill_process(daemon, Signal::TERM)?;
    for hook in hooks {
        assert_eq!(understood(&hook.finish(HOOK_LIMIT)?), "deny");
    }
    Ok(())
}
