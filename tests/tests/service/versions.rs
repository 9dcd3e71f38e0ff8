//! Versions of castellan: an install over an older one replaces its daemon and changes no registration, an older one goes
//! back only if it can read the state, and formats of versions before are read.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES, bash, judge, understood};
use castellan_tests::process::{Finished, Running};
use castellan_tests::terminal;
use rustix::process::{Signal, kill_process};
use serde_json::json;

use crate::rig::{LIMIT, call_meanwhile, status};

/// The version of this build, and one of the same length that is newer.
const THIS: &str = env!("CARGO_PKG_VERSION");
const NEWER: &str = "0.9.9";

/// Puts a castellan in the place of the home's: a copy whose version is `version`. It is the same program otherwise.
fn put(home: &Home, from: &Path, version: &str) -> Result<()> {
    assert_eq!(version.len(), THIS.len());
    let place = home.bin().join("castellan");
    // A separate process writes it, because an executable that is being written while another thread forks cannot be
    // started.
    let script = r#"LC_ALL=C sed "s/$1/$2/g" "$3" > "$4.new" && chmod 755 "$4.new" && mv "$4.new" "$4""#;
    let mut copy = Command::new("sh");
    copy.args(["-c", script, "sh", &THIS.replace('.', "[.]"), version]).arg(from).arg(place);
    let done = Running::start(&mut copy)?.finish(LIMIT)?;
    ensure!(done.code == Some(0), "{done:?}");
    Ok(())
}

fn install(home: &Home) -> Result<Finished> {
    terminal::run_castellan(home, &["install", "claude", "codex"])
}

fn settings(home: &Home) -> Result<[Vec<u8>; 2]> {
    Ok([fs::read(home.user().join(".claude/settings.json"))?, fs::read(home.codex().join("hooks.json"))?])
}

#[test]
fn an_install_of_a_newer_castellan_replaces_the_daemon_and_changes_no_registration() -> Result<()> {
    let home = Home::with_castellan("versions", ENFORCE, RULES)?;
    let built = fs::canonicalize(home.bin().join("castellan"))?;
    let original = home.bin().join("built");
    fs::rename(built, &original)?;
    put(&home, &original, THIS)?;
    install(&home)?;
    let registered = settings(&home)?;
    assert_eq!(status(&home)?["version"], THIS);
    put(&home, &original, NEWER)?;
    let calls = call_meanwhile(&home, || {
        // Without a person nothing is replaced.
        let command = format!(
            "{} --home {} install claude",
            home.bin().join("castellan").display(),
            home.castellan().display()
        );
        let mut alone = home.command(Path::new("sh"));
        let done = Running::start(alone.args(["-c", &command]))?.finish(LIMIT)?;
        ensure!(done.code == Some(6) && done.stderr.contains("still runs"), "{done:?}");
        ensure!(status(&home)?["version"] == THIS);
        let done = install(&home)?;
        ensure!(done.code == Some(0) && done.stdout.contains("daemon upgraded"), "{done:?}");
        ensure!(status(&home)?["version"] == NEWER, "{}", status(&home)?);
        Ok(())
    })?;
    calls.check_whole()?;
    // Codex trusts the hooks by the bytes of their command lines.
    assert_eq!(settings(&home)?, registered);
    // An install of the older one leaves the newer daemon alone.
    put(&home, &original, THIS)?;
    let done = install(&home)?;
    assert_eq!(done.code, Some(6), "{done:?}");
    assert!(done.stderr.contains(&format!("of the newer version {NEWER}, and goes on")), "{done:?}");
    assert_eq!(status(&home)?["version"], NEWER);
    assert_eq!(settings(&home)?, registered);
    // A person can go back while the formats are the same.
    assert_eq!(terminal::run_castellan(&home, &["restart"])?.code, Some(0));
    assert_eq!(status(&home)?["version"], THIS);
    Ok(())
}

