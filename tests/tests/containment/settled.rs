//! The end of marks: a person keeps or undoes a contained call. A loss of the journal ends none.

use std::fs;

use anyhow::{Context, Result, ensure};
use castellan_tests::terminal;

use crate::rig::Rig;

/// A project with two judged scripts, the first of which a contained call changed.
fn changed() -> Result<Rig> {
    let rig = Rig::new()?;
    for script in ["run.sh", "other.sh"] {
        rig.write(script, "echo judged\n")?;
    }
    is_free(&rig, &["run.sh", "other.sh"], true)?;
    let done = rig.inside("echo id > run.sh")?;
    ensure!(done.code == Some(0), "{done:?}");
    is_free(&rig, &["run.sh"], false)?;
    is_free(&rig, &["other.sh"], true)?;
    Ok(rig)
}

/// Checks that a later session runs the scripts freely, or does not.
fn is_free(rig: &Rig, scripts: &[&str], expected: bool) -> Result<()> {
    for script in scripts {
        let answer = rig.ask_later(&format!("bash {script}"))?;
        ensure!(answer.is_free() == expected, "{script}: {answer:?}, expected free: {expected}");
    }
    Ok(())
}

/// Settles the newest call, as a person at a terminal.
fn settle(rig: &Rig, action: &str) -> Result<()> {
    let id = rig.undoable()?.into_iter().next().context("no call")?;
    let done = terminal::run_castellan(&rig.home, &[action, &id, "--yes"])?;
    ensure!(done.code == Some(0), "{action}: {done:?}");
    Ok(())
}

#[test]
fn a_person_keeps_or_undoes_what_a_contained_call_wrote() -> Result<()> {
    for (action, text) in [("keep", "id\n"), ("undo", "echo judged\n")] {
        let rig = changed()?;
        settle(&rig, action)?;
        ensure!(rig.text("run.sh") == text, "{action}: {}", rig.text("run.sh"));
        is_free(&rig, &["run.sh", "other.sh"], true).context(action)?;
    }
    Ok(())
}

/// The journal alone has the list of written files. Without it, each file of the workspace may be one.
#[test]
fn a_lost_journal_loses_no_mark() -> Result<()> {
    let rig = changed()?;
    let journal = rig.home.castellan().join("state/journal");
    rig.restart_after(|| Ok(fs::remove_file(&journal)?))?;
    is_free(&rig, &["run.sh", "other.sh"], false)?;
    // The marks are stored again.
    rig.restart_after(|| Ok(()))?;
    is_free(&rig, &["run.sh", "other.sh"], false)?;
    settle(&rig, "keep")?;
    is_free(&rig, &["run.sh", "other.sh"], true)?;
    // The log knows that a person settled the call.
    rig.restart_after(|| Ok(fs::write(&journal, "damaged")?))?;
    is_free(&rig, &["run.sh", "other.sh"], true)
}

/// Checkpoints are removed for their age and size. A person can settle a call without one.
#[test]
fn a_person_keeps_a_call_whose_checkpoint_is_gone() -> Result<()> {
    let rig = changed()?;
    let id = rig.undoable()?.into_iter().next().context("no call")?;
    rig.restart_after(|| Ok(fs::remove_dir_all(rig.home.castellan().join("state/checkpoints"))?))?;
    ensure!(rig.undoable()?.is_empty());
    is_free(&rig, &["run.sh"], false)?;
    let done = terminal::run_castellan(&rig.home, &["keep", &id, "--yes"])?;
    ensure!(done.code == Some(0), "{done:?}");
    is_free(&rig, &["run.sh"], true)
}

/// A halt ends the tickets of calls that have not started. A resume does not bring them back.
#[test]
fn a_halt_ends_tickets() -> Result<()> {
    let rig = Rig::new()?;
    let rewrite = rig.ask(&rig.unread("echo ran > ran")?)?.rewrite.context("not contained")?;
    rig.home.run_castellan(&["halt"])?;
    let resumed = terminal::run_castellan(&rig.home, &["resume"])?;
    ensure!(resumed.code == Some(0), "{resumed:?}");
    let done = rig.shell(&rewrite)?;
    ensure!(done.code == Some(125) && done.stderr.contains("no call waits for this ticket"), "{done:?}");
    ensure!(!rig.file("ran").exists());
    Ok(())
}

/// An agent that does not take the rewritten command over reports its own one.
#[test]
fn an_agent_that_ignores_the_rewrite_is_ungoverned() -> Result<()> {
    let rig = Rig::new()?;
    let whys = || -> Result<Vec<String>> {
        let records = rig.home.records()?;
        let found = records.iter().filter_map(|record| record["ungoverned"]["why"].as_str());
        Ok(found.map(str::to_owned).collect())
    };
    rig.contained(&rig.unread("echo obeyed")?)?;
    ensure!(whys()?.is_empty(), "{:?}", whys()?);
    let asked = rig.unread("echo ignored")?;
    ensure!(rig.ask(&asked)?.is_contained());
    rig.done(&asked, &asked)?;
    ensure!(whys()? == ["rewrite_ignored"], "{:?}", whys()?);
    Ok(())
}
