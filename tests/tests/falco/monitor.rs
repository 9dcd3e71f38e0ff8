//! The mode `monitor` beside a Falco: it holds no call back, whether Falco answers or not. The record has the decision that
//! `enforce` would have carried out, and the reason why the rules were not tested.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use castellan_tests::falco::{self, Play};
use castellan_tests::home::Home;
use castellan_tests::hook::{MONITOR, RULES, bash, judge, understood};
use castellan_tests::wait::until;
use serde_json::Value as Json;

const LIMIT: Duration = Duration::from_secs(20);

fn home(play: &Play) -> Result<Home> {
    let home = Home::with_castellan("falco-monitor", MONITOR, RULES)?;
    falco::install(&home, MONITOR)?;
    falco::play(&home, play)?;
    home.start_daemon()?;
    Ok(home)
}

fn status(home: &Home) -> Result<Json> {
    Ok(serde_json::from_str(&home.run_castellan(&["status", "--json"])?.stdout)?)
}

fn wait_for_state(home: &Home, state: &str) -> Result<()> {
    let look = || Ok((status(home)?["engine"]["state"] == state).then_some(()));
    until(LIMIT, look)?.with_context(|| format!("not {state}: {:?}", status(home)))
}

/// The record of the last call.
fn last_call(home: &Home) -> Result<Json> {
    let call = home.records()?.into_iter().rfind(|record| record["type"] == "call");
    Ok(call.context("no call in the log")?["call"].clone())
}

/// Asks about a call. The agent must get no decision.
fn left(home: &Home, command: &str) -> Result<Json> {
    let done = judge(home, &bash(command))?;
    ensure!(understood(&done) == "defer" && done.stdout.is_empty() && done.stderr.is_empty(), "{done:?}");
    let call = last_call(home)?;
    ensure!(call["answer"] == "defer" && call["mode"] == "monitor" && call["engine"] == "falco", "{call}");
    Ok(call)
}

#[test]
fn a_falco_that_judges_is_recorded_and_holds_no_call_back() -> Result<()> {
    let home = home(&Play::Judges)?;
    wait_for_state(&home, "judging")?;
    for (command, verdict) in [("ls", "defer"), ("echo doubtful", "ask"), ("echo forbidden", "deny")] {
        let call = left(&home, command)?;
        ensure!(call["verdict"] == verdict, "{command}: {call}");
    }
    Ok(())
}

/// Each failure of Falco, the state that follows, and a part of the reason in the record.
#[test]
fn a_falco_that_does_not_judge_holds_no_call_back_and_the_record_says_why() -> Result<()> {
    let rows = [
        (Play::CrashesAtStart, "pausing", "its last line: Error: the scripted Falco crashes at its start"),
        (Play::HasVersion("0.42.0".to_owned()), "pausing", "Falco 0.42 is too old"),
        (Play::Rejects("Test ask".to_owned()), "pausing", "rejects the rule `Test ask`"),
        (Play::LeavesOutRule, "pausing", "Falco does not test 1 of "),
        (Play::HasNoPlugin, "starting", "Falco has not started in time"),
        (Play::Hangs, "judging", "Falco has not judged"),
    ];
    // Two of them wait for their time.
    std::thread::scope(|scope| {
        let each = rows.map(|(play, state, reason)| scope.spawn(move || check(&play, state, reason)));
        each.into_iter().try_for_each(|one| one.join().expect("no panic"))
    })
}

fn check(play: &Play, state: &str, reason: &str) -> Result<()> {
    let home = home(play)?;
    wait_for_state(&home, state).with_context(|| format!("{play:?}"))?;
    for command in ["ls", "echo forbidden"] {
        let call = left(&home, command)?;
        ensure!(call["verdict"] == "deny", "{play:?}: {call}");
        let failed = call["findings"].as_array().into_iter().flatten();
        let failed: Vec<&Json> = failed.filter(|finding| finding["code"] == "fail_closed").collect();
        let [failed] = failed.as_slice() else { anyhow::bail!("{play:?}: {call}") };
        let message = failed["message"].as_str().unwrap_or_default();
        ensure!(message.starts_with("the rules were not tested: "), "{play:?}: {message}");
        ensure!(message.contains(reason), "{play:?}: {message}");
    }
    // castellan holds no call back, so it must not say that it does.
    for words in [&["status"][..], &["doctor"]] {
        let shown = home.run_castellan(words)?;
        ensure!(shown.stdout.contains("nothing is denied") || words == ["status"], "{words:?}: {shown:?}");
        ensure!(!shown.stdout.contains("every call is denied"), "{play:?}: {words:?}: {shown:?}");
    }
    falco::play(&home, &Play::Judges)?;
    Ok(())
}
