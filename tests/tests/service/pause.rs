//! Pauses: only a person pauses castellan, everybody can see it, and it ends by itself.

use anyhow::{Context, Result};
use castellan_tests::{control, wait};
use serde_json::{Value as Json, json};

use crate::managed::{LIMIT, Rig};

/// Returns the last record of a kind.
fn last(rig: &Rig, kind: &str) -> Result<Json> {
    let records = rig.home.records()?;
    let mut of_kind = records.into_iter().rev().filter(|record| record["type"] == kind);
    of_kind.next().map(|record| record[kind].clone()).with_context(|| format!("no record of the kind {kind}"))
}

#[test]
fn a_pause_is_a_persons_is_shown_and_ends_by_itself() -> Result<()> {
    let rig = Rig::new("")?;
    rig.ok(&["start"])?;
    assert_eq!(rig.forbidden()?, "deny");
    // A program gets no pause, by the command or by the socket.
    assert_eq!(rig.run(&["pause", "10m"])?.code, Some(4));
    let answer = control::ask(&rig.home, &json!({ "pause": { "seconds": 60 } }))?;
    assert!(answer.get("refused").is_some(), "{answer}");
    assert_eq!(rig.forbidden()?, "deny");

    rig.person_ok(&["pause", "3s"])?;
    assert_eq!(rig.forbidden()?, "defer");
    let call = last(&rig, "call")?;
    assert_eq!((&call["answer"], &call["mode"]), (&json!("defer"), &json!("passthrough")), "{call}");
    assert_eq!(call["findings"][0]["code"], json!("paused"), "{call}");
    let shown = rig.run(&["status"])?.stdout;
    assert!(shown.contains("no call is judged for ") && shown.contains("enforce"), "{shown}");
    let over = wait::until(LIMIT, || Ok((rig.forbidden()? == "deny").then_some(())))?;
    over.context("the pause does not end")?;
    let ended = wait::until(LIMIT, || {
        let control = last(&rig, "control")?;
        Ok((control["action"] == "pause_end").then_some(control))
    })?;
    assert!(ended.context("the end is not recorded")?.to_string().contains("its time is over"));
    Ok(())
}

#[test]
fn a_pause_survives_the_daemon_and_anybody_may_end_it() -> Result<()> {
    let rig = Rig::new("")?;
    rig.ok(&["start"])?;
    rig.person_ok(&["pause", "1h"])?;
    let killed = rig.kill_daemon()?;
    rig.ok(&["start"])?;
    rig.next_daemon(killed)?;
    assert_eq!(rig.forbidden()?, "defer");
    // In a pause nobody gets a longer one without a person.
    assert_eq!(rig.run(&["pause", "4h"])?.code, Some(4));
    // A halt holds in a pause.
    rig.ok(&["halt"])?;
    assert_eq!(rig.forbidden()?, "deny");
    assert_eq!(rig.run(&["pause", "--end"])?.code, Some(0));
    assert_eq!(rig.run(&["pause", "--end"])?.code, Some(7), "there is none");
    rig.person_ok(&["resume"])?;
    assert_eq!(rig.forbidden()?, "deny", "a rule denies it");
    Ok(())
}

#[test]
fn a_pause_has_a_limit() -> Result<()> {
    let rig = Rig::new("")?;
    rig.ok(&["start"])?;
    for time in ["0s", "5h", "100days"] {
        let done = rig.person(&["pause", time])?;
        assert_eq!(done.code, Some(7), "{time}: {done:?}");
    }
    assert_eq!(rig.person(&["pause"])?.code, Some(2));
    assert_eq!(rig.forbidden()?, "deny");
    Ok(())
}
