//! Workspaces at the limits: a call that deletes its own, and those that are too large for castellan to compare. The person
//! sees the reason.

use std::fs;

use anyhow::{Context, Result, ensure};
use castellan_tests::terminal;

use crate::rig::{LIMIT, Rig};

/// The temporary workspace of this test is deleted as far as the sandbox lets it be.
#[test]
fn a_contained_call_that_deletes_its_workspace_can_be_undone() -> Result<()> {
    let rig = Rig::new()?;
    rig.write("src/kept.txt", "kept\n")?;
    rig.write("Makefile", "all:\n\techo hi\n")?;
    ensure!(rig.ask_later("make")?.is_free());
    let settings = rig.text(".git/config");
    // By all names that the text can find for it.
    let text = "cd ..; rm -rf \"$OLDPWD\"; mv \"$OLDPWD\" gone; rmdir \"$OLDPWD\"; echo ran to the end";
    let done = rig.elsewhere(text, "true")?.finish(LIMIT)?;
    ensure!(done.stdout.ends_with("ran to the end\n"), "{done:?}");
    ensure!(!rig.file("src").exists() && !rig.file("Makefile").exists(), "it deleted nothing: {done:?}");
    // The workspace is a mount, and version control and secrets are read-only.
    ensure!(rig.home.workspace().is_dir() && rig.text(".git/config") == settings, "{done:?}");
    // castellan goes on in it.
    ensure!(rig.ask_later("ls")?.is_free());
    let newest = rig.undoable()?.first().cloned().context("nothing to undo")?;
    let undone = terminal::run_castellan(&rig.home, &["undo", &newest, "--yes"])?;
    ensure!(undone.code == Some(0), "{undone:?}");
    ensure!(rig.text("src/kept.txt") == "kept\n", "{undone:?}");
    ensure!(rig.ask_later("make")?.is_free(), "what is restored is what was there: {undone:?}");
    Ok(())
}

/// Checks that castellan asks about an unread call, and shows the reason to a person. After `shrink` it contains the call again.
fn is_asked_about(rig: &Rig, reason: &str, shrink: impl Fn() -> Result<()>) -> Result<()> {
    let command = rig.unread("echo ran > ran")?;
    let answer = rig.ask_later(&command)?;
    ensure!(!answer.is_contained() && !answer.is_free(), "{answer:?}");
    let records = rig.home.records()?;
    let call = records.iter().rev().find(|record| record["type"] == "call").context("no call")?;
    let number = call["seq"].as_u64().context("no number")?;
    let why = rig.home.run_castellan(&["why", &number.to_string()])?.stdout;
    ensure!(call.to_string().contains(reason), "{call}");
    ensure!(why.replace('\n', " ").contains(reason), "{why}");
    shrink()?;
    let again = rig.ask_later(&command)?;
    ensure!(again.is_contained(), "{again:?}");
    Ok(())
}

/// Several names of a few files are as many entries as files, and quicker to make.
#[test]
fn a_workspace_with_too_many_files_is_not_contained_and_the_person_sees_why() -> Result<()> {
    // The documented limit.
    const ENTRIES: usize = 200_000;
    let rig = Rig::new()?;
    let many = rig.file("many");
    // A file has at most 65,000 names on ext4.
    for file in 0..=ENTRIES / 60_000 {
        let folder = many.join(file.to_string());
        fs::create_dir_all(&folder)?;
        let first = folder.join("first");
        fs::write(&first, "")?;
        (1..60_000).try_for_each(|name| fs::hard_link(&first, folder.join(name.to_string())))?;
    }
    let reason = format!("the directory has more than {ENTRIES} entries");
    is_asked_about(&rig, &reason, || Ok(fs::remove_dir_all(&many)?))
}

#[test]
fn a_workspace_that_is_too_deep_is_not_contained_and_the_person_sees_why() -> Result<()> {
    let rig = Rig::new()?;
    let deep = rig.file("deep");
    fs::create_dir_all(deep.join("d/".repeat(130)))?;
    is_asked_about(&rig, "directories", || Ok(fs::remove_dir_all(&deep)?))
}

/// Then castellan does not know which files the call wrote.
#[test]
fn a_contained_call_that_makes_its_workspace_too_deep_has_written_all_of_it() -> Result<()> {
    let rig = Rig::new()?;
    rig.write("Makefile", "all:\n\techo hi\n")?;
    ensure!(rig.ask_later("make")?.is_free());
    let text = format!("mkdir -p {}; echo ran", "d/".repeat(130));
    let done = rig.elsewhere(&text, "true")?.finish(LIMIT)?;
    ensure!(done.code == Some(0) && done.stdout == "ran\n", "{done:?}");
    let answer = rig.ask_later("make")?;
    ensure!(!answer.is_free() && !answer.is_contained(), "{answer:?}");
    let status = rig.home.run_castellan(&["status"])?.stdout;
    let told = status.split_whitespace().collect::<Vec<_>>().join(" ");
    ensure!(told.contains("the files that a contained command wrote are not known"), "{status}");
    Ok(())
}
