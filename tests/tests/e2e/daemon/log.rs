//! The daemon's behaviour when it cannot record, or cannot store its state.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use castellan_tests::agents::not_run;
use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES, bash, judge, run, understood};
use castellan_tests::process::Running;
use castellan_tests::terminal;
use castellan_tests::wait;
use rustix::process::geteuid;
use serde_json::{Value as Json, json};

use super::status;

#[test]
fn a_log_that_cannot_be_opened_denies() -> anyhow::Result<()> {
    let home = Home::with_castellan("no-log", ENFORCE, RULES)?;
    // A file in the place of the directory blocks root too.
    home.write(&home.castellan().join("state/log"), "")?;
    assert_eq!(understood(&judge(&home, &bash("ls"))?), "deny");
    let stderr = std::fs::read_to_string(home.castellan().join("run/daemon.stderr"))?;
    assert!(stderr.contains("state/log"), "the daemon does not say why: {stderr}");
    Ok(())
}

/// Runs the daemon in its own mount namespace, with its state on a file system of 512 KiB, except the folders in
/// `apart`. `None` if that is impossible.
fn start_cramped(home: &Home, apart: &[&str]) -> anyhow::Result<Option<Running>> {
    let state = home.castellan().join("state");
    let elsewhere = home.castellan().join("elsewhere");
    let mut script = "set -e; mount -t tmpfs -o size=512k,mode=700 castellan \"$1\"; ".to_owned();
    for name in apart {
        std::fs::create_dir_all(elsewhere.join(name))?;
        script.push_str(&format!("mkdir -m 700 \"$1/{name}\"; mount --bind \"$4/{name}\" \"$1/{name}\"; "));
    }
    script.push_str("exec \"$2\" daemon --home \"$3\"");
    std::fs::create_dir_all(&state)?;
    let mut command = home.command(Path::new("unshare"));
    // Without root, a user namespace gives the right to mount.
    command.args(if geteuid().is_root() { &["--mount"][..] } else { &["--mount", "--map-root-user"] });
    command.args(["--", "sh", "-c", &script, "sh"]);
    command.arg(&state).arg(home.bin().join("castellan")).arg(home.castellan()).arg(&elsewhere);
    let daemon = Running::start(&mut command)?;
    let socket = home.castellan().join("run/hook.sock");
    if !wait::file(&socket, true, Duration::from_secs(5))? {
        not_run("no private mount namespace: a full-disk test did not run")?;
        return Ok(None);
    }
    enter_with_hook(home)?;
    Ok(Some(daemon))
}

/// Puts a script in the place of the hook, which runs it in the daemon's mount namespace: the daemon denies the calls of a hook
/// that sees other mounts.
fn enter_with_hook(home: &Home) -> anyhow::Result<()> {
    let (hook, moved) = (home.bin().join("castellan-hook"), home.bin().join("moved-hook"));
    std::fs::rename(&hook, &moved)?;
    let daemon = pid_of(home);
    let user = if geteuid().is_root() {
        String::new()
    } else {
        format!("--preserve-credentials --user=/proc/{daemon}/ns/user ")
    };
    let enter = format!("nsenter {user}--mount=/proc/{daemon}/ns/mnt");
    std::fs::write(&hook, format!("#!/bin/sh\nexec {enter} -- {} \"$@\"\n", moved.display()))?;
    std::fs::set_permissions(&hook, Permissions::from_mode(0o755))?;
    Ok(())
}

/// The state in that daemon's mount namespace.
fn seen_state(home: &Home) -> PathBuf {
    PathBuf::from(format!("/proc/{}/root{}", pid_of(home), home.castellan().join("state").display()))
}

#[test]
fn a_full_disk_denies_and_loses_no_record() -> anyhow::Result<()> {
    let home = Home::with_castellan("full", ENFORCE, RULES)?;
    let Some(daemon) = start_cramped(&home, &[])? else { return Ok(()) };
    let long = format!("echo {}", "x".repeat(3000));
    let answers: Vec<_> = (0..120).map(|_| judge(&home, &bash(&long))).collect::<anyhow::Result<_>>()?;
    let words: Vec<_> = answers.iter().map(understood).collect();
    let kept = words.iter().take_while(|word| *word == "defer").count();
    assert!(kept > 10 && kept < 120, "{kept} of 120 were recorded");
    assert!(words[kept..].iter().all(|word| word == "deny"), "{words:?}");
    let full = "castellan failed: the call could not be recorded. Tell the user that the disk with castellan's log is full\n";
    assert_eq!(answers[kept].stderr, full);
    let last_failure = status(&home)["last_failure"].to_string();
    assert!(last_failure.contains("castellan's log is full: free some space"), "{last_failure}");
    let records = std::fs::read_to_string(seen_state(&home).join("log/routine.jsonl"))?;
    assert!(records.ends_with('\n'), "a torn line");
    assert_eq!(records.lines().filter(|line| line.contains("\"type\":\"call\"")).count(), kept);
    drop(daemon);
    Ok(())
}

