//! Attempts of an agent that can write files to remove its guard: no attempt has an effect until a person has looked.

use std::path::Path;

use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, MONITOR, RULES, bash, call, judge, understood};
use castellan_tests::process::{Finished, Running};
use castellan_tests::terminal;
use rustix::process::{Signal, kill_process};
use serde_json::{Value as Json, json};

use super::{LIMIT, kill, status};

const RULES_FILE: &str = "config/rules/user/test.yaml";
const CONFIG: &str = "config/config.toml";
const APPLIED: &str = "state/last-good/policy.json";

/// Edits that would each permit a forbidden command. The third field is the answer, after the edit is applied, to a
/// call that castellan's own rules deny; only an edit of the mode changes it.
const EDITS: &[(&str, &str, &str)] = &[
    (CONFIG, MONITOR, "defer"),
    (CONFIG, "version = 1\nmode = \"passthrough\"\n", "defer"),
    (CONFIG, "version = 1\n[tags]\ndeny = \"none\"\n", "deny"),
    (CONFIG, "version = 1\n[rules]\nselect = [{disable = {rule = \"*\"}}]\n", "deny"),
    (CONFIG, "version = 1\n[rules]\nselect = [{disable = {tag = \"coding_agent_deny\"}}]\n", "deny"),
    (CONFIG, "version = 1\n[rules]\npriority = \"emergency\"\n", "deny"),
    (RULES_FILE, "", "deny"),
    (
        "config/rules/user/zz.yaml",
        "- rule: Test deny\n  enabled: false\n  override: {enabled: replace}\n",
        "deny",
    ),
];

/// Runs castellan, with any exit code.
pub(crate) fn castellan(home: &Home, arguments: &[&str]) -> anyhow::Result<Finished> {
    let mut command = home.command(&home.bin().join("castellan"));
    Running::start(command.arg("--home").arg(home.castellan()).args(arguments))?.finish(LIMIT)
}

/// Tries everything that an agent can do without a person to put edited files in force.
fn try_everything(home: &Home) -> anyhow::Result<()> {
    kill_process(home.start_daemon()?, Signal::HUP)?;
    assert_eq!(understood(&judge(home, &bash("forbidden"))?), "deny", "after SIGHUP");
    for arguments in [&["apply", "--yes"][..], &["apply"], &["restart"], &["mode", "monitor"], &["stop"]] {
        let mut command = home.command(Path::new("setsid"));
        command.arg("--wait").arg(home.bin().join("castellan")).arg("--home").arg(home.castellan());
        let refused = Running::start(command.args(arguments))?.finish(LIMIT)?;
        assert_eq!(refused.code, Some(4), "{arguments:?}: {refused:?}");
    }
    assert_eq!(understood(&judge(home, &bash("forbidden"))?), "deny", "after refusals");
    kill(home.start_daemon()?)?;
    assert_eq!(understood(&judge(home, &bash("forbidden"))?), "deny", "after a crash");
    Ok(())
}

#[test]
fn no_edit_counts_before_it_is_applied() -> anyhow::Result<()> {
    for (file, text, own) in EDITS {
        let home = Home::with_castellan("edit", ENFORCE, RULES)?;
        let daemon = home.start_daemon()?;
        home.write(&home.castellan().join(file), text)?;
        kill_process(daemon, Signal::HUP)?;
        assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny", "after SIGHUP: {text}");
        kill(daemon)?;
        assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny", "after a crash: {text}");
        let told = status(&home);
        assert_eq!(told["pending"].as_array().unwrap().len(), 1, "{told}");
        // With a person's consent the edit removes the guard.
        let done = terminal::run_castellan(&home, &["apply", "--yes"])?;
        assert_eq!(done.code, Some(0), "{done:?}");
        assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "defer", "{file}: {text}");
        assert_eq!(understood(&judge(&home, &call("castellan_canary", &json!({})))?), *own, "{file}: {text}");
    }
    Ok(())
}

