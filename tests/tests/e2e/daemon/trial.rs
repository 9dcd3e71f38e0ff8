//! New rules from an upgrade: monitored only, reported with the end date, and enforced earlier on command.

use std::time::{Duration, SystemTime};

use anyhow::Context;
use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, bash, call, judge, understood};
use castellan_tests::process::{Finished, Running};
use serde_json::{Value as Json, json};

use super::{LIMIT, kill, status};

/// A shipped rule, and a command that it asks about.
const RULE: &str = "git/Ask before overwriting a remote branch";
const ASKED: &str = "git push --force";

/// Returns a home with a castellan that was just upgraded: the rule is on trial.
fn upgraded() -> anyhow::Result<Home> {
    let home = Home::with_castellan("trial", ENFORCE, "")?;
    kill(home.start_daemon()?)?;
    let file = home.castellan().join("state/last-good/policy.json");
    let mut set: Json = serde_json::from_str(&std::fs::read_to_string(&file)?)?;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_secs();
    *set.pointer_mut("/trial/rules").context("no trial")? = json!({ RULE: now });
    home.write(&file, &set.to_string())?;
    // The log would show that this set was not in force.
    std::fs::remove_dir_all(home.castellan().join("state/log"))?;
    home.start_daemon()?;
    assert_eq!(status(&home)["policy_origin"], "current", "{}", status(&home));
    Ok(home)
}

fn answer(home: &Home) -> anyhow::Result<String> {
    Ok(understood(&judge(home, &bash(ASKED))?))
}

/// Runs `castellan`, with any exit code.
fn run_castellan(home: &Home, arguments: &[&str]) -> anyhow::Result<Finished> {
    let mut command = home.command(&home.bin().join("castellan"));
    Running::start(command.arg("--home").arg(home.castellan()).args(arguments))?.finish(LIMIT)
}

/// Runs the same below a program with an agent's name.
fn run_below_agent(home: &Home, arguments: &[&str]) -> anyhow::Result<Finished> {
    let agent = home.user().join("claude");
    if !agent.exists() {
        std::os::unix::fs::symlink("/bin/sh", &agent)?;
    }
    let mut command = home.command(&agent);
    command.args(["-c", "\"$@\"; exit $?", "sh"]).arg(home.bin().join("castellan"));
    Running::start(command.arg("--home").arg(home.castellan()).args(arguments))?.finish(LIMIT)
}

#[test]
fn what_is_on_trial_is_named_and_ends_when_a_person_says_so() -> anyhow::Result<()> {
    let home = upgraded()?;
    assert_eq!(status(&home)["on_trial"], 1);
    assert_eq!(answer(&home)?, "defer");
    let end = SystemTime::now() + Duration::from_secs(14 * 24 * 60 * 60);
    // The test may run at midnight.
    let days: Vec<String> = [end - Duration::from_secs(600), end].map(day).into();
    for command in ["doctor", "report", "packs"] {
        let shown = run_castellan(&home, &[command])?.stdout;
        let line = shown.lines().find(|line| line.contains(RULE));
        let line = line.with_context(|| format!("{command} does not name it: {shown}"))?;
        assert!(days.iter().any(|day| line.contains(day)), "{command}: {line}: {days:?}");
    }
    // An agent receives only the number of rules.
    for arguments in [&["doctor"][..], &["report"], &["packs"], &["packs", "--json"], &["status", "--json"]] {
        let shown = run_below_agent(&home, arguments)?.stdout;
        assert!(!shown.contains(RULE) && !shown.contains("overwriting a remote"), "{arguments:?}: {shown}");
        assert!(
            shown.contains(if arguments.len() > 1 { "\"on_trial\": " } else { "1 rule" }),
            "{arguments:?}: {shown}"
        );
    }
    // This tightens, so it needs no person.
    let done = home.run_castellan(&["packs", "--enforce-new"])?;
    assert_eq!(done.stdout, "1 rule that an upgrade has brought: enforced from now on\n");
    assert_eq!(answer(&home)?, "ask");
    assert_eq!(status(&home)["on_trial"], 0);
    for command in ["doctor", "report", "packs"] {
        assert!(!run_castellan(&home, &[command])?.stdout.contains("new since an upgrade"), "{command}");
    }
    // The change survives the daemon, and no trial is left to end.
    kill(home.start_daemon()?)?;
    assert_eq!(answer(&home)?, "ask");
    let again = home.run_castellan(&["packs", "--enforce-new"])?;
    assert_eq!(again.stdout, "no rule is only observed because an upgrade has brought it\n");
    Ok(())
}

#[test]
fn calls_of_tools_that_are_not_known_are_counted() -> anyhow::Result<()> {
    let home = Home::with_castellan("unknown-tool", ENFORCE, "")?;
    home.start_daemon()?;
    assert_eq!(status(&home)["unknown_tools"], 0);
    for _ in 0..2 {
        assert_eq!(understood(&judge(&home, &call("Frobnicate", &json!({ "x": 1 })))?), "defer");
    }
    judge(&home, &bash("ls"))?;
    // The doctor's own call is not of an agent's tool.
    judge(&home, &call("castellan_canary", &json!({})))?;
    let status = status(&home);
    assert_eq!((&status["unknown_tools"], &status["last_unknown_tool"]), (&json!(2), &json!("Frobnicate")));
    let shown = run_castellan(&home, &["status"])?.stdout;
    assert!(
        shown.contains("2 calls of tools that castellan does not know; the last: `Frobnicate`"),
        "{shown}"
    );
    let report = run_castellan(&home, &["report"])?.stdout;
    assert!(report.contains("tools that castellan does not know, 2 calls"), "{report}");
    assert!(report.contains("     2  Frobnicate  claude_code"), "{report}");
    Ok(())
}

/// `2026-01-31`
fn day(time: SystemTime) -> String {
    // Uses the calendar of `date`, independent of the program under test, in the machine's zone: castellan gets no `TZ`.
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let mut date = std::process::Command::new("date");
    let shown = date.env_remove("TZ").args(["+%F", "-d", &format!("@{seconds}")]).output();
    shown.map(|shown| String::from_utf8_lossy(&shown.stdout).trim().to_owned()).unwrap_or_default()
}