const MARKS: &str = "
- rule: Test mark
  desc: d
  condition: tool.input_command contains secret
  output: the test marks
  priority: NOTICE
  source: coding_agent
  tags: [\"coding_agent_mark:secret\"]
";

/// The log is writable, but the daemon's state is not.
#[test]
fn what_cannot_be_kept_is_not_granted_and_not_let_run() -> anyhow::Result<()> {
    if !geteuid().is_root() {
        return not_run("from a user namespace, a daemon does not see who has opened a person's terminal");
    }
    let home = Home::with_castellan("full-state", ENFORCE, &format!("{RULES}{MARKS}"))?;
    let Some(daemon) = start_cramped(&home, &["log", "last-good", "projects"])? else { return Ok(()) };
    let waits = || {
        let asked = run(&home, "codex", "PreToolUse", bash("doubtful").to_string().as_bytes())?;
        Ok::<_, anyhow::Error>(understood(&asked))
    };
    let marks = |session: usize| {
        let mut call = bash("echo secret");
        call["session_id"] = session.to_string().into();
        judge(&home, &call)
    };
    let json = |arguments: &[&str]| -> anyhow::Result<Json> {
        Ok(serde_json::from_str(&home.run_castellan(arguments)?.stdout)?)
    };
    let nothing_is_loosened = || -> anyhow::Result<()> {
        assert_eq!(json(&["pending", "--granted", "--json"])?["granted"], json!([]));
        assert_eq!(json(&["trust", "--list", "--json"])?["workspaces"], json!([]));
        Ok(())
    };
    assert_eq!(waits()?, "deny");
    let approve = || {
        let waiting = json(&["pending", "--json"])?;
        let id = waiting["pending"][0]["id"].as_str().unwrap_or_default();
        terminal::run_castellan(&home, &["approve", id, "--always", "--yes"])
    };
    assert_eq!(understood(&marks(0)?), "defer");

    let filler = seen_state(&home).join("filler");
    let full = std::fs::write(&filler, vec![b'x'; 1024 * 1024]);
    assert!(full.is_err_and(|error| error.kind() == std::io::ErrorKind::StorageFull));
    // The journal's last page has room for some calls.
    let answers: Vec<_> = (1..60).map(marks).collect::<anyhow::Result<_>>()?;
    let kept = answers.iter().take_while(|answer| understood(answer) == "defer").count();
    assert!(answers[kept..].len() > 10, "{kept} calls were kept");
    for denied in &answers[kept..] {
        assert!(understood(denied) == "deny" && denied.stderr.contains("could not be noted"), "{denied:?}");
    }
    let last_failure = status(&home)["last_failure"].to_string();
    assert!(last_failure.contains("the disk is full: free some space"), "{last_failure}");
    let approved = approve()?;
    assert!(
        approved.code == Some(7) && approved.stderr.contains("see that the disk has free space"),
        "{approved:?}"
    );
    let workspace = home.workspace().display().to_string();
    let trusted = terminal::run_castellan(&home, &["trust", &workspace])?;
    assert!(
        trusted.code == Some(7) && trusted.stderr.contains("could not be stored: the disk is full"),
        "{trusted:?}"
    );
    nothing_is_loosened()?;
    assert_eq!(waits()?, "deny");

    // With free space, calls are judged normally again, but a change that was reported as failed has not been made.
    std::fs::remove_file(&filler)?;
    assert_eq!(understood(&marks(60)?), "defer");
    nothing_is_loosened()?;
    assert_eq!(waits()?, "deny");
    let approved = approve()?;
    assert_eq!(approved.code, Some(0), "{approved:?}");
    assert_eq!(waits()?, "defer");
    drop(daemon);
    Ok(())
}

fn pid_of(home: &Home) -> i64 {
    status(home)["pid"].as_i64().unwrap()
}