/// Writes a file of a newer castellan while no daemon runs. castellan refuses the home, and hooks deny.
fn check_refused(file: &str, change: impl FnOnce(&str) -> String) -> Result<()> {
    let home = Home::with_castellan("downgrade", ENFORCE, RULES)?;
    let daemon = home.start_daemon()?;
    assert_eq!(understood(&judge(&home, &bash("ls"))?), "defer");
    kill_process(daemon, Signal::TERM)?;
    ensure!(castellan_tests::wait::ended(daemon, LIMIT)?, "the daemon lives on");
    let path = home.castellan().join("state").join(file);
    let before = fs::read_to_string(&path)?;
    let changed = change(&before);
    fs::write(&path, &changed)?;
    let done = terminal::run_castellan(&home, &["start"])?;
    assert_eq!(done.code, Some(7), "{file}: {done:?}");
    for part in ["of a newer castellan than this one", "install that castellan again", "move the file away"] {
        assert!(done.stderr.contains(part), "{file}: {done:?}");
    }
    assert_eq!(understood(&judge(&home, &bash("ls"))?), "deny", "{file}");
    assert_eq!(fs::read_to_string(&path)?, changed, "{file}: nothing is changed or set aside");
    // The newer castellan finds everything again.
    fs::write(&path, before)?;
    home.start_daemon()?;
    assert_eq!(understood(&judge(&home, &bash("ls"))?), "defer", "{file}");
    Ok(())
}

#[test]
fn state_and_log_of_a_newer_castellan_are_refused_and_left_alone() -> Result<()> {
    check_refused("journal", |text| text.replacen("\"castellan_journal\":", "\"castellan_journal\":9", 1))?;
    check_refused("log/routine.jsonl", |text| format!("{text}{{\"v\":3,\"type\":\"call\",\"seq\":99}}\n"))
}

#[test]
fn a_home_of_the_version_before_is_served() -> Result<()> {
    let home = Home::with_castellan("before", "version = 1\nprofile = \"strict\"\n", RULES)?;
    let state = home.castellan().join("state");
    let workspace = home.workspace().canonicalize()?.display().to_string();
    let rules = home.castellan().join("config/rules/user/test.yaml");
    // Journal 5, log 1 and applied set 1: the formats before.
    let set = json!({
        "version": 1,
        "config": "version = 1\nprofile = \"strict\"\n",
        "sources": [{ "name": rules, "text": RULES }],
    });
    for (file, text) in [
        ("journal", include_str!("before/journal").replace("WORKSPACE", &workspace)),
        ("log/head", include_str!("before/head").to_owned()),
        ("log/routine.jsonl", include_str!("before/routine.jsonl").to_owned()),
        ("log/notable.jsonl", include_str!("before/notable.jsonl").to_owned()),
        ("last-good/policy.json", set.to_string()),
    ] {
        home.write(&state.join(file), &text)?;
        fs::set_permissions(state.join(file), fs::Permissions::from_mode(0o600))?;
    }
    home.start_daemon()?;
    let found = status(&home)?;
    assert_eq!(found["policy_origin"], "current", "{found}");
    assert_eq!(found["halts"].as_array().map(Vec::len), Some(1), "{found}");
    let listed = home.run_castellan(&["trust", "--list", "--json"])?.stdout;
    let listed: serde_json::Value = serde_json::from_str(&listed)?;
    assert_eq!(listed["workspaces"], json!([{ "workspace": workspace, "trust": "trusted" }]));
    // The lines of the version before are read, and the new ones continue their chain.
    let records = home.records()?;
    let versions: Vec<_> = records.iter().map(|record| record["v"].as_u64()).collect();
    assert!(versions.contains(&Some(1)) && versions.contains(&Some(2)), "{versions:?}");
    home.run_castellan(&["log", "verify"])?;
    // They are handed over as well.
    assert_eq!(terminal::run_castellan(&home, &["restart"])?.code, Some(0));
    assert_eq!(status(&home)?["halts"].as_array().map(Vec::len), Some(1));
    Ok(())
}