#[test]
fn whoever_asks_for_it_is_refused_without_a_person() -> anyhow::Result<()> {
    let home = Home::with_castellan("edits", ENFORCE, RULES)?;
    home.start_daemon()?;
    home.write(&home.castellan().join(CONFIG), MONITOR)?;
    home.write(&home.castellan().join(RULES_FILE), "")?;
    try_everything(&home)?;
    let records = home.records()?;
    let applies = records.iter().filter(|record| record["control"]["action"] == "apply");
    let accepted: Vec<_> = applies.map(|record| &record["control"]["accepted"]).collect();
    assert_eq!(accepted, [&json!(false), &json!(false)]);
    Ok(())
}

#[test]
fn watching_has_to_be_applied_too() -> anyhow::Result<()> {
    let home = Home::with_castellan("edit-watch", ENFORCE, RULES)?;
    home.start_daemon()?;
    home.write(&home.castellan().join(CONFIG), "version = 1\n[rules]\nreload = \"watch\"\n")?;
    home.write(&home.castellan().join(RULES_FILE), "")?;
    try_everything(&home)?;
    assert_eq!(status(&home)["reload"], "apply");
    let shown = terminal::run_castellan(&home, &["apply", "--yes"])?;
    assert!(shown.stdout.contains("rule files will be watched"), "{shown:?}");
    assert_eq!(status(&home)["reload"], "watch");
    Ok(())
}

#[test]
fn an_agent_cannot_apply_even_with_a_terminal() -> anyhow::Result<()> {
    let home = Home::with_castellan("agent-applies", ENFORCE, RULES)?;
    home.start_daemon()?;
    home.write(&home.castellan().join(RULES_FILE), "")?;
    // A process with an agent's name and a terminal.
    let agent = home.bin().join("claude");
    std::fs::copy("/bin/sh", &agent)?;
    let command = format!(
        "{} --home {} apply --yes\n",
        home.bin().join("castellan").display(),
        home.castellan().display()
    );
    let refused = terminal::run(&home, &agent, &["-c", &format!("{command}true\n")])?;
    assert!(refused.stderr.contains("from within a guarded agent"), "{refused:?}");
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    let records = home.records()?;
    let refusals =
        records.iter().filter(|r| r["control"]["action"] == "apply" && r["control"]["accepted"] == false);
    assert_eq!(refusals.count(), 1, "{records:?}");
    // Without the agent as an ancestor, the command is permitted.
    terminal::run(&home, Path::new("/bin/sh"), &["-c", &command])?;
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "defer");
    Ok(())
}

#[test]
fn an_agent_that_ends_the_daemon_is_an_agent_to_the_next_one() -> anyhow::Result<()> {
    let home = Home::with_castellan("agent-restarts", ENFORCE, RULES)?;
    let daemon = home.start_daemon()?;
    home.write(&home.castellan().join(RULES_FILE), "")?;
    let payload = home.castellan().join("payload.json");
    home.write(&payload, &bash("ls").to_string())?;
    // castellan does not know the program's name.
    let agent = home.bin().join("helper");
    std::fs::copy("/bin/sh", &agent)?;
    let (bin, at) = (home.bin().display().to_string(), home.castellan().display().to_string());
    let script = |daemon: rustix::process::Pid, asks: &str| {
        let daemon = daemon.as_raw_nonzero();
        format!(
            "{asks}\nkill -9 {daemon}\nuntil {bin}/castellan --home {at} start; do :; done\n\
             {bin}/castellan --home {at} apply --yes\ntrue\n"
        )
    };
    let hook =
        format!("{bin}/castellan-hook --agent claude --event PreToolUse --home {at} < {}", payload.display());
    let refused = terminal::run(&home, &agent, &["-c", &script(daemon, &hook)])?;
    assert!(refused.stderr.contains("from within a guarded agent"), "{refused:?}");
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    // A program that has never asked is not an agent.
    let done = terminal::run(&home, &agent, &["-c", &script(home.start_daemon()?, "")])?;
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "defer", "{done:?}");
    Ok(())
}

