//! An agent that repeatedly asks castellan in advance for its verdict is probing.

use castellan_tests::home::Home;
use castellan_tests::hook::{bash, judge};
use serde_json::Value as Json;

/// Runs commands of one session, and checks whether castellan asks about the next call because of them.
fn check(profile: &str, commands: &[&str], is_probing: bool) -> anyhow::Result<()> {
    let config = format!("version = 1\nprofile = \"{profile}\"\n");
    let home = Home::with_castellan("probing", &config, "")?;
    home.start_daemon()?;
    for command in commands {
        judge(&home, &bash(command))?;
    }
    let finding = |record: &Json| {
        let findings = record.pointer("/call/findings").and_then(Json::as_array).cloned();
        findings.into_iter().flatten().find(|finding| finding["code"] == "probing")
    };
    anyhow::ensure!(
        !home.records()?.iter().any(|record| finding(record).is_some()),
        "{commands:?}: too early"
    );
    judge(&home, &bash("ls"))?;
    let found: Vec<Json> =
        home.records()?.iter().filter_map(finding).map(|found| found["verdict"].clone()).collect();
    let expected =
        if is_probing { vec![Json::from(if profile == "strict" { "ask" } else { "defer" })] } else { vec![] };
    anyhow::ensure!(found == expected, "{profile}: {commands:?}: {found:?}");
    Ok(())
}

#[test]
fn who_asks_beforehand_three_times_is_probing() -> anyhow::Result<()> {
    let kinds =
        ["castellan check 'rm -rf /'", "castellan explain 'rm -rf /'", "castellan replay --rules mine.yaml"];
    for kind in kinds {
        check("strict", &[kind, kind, kind], true)?;
    }
    check("strict", &kinds, true)?;
    check("standard", &kinds, true)?;
    // Under any spelling.
    check(
        "strict",
        &[
            "castellan --home /h check ls",
            "true; /usr/bin/castellan explain ls",
            "env A=b castellan -q replay",
        ],
        true,
    )
}

#[test]
fn who_asks_twice_or_asks_something_else_is_not() -> anyhow::Result<()> {
    check("strict", &["castellan check ls", "castellan explain ls"], false)?;
    check(
        "strict",
        &["castellan status", "castellan log", "castellan status", "git check", "echo castellan check"],
        false,
    )
}
