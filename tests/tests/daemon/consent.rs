//! A person's consent: what waits is shown, what is approved runs, and nothing else does.

use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES, bash, run, understood};
use castellan_tests::terminal;
use serde_json::Value as Json;

use crate::ways_out::castellan;

/// Asks about a command as Codex, which is told no where a person would have to be asked.
fn ask(home: &Home, command: &str) -> anyhow::Result<String> {
    Ok(understood(&run(home, "codex", "PreToolUse", bash(command).to_string().as_bytes())?))
}

fn pending(home: &Home) -> anyhow::Result<Vec<Json>> {
    let shown: Json = serde_json::from_str(&home.run_castellan(&["pending", "--json"])?.stdout)?;
    Ok(shown["pending"].as_array().cloned().unwrap_or_default())
}

fn id(home: &Home) -> anyhow::Result<String> {
    let calls = pending(home)?;
    anyhow::ensure!(calls.len() == 1, "{calls:?}");
    Ok(calls[0]["id"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn an_approved_call_runs_once_and_no_other_does() -> anyhow::Result<()> {
    let home = Home::with_castellan("consent-once", ENFORCE, RULES)?;
    assert_eq!(ask(&home, "doubtful")?, "deny");
    assert_eq!(ask(&home, "doubtful")?, "deny");
    let waiting = pending(&home)?;
    assert_eq!(
        (waiting.len(), &waiting[0]["times"], &waiting[0]["input"]),
        (1, &2.into(), &"doubtful".into())
    );
    let approved = terminal::run_castellan(&home, &["approve", &id(&home)?])?;
    assert_eq!(approved.code, Some(0), "{approved:?}");
    assert_eq!(ask(&home, "doubtful; ls")?, "deny");
    assert_eq!(ask(&home, "doubtful")?, "defer");
    assert_eq!(ask(&home, "doubtful")?, "deny");
    let records = home.records()?;
    let lifted = |record: &&Json| record["call"]["findings"][0]["lifted"] == "grant";
    assert_eq!(records.iter().filter(lifted).count(), 1);
    assert!(records.iter().any(|record| record["control"]["action"] == "approve"));
    Ok(())
}

#[test]
fn a_grant_for_the_session_holds_until_it_is_refused() -> anyhow::Result<()> {
    let home = Home::with_castellan("consent-session", ENFORCE, RULES)?;
    ask(&home, "doubtful")?;
    let id = id(&home)?;
    terminal::run_castellan(&home, &["approve", &id, "--session"])?;
    for _ in 0..3 {
        assert_eq!(ask(&home, "doubtful")?, "defer");
    }
    let mut other = bash("doubtful");
    other["session_id"] = "another".into();
    assert_eq!(understood(&run(&home, "codex", "PreToolUse", other.to_string().as_bytes())?), "deny");
    // Taking it back needs nobody at a terminal.
    assert_eq!(home.run_castellan(&["refuse", &id])?.code, Some(0));
    assert_eq!(ask(&home, "doubtful")?, "deny");
    Ok(())
}

#[test]
fn an_agent_cannot_approve_and_a_deny_is_no_call_that_waits() -> anyhow::Result<()> {
    let home = Home::with_castellan("consent-refused", ENFORCE, RULES)?;
    assert_eq!(ask(&home, "forbidden")?, "deny");
    assert_eq!(pending(&home)?, [] as [Json; 0]);
    ask(&home, "doubtful")?;
    let id = id(&home)?;
    // Without a terminal, as a tool call of an agent would.
    let refused = castellan(&home, &["approve", &id])?;
    assert_eq!(refused.code, Some(4), "{refused:?}");
    assert_eq!(ask(&home, "doubtful")?, "deny");
    let unknown = terminal::run_castellan(&home, &["approve", "ZZZ"])?;
    assert_eq!(unknown.code, Some(7), "{unknown:?}");
    let tried =
        |record: &&Json| record["control"]["action"] == "approve" && record["control"]["accepted"] == false;
    assert_eq!(home.records()?.iter().filter(tried).count(), 2);
    Ok(())
}