/// Without a readable applied set nothing is in force, not even the files, which the agent may have written.
fn check_lost(name: &str, lose: fn(&Path) -> std::io::Result<()>) -> anyhow::Result<()> {
    let home = Home::with_castellan(name, ENFORCE, RULES)?;
    assert_eq!(understood(&judge(&home, &bash("ls"))?), "defer");
    home.write(&home.castellan().join(CONFIG), MONITOR)?;
    home.write(&home.castellan().join(RULES_FILE), "")?;
    lose(&home.castellan().join(APPLIED))?;
    assert!(status(&home)["problems"].to_string().contains("is not the one in force"), "{}", status(&home));
    kill(home.start_daemon()?)?;

    let denied = judge(&home, &bash("ls"))?;
    assert_eq!(understood(&denied), "deny", "{name}");
    assert!(!denied.stdout.contains("castellan apply"), "the agent reads what to do: {denied:?}");
    assert_eq!(understood(&judge(&home, &call("Read", &json!({"file_path": "/x"})))?), "defer", "{name}");
    let told = status(&home);
    assert_eq!((&told["policy_origin"], &told["mode"]), (&json!("missing"), &json!("enforce")), "{name}");
    assert!(told["problems"].to_string().contains("run `castellan apply`"), "{name}: {told}");
    let records = home.records()?;
    let said = |record: &&Json| record["failure"]["message"].to_string().contains("run `castellan apply`");
    assert_eq!(records.iter().filter(said).count(), 1, "{name}: {records:?}");

    let done = terminal::run_castellan(&home, &["apply", "--yes"])?;
    assert!(done.stdout.contains("nothing is in force: every file counts as new"), "{name}: {done:?}");
    assert_eq!(
        (&status(&home)["policy_origin"], &status(&home)["mode"]),
        (&json!("current"), &json!("monitor"))
    );
    Ok(())
}

#[test]
fn losing_the_applied_set_loosens_nothing() -> anyhow::Result<()> {
    check_lost("removed", |file| std::fs::remove_file(file))?;
    check_lost("torn", |file| std::fs::write(file, "{\"version\":1,\"config\":"))?;
    check_lost("of-the-future", |file| {
        std::fs::write(file, "{\"version\":2,\"config\":\"version = 1\",\"sources\":[]}")
    })?;
    check_lost("does-not-load", |file| {
        std::fs::write(file, "{\"version\":1,\"config\":\"version = 7\",\"sources\":[]}")
    })
}

#[test]
fn an_applied_set_that_somebody_else_wrote_is_seen_and_written_again() -> anyhow::Result<()> {
    let home = Home::with_castellan("forged", ENFORCE, RULES)?;
    home.start_daemon()?;
    let applied = home.castellan().join(APPLIED);
    let sound = std::fs::read_to_string(&applied)?;
    // The files match the forged set, so there seems to be nothing to apply.
    std::fs::write(&applied, sound.replace("forbidden", "nonsense"))?;
    home.write(&home.castellan().join(RULES_FILE), &RULES.replace("forbidden", "nonsense"))?;
    assert!(status(&home)["problems"].to_string().contains("is not the one in force"), "{}", status(&home));
    let shown = terminal::run_castellan(&home, &["apply", "--check"])?;
    assert_eq!(shown.code, Some(12), "{shown:?}");
    assert!(shown.stdout.contains("somebody else has changed it"), "{shown:?}");
    // After the files are restored, an apply or a change of the mode writes the applied set again.
    home.write(&home.castellan().join(RULES_FILE), RULES)?;
    assert_eq!(terminal::run_castellan(&home, &["apply", "--yes"])?.code, Some(0));
    assert_eq!(std::fs::read_to_string(&applied)?, sound);
    std::fs::write(&applied, sound.replace("forbidden", "nonsense"))?;
    assert_eq!(terminal::run_castellan(&home, &["mode", "monitor"])?.code, Some(0));
    home.run_castellan(&["mode", "enforce"])?;
    kill(home.start_daemon()?)?;
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    Ok(())
}

