//! `rules.reload = "watch"`: edited rule files, and only these, come into force at once.

use std::path::PathBuf;

use anyhow::Context;
use castellan_tests::home::Home;
use castellan_tests::hook::{RULES, bash, judge, understood};
use castellan_tests::wait::until;
use rustix::process::{Signal, kill_process};
use serde_json::json;

use super::{LIMIT, kill, status, wait_for_origin};

const WATCH: &str = "version = 1\n[rules]\nreload = \"watch\"\n";

fn watching(name: &str) -> anyhow::Result<(Home, PathBuf)> {
    let home = Home::with_castellan(name, WATCH, RULES)?;
    home.start_daemon()?;
    let rules = home.castellan().join("config/rules/user/test.yaml");
    Ok((home, rules))
}

/// Waits until a command is answered with `word`.
fn wait_for_answer(home: &Home, command: &str, word: &str) -> anyhow::Result<()> {
    let found = until(LIMIT, || Ok((understood(&judge(home, &bash(command))?) == word).then_some(())))?;
    found.with_context(|| format!("`{command}` is not answered with {word}: {}", status(home)))
}

fn failures(home: &Home) -> anyhow::Result<usize> {
    Ok(home.records()?.iter().filter(|record| record["failure"]["code"] == "policy").count())
}

#[test]
fn an_edit_is_in_force_at_once_and_after_a_restart() -> anyhow::Result<()> {
    let (home, rules) = watching("watch")?;
    assert!(home.run_castellan(&["status"])?.stdout.contains("rule files are watched"));
    std::fs::write(&rules, RULES.replace("forbidden", "prohibited"))?;
    wait_for_answer(&home, "prohibited", "deny")?;
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "defer");
    let records = home.records()?;
    assert!(records.iter().any(|r| r["control"]["action"] == "reload" && r["control"]["accepted"] == true));
    // Changes made while no daemon runs apply as well.
    kill(home.start_daemon()?)?;
    std::fs::write(&rules, RULES.replace("forbidden", "unspeakable"))?;
    wait_for_answer(&home, "unspeakable", "deny")?;
    // A removed user file stays removed; a removed shipped file is restored.
    let shipped = home.castellan().join("config/rules/default/10-secrets.yaml");
    let text = std::fs::read_to_string(&shipped)?;
    std::fs::remove_file(&shipped)?;
    std::fs::remove_file(&rules)?;
    wait_for_answer(&home, "unspeakable", "defer")?;
    assert_eq!(std::fs::read_to_string(&shipped)?, text);
    Ok(())
}

#[test]
fn a_bad_file_keeps_the_last_good_set() -> anyhow::Result<()> {
    let (home, rules) = watching("watch-bad")?;
    let policy = status(&home)["policy"].clone();
    let broken: [&[u8]; 3] = [b"- rule: broken\n  condition: (\n", b"- rule: [", b"- rule: \xff"];
    for (number, broken) in broken.into_iter().enumerate() {
        std::fs::write(&rules, broken)?;
        until(LIMIT, || Ok((failures(&home)? == number + 1).then_some(())))?
            .context("it is not in the log")?;
        let told = status(&home);
        assert_eq!((&told["policy_origin"], &told["policy"]), (&json!("last_good"), &policy));
        assert!(told["problems"].to_string().contains("test.yaml:"), "{told}");
        assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    }
    // The last good set stays in force, also after a restart.
    kill(home.start_daemon()?)?;
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    wait_for_origin(&home, "last_good")?;
    // A record for each change, and one for the start.
    until(LIMIT, || Ok((failures(&home)? == 4).then_some(())))?.context("it is not in the log")?;
    // Both the old text and a new valid edit correct the error.
    std::fs::write(&rules, RULES)?;
    wait_for_origin(&home, "current")?;
    std::fs::write(&rules, "- rule: [")?;
    wait_for_origin(&home, "last_good")?;
    std::fs::write(&rules, RULES.replace("forbidden", "prohibited"))?;
    wait_for_origin(&home, "current")?;
    assert_eq!(understood(&judge(&home, &bash("prohibited"))?), "deny");
    assert_eq!(failures(&home)?, 5);
    Ok(())
}

#[test]
fn settings_are_not_watched() -> anyhow::Result<()> {
    let (home, rules) = watching("watch-settings")?;
    let config = home.castellan().join("config/config.toml");
    std::fs::write(&config, "version = 1\nmode = \"monitor\"\n[tags]\ndeny = \"none\"\n")?;
    std::fs::write(&rules, RULES.replace("doubtful", "dubious"))?;
    wait_for_answer(&home, "dubious", "ask")?;
    kill_process(home.start_daemon()?, Signal::HUP)?;
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    let told = status(&home);
    assert_eq!((&told["mode"], &told["reload"]), (&json!("enforce"), &json!("watch")));
    assert_eq!(told["pending"], json!(["config.toml"]));
    Ok(())
}
