//! `castellan undo`, `diff` and `keep` with a real daemon: a person settles at a terminal, and nobody else.

use std::fs;

use anyhow::Context;
use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES, call, judge, understood};
use castellan_tests::terminal;
use serde_json::{Value as Json, json};

/// The ids of the calls that can be undone, the newest first.
fn ids(home: &Home) -> anyhow::Result<Vec<String>> {
    let listed: Vec<Json> = serde_json::from_str(&home.run_castellan(&["undo", "--json"])?.stdout)?;
    listed.iter().map(|one| one["id"].as_str().map(str::to_owned).context("a call without an id")).collect()
}

#[test]
fn a_person_takes_a_call_back_and_takes_that_back_and_keeps_another() -> anyhow::Result<()> {
    let home = Home::with_castellan("undo", ENFORCE, RULES)?;
    home.start_daemon()?;
    let dir = tempfile::tempdir()?;
    let workspace = dir.path().canonicalize()?;
    fs::create_dir(workspace.join(".git"))?;
    let notes = workspace.join("notes");
    let write = |text: &str| -> anyhow::Result<()> {
        let mut call = call("Write", &json!({ "file_path": notes, "content": text }));
        call["cwd"] = workspace.display().to_string().into();
        let done = judge(&home, &call)?;
        anyhow::ensure!(understood(&done) == "defer", "{done:?}");
        Ok(fs::write(&notes, text)?)
    };
    fs::write(&notes, "first\n")?;
    write("second\n")?;
    let first = ids(&home)?.pop().context("no checkpoint")?;
    let shown = home.run_castellan(&["diff", &first])?.stdout;
    assert!(shown.contains("\n-first\n+second\n"), "{shown}");
    for refused in [["undo", &first, "--yes"], ["keep", &first, "--yes"]] {
        let why = home.run_castellan(&refused).map(|done| done.stdout).unwrap_err().to_string();
        assert!(why.contains("this needs a person at a terminal"), "{why}");
    }
    assert_eq!(fs::read_to_string(&notes)?, "second\n");

    let undone = terminal::run_castellan(&home, &["undo", &first, "--yes"])?;
    assert_eq!((undone.code, fs::read_to_string(&notes)?.as_str()), (Some(0), "first\n"), "{undone:?}");
    let again = ids(&home)?.into_iter().find(|id| id.starts_with("undo-")).context("no way back")?;
    let undone = terminal::run_castellan(&home, &["undo", &again, "--yes"])?;
    assert_eq!((undone.code, fs::read_to_string(&notes)?.as_str()), (Some(0), "second\n"), "{undone:?}");

    let kept = terminal::run_castellan(&home, &["keep", &first, "--yes"])?;
    assert_eq!(kept.code, Some(0), "{kept:?}");
    assert!(!ids(&home)?.contains(&first));
    let refused = terminal::run_castellan(&home, &["undo", &first, "--yes"])?;
    assert_eq!(refused.code, Some(7), "{refused:?}");
    let log = home.run_castellan(&["log", "--json"])?.stdout;
    let records: Vec<Json> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let settled = |action: &str, accepted: bool| {
        let is = |record: &&Json| {
            record["control"]["action"] == action && record["control"]["accepted"] == accepted
        };
        records.iter().filter(is).count()
    };
    assert_eq!((settled("undo", true), settled("keep", true)), (2, 1));
    assert!(settled("undo", false) >= 1 && settled("keep", false) >= 1);
    Ok(())
}