/// Replaces the applied set by one without the rule, and kills the daemon. Returns the original set.
fn forge(home: &Home, and: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<String> {
    let daemon = home.start_daemon()?;
    let applied = home.castellan().join(APPLIED);
    let sound = std::fs::read_to_string(&applied)?;
    std::fs::write(&applied, sound.replace("forbidden", "nonsense"))?;
    kill(daemon)?;
    and()?;
    Ok(sound)
}

fn failures(home: &Home) -> anyhow::Result<Vec<String>> {
    let records = home.records()?;
    let failures = records.iter().filter(|record| record["failure"]["code"] == "policy");
    Ok(failures.map(|record| record["failure"]["message"].to_string()).collect())
}

/// Returns the argument and the named files of each recorded start.
fn starts(home: &Home) -> anyhow::Result<Vec<(String, String)>> {
    let records = home.records()?;
    let starts = records.iter().filter(|record| record["control"]["action"] == "start");
    let text = |json: &Json| json.as_str().unwrap_or_default().to_owned();
    Ok(starts.map(|start| (text(&start["control"]["argument"]), text(&start["control"]["files"]))).collect())
}

#[test]
fn a_forged_applied_set_is_not_loaded_and_shows() -> anyhow::Result<()> {
    let home = Home::with_castellan("forged-start", ENFORCE, RULES)?;
    home.start_daemon()?;
    let files = status(&home)["applied"].as_str().unwrap().to_owned();
    let sound = forge(&home, || Ok(()))?;
    for command in ["forbidden", "ls"] {
        let denied = judge(&home, &bash(command))?;
        assert_eq!(understood(&denied), "deny", "{command}");
        assert!(!denied.stdout.contains("castellan apply"), "the agent reads what to do: {denied:?}");
    }
    let told = status(&home);
    assert_eq!((&told["policy_origin"], &told["applied"]), (&json!("missing"), &json!("")), "{told}");
    assert!(told["problems"].to_string().contains("somebody else has changed it"), "{told}");
    let failures = failures(&home)?;
    assert!(failures.len() == 1 && failures[0].contains("somebody else has changed it"), "{failures:?}");
    let doctor = castellan(&home, &["doctor"])?;
    assert!(doctor.code == Some(1) && doctor.stdout.contains("somebody else has changed it"), "{doctor:?}");
    // After another restart it is still not the set that was last in force.
    kill(home.start_daemon()?)?;
    assert_eq!(understood(&judge(&home, &bash("ls"))?), "deny");
    let starts = starts(&home)?;
    let [first, forged, again] = &starts[..] else { panic!("{starts:?}") };
    assert!(first.0.starts_with("first start, files as they are, policy "), "{first:?}");
    assert_eq!(first.1, files);
    for start in [forged, again] {
        assert!(start.0.starts_with("nothing in force") && start.1.is_empty(), "{start:?}");
    }
    assert!(castellan(&home, &["log"])?.stdout.contains(" start nothing in force, "));

    assert_eq!(terminal::run_castellan(&home, &["apply", "--yes"])?.code, Some(0));
    assert_eq!(std::fs::read_to_string(home.castellan().join(APPLIED))?, sound);
    kill(home.start_daemon()?)?;
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    assert_eq!(understood(&judge(&home, &bash("ls"))?), "defer");
    Ok(())
}

/// A limit of the protection: castellan loads a forged set if the log is removed too, but reports it.
#[test]
fn a_forged_applied_set_without_a_log_shows() -> anyhow::Result<()> {
    let home = Home::with_castellan("forged-no-log", ENFORCE, RULES)?;
    let log = home.castellan().join("state/log");
    forge(&home, || Ok(std::fs::remove_dir_all(log)?))?;
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "defer");
    let starts = starts(&home)?;
    assert!(starts.len() == 1 && starts[0].0.starts_with("applied set, not in the log, "), "{starts:?}");
    assert!(failures(&home)?[0].contains("somebody has removed it"), "{:?}", failures(&home));
    for command in ["status", "doctor"] {
        let shown = castellan(&home, &[command])?;
        assert!(shown.stdout.contains("the log does not say that the applied set"), "{shown:?}");
    }
    Ok(())
}

/// Every change of the applied set is logged; otherwise the next start would reject the set.
#[test]
fn every_change_of_the_applied_set_survives_a_start() -> anyhow::Result<()> {
    // Without `mode` in it, which a change of the mode adds.
    let home = Home::with_castellan("survives", ENFORCE, RULES)?;
    let check = |what: &str| -> anyhow::Result<()> {
        kill(home.start_daemon()?)?;
        home.start_daemon()?;
        let told = status(&home);
        assert_eq!(told["policy_origin"], "current", "{what}: {told}");
        assert!(starts(&home)?.last().unwrap().0.starts_with("applied set, policy "), "{what}");
        Ok(())
    };
    check("first start")?;
    assert_eq!(terminal::run_castellan(&home, &["mode", "monitor"])?.code, Some(0));
    check("milder mode")?;
    home.run_castellan(&["mode", "enforce"])?;
    check("stricter mode")?;
    // Stored, although it cannot be written to `config.toml`.
    home.write(&home.castellan().join(CONFIG), "mode = [")?;
    assert!(home.run_castellan(&["mode", "enforce"]).is_err());
    assert_ne!(terminal::run_castellan(&home, &["mode", "monitor"])?.code, Some(0));
    check("failed change of the mode")?;
    home.write(&home.castellan().join(CONFIG), ENFORCE)?;
    assert_eq!(terminal::run_castellan(&home, &["apply", "--yes"])?.code, Some(0));
    check("apply")?;
    home.write(&home.castellan().join(CONFIG), "version = 7")?;
    assert_ne!(terminal::run_castellan(&home, &["apply", "--yes"])?.code, Some(0));
    check("failed apply")?;
    assert_eq!(terminal::run_castellan(&home, &["restart"])?.code, Some(0));
    check("restart")
}

#[test]
fn a_change_of_the_mode_carries_no_edit_along() -> anyhow::Result<()> {
    let home = Home::with_castellan("mode-and-edit", ENFORCE, RULES)?;
    home.start_daemon()?;
    let edit = "version = 1\nmode = \"passthrough\"\n[tags]\ndeny = \"none\"\n";
    home.write(&home.castellan().join(CONFIG), edit)?;
    home.write(&home.castellan().join(RULES_FILE), "")?;
    assert_eq!(terminal::run_castellan(&home, &["mode", "monitor"])?.code, Some(0));
    kill(home.start_daemon()?)?;
    home.start_daemon()?;
    assert_eq!(status(&home)["mode"], "monitor", "the mode does not survive a restart");
    home.run_castellan(&["mode", "enforce"])?;
    kill(home.start_daemon()?)?;
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    let config = std::fs::read_to_string(home.castellan().join(CONFIG))?;
    assert_eq!(config, edit.replace("passthrough", "enforce"), "the edit still waits");
    Ok(())
}

#[test]
fn tightening_holds_though_it_cannot_be_kept() -> anyhow::Result<()> {
    let home = Home::with_castellan("tighten", MONITOR, RULES)?;
    home.start_daemon()?;
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "defer");
    // Written neither to `config.toml` nor to the applied set.
    home.write(&home.castellan().join(CONFIG), "mode = [")?;
    let applied = home.castellan().join(APPLIED);
    std::fs::remove_file(&applied)?;
    home.write(&applied.join("in-the-way"), "")?;
    assert!(home.run_castellan(&["mode", "enforce"]).is_err());
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    // A second request, with nothing in the way, is stored too.
    std::fs::remove_dir_all(&applied)?;
    home.write(&home.castellan().join(CONFIG), MONITOR)?;
    home.run_castellan(&["mode", "enforce"])?;
    kill(home.start_daemon()?)?;
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    Ok(())
}

#[test]
fn the_set_that_an_earlier_castellan_kept_is_in_force() -> anyhow::Result<()> {
    let home = Home::with_castellan("upgrade", MONITOR, "")?;
    let source = json!({"name": home.castellan().join(RULES_FILE), "text": RULES});
    let kept = json!({"version": 1, "config": ENFORCE, "sources": [source]});
    home.write(&home.castellan().join(APPLIED), &kept.to_string())?;
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    let starts = starts(&home)?;
    assert!(starts.len() == 1 && starts[0].0.starts_with("applied set, not in the log, "), "{starts:?}");
    let pending = status(&home)["pending"].to_string();
    assert!(
        pending.contains("\"user/test.yaml\"") && pending.contains("\"default/10-secrets.yaml\""),
        "{pending}"
    );
    Ok(())
}
