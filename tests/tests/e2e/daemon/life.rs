//! The daemon's life: one for each home, started by the first hook, stopped only by a person, open to a second session.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use castellan_tests::home::Home;
use castellan_tests::hook::{self, ENFORCE, RULES, bash, judge, understood};
use castellan_tests::process::Running;
use castellan_tests::terminal;
use castellan_tests::wait::{self, until};
use castellan_wire::{REPLY_BYTES_MAX, connect, read_frame};
use rustix::process::{Signal, kill_process};
use serde_json::json;

use super::{LIMIT, daemons, kill, status};

#[test]
fn fifty_hooks_at_once_make_a_home_and_start_one_daemon() -> anyhow::Result<()> {
    let home = Home::new("fifty")?;
    home.link("castellan")?;
    home.link("castellan-hook")?;
    let payload = bash("rm -rf /").to_string();
    let start =
        |_| Running::start_with_input(&mut hook::command(&home, "claude", "PreToolUse"), payload.as_bytes());
    let running: Vec<_> = (0..50).map(start).collect::<anyhow::Result<_>>()?;
    for hook in running {
        let done = hook.finish(LIMIT)?;
        assert_eq!(understood(&done), "deny");
        assert!(done.stdout.contains("castellan blocked this"), "not judged by a daemon: {done:?}");
    }
    assert_eq!(daemons(&home).len(), 1);
    assert_eq!(home.records()?.iter().filter(|record| record["type"] == "call").count(), 50);
    for (path, mode) in
        [("run", 0o700), ("run/hook.sock", 0o600), ("run/control.sock", 0o600), ("state/log", 0o700)]
    {
        let found = std::fs::metadata(home.castellan().join(path))?.permissions().mode() & 0o777;
        assert_eq!(found, mode, "{path}");
    }
    Ok(())
}

#[test]
fn a_second_daemon_leaves_the_first_alone_and_a_stale_socket_is_no_hindrance() -> anyhow::Result<()> {
    let home = Home::with_castellan("second", ENFORCE, RULES)?;
    let first = home.start_daemon()?;
    let mut second = home.command(&home.bin().join("castellan"));
    second.arg("daemon").arg("--home").arg(home.castellan());
    let done = Running::start(&mut second)?.finish(LIMIT)?;
    assert_eq!(done.code, Some(5), "{done:?}");
    assert_eq!(status(&home)["pid"], first.as_raw_nonzero().get());
    kill(first)?;
    assert!(home.castellan().join("run/hook.sock").exists());
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    assert_ne!(status(&home)["pid"], first.as_raw_nonzero().get());
    Ok(())
}

#[test]
fn sigterm_finishes_the_call_in_flight() -> anyhow::Result<()> {
    let home = Home::with_castellan("sigterm", ENFORCE, RULES)?;
    let pid = home.start_daemon()?;
    let bytes = hook::request_frame(&bash("forbidden"))?;
    let (half, rest) = bytes.split_at(bytes.len() / 2);
    let paths = castellan_wire::Home::new(home.castellan()).unwrap();
    let mut stream = connect(&paths.hook_socket())?;
    stream.write_all(half)?;
    kill_process(pid, Signal::TERM)?;
    // The daemon accepts no new calls after its socket is gone.
    assert!(wait::file(&paths.hook_socket(), false, LIMIT)?);
    stream.write_all(rest)?;
    let reply = castellan_wire::Reply::decode(&read_frame(&mut stream, REPLY_BYTES_MAX)?.body)?;
    assert!(String::from_utf8_lossy(&reply.stdout).contains("deny"));
    assert!(wait::ended(pid, LIMIT)?);
    Ok(())
}

#[test]
fn a_stop_needs_a_person_and_is_remembered() -> anyhow::Result<()> {
    let home = Home::with_castellan("stop", ENFORCE, RULES)?;
    let daemon = home.start_daemon()?;
    assert!(home.run_castellan(&["stop"]).is_err(), "stopped without a terminal");
    assert_eq!(understood(&judge(&home, &bash("ls"))?), "defer");
    let stopped = terminal::run_castellan(&home, &["stop"])?;
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    assert!(wait::ended(daemon, LIMIT)?);
    let denied = judge(&home, &bash("ls"))?;
    assert_eq!(understood(&denied), "deny");
    assert!(denied.stderr.contains("castellan blocked this: it is stopped"), "{denied:?}");
    assert_eq!(daemons(&home), []);
    home.start_daemon()?;
    assert_eq!(understood(&judge(&home, &bash("ls"))?), "defer");
    let records = home.records()?;
    let control: Vec<_> = records.iter().filter(|r| r["control"]["action"] == "stop").collect();
    let accepted: Vec<_> = control.iter().map(|record| &record["control"]["accepted"]).collect();
    assert_eq!(accepted, [&json!(false), &json!(true)]);
    Ok(())
}

#[test]
fn an_agent_cannot_loosen_even_with_a_terminal() -> anyhow::Result<()> {
    let home = Home::with_castellan("agent-loosens", ENFORCE, RULES)?;
    home.start_daemon()?;
    // A process with an agent's name and a terminal.
    let agent = home.bin().join("claude");
    let command = format!(
        "{} --home {} mode monitor\ntrue\n",
        home.bin().join("castellan").display(),
        home.castellan().display()
    );
    std::fs::copy("/bin/sh", &agent)?;
    let refused = terminal::run(&home, &agent, &["-c", &command])?;
    assert_eq!(status(&home)["mode"], "enforce", "{refused:?}");
    // Without the agent as an ancestor, the command is permitted.
    let done = terminal::run(&home, Path::new("/bin/sh"), &["-c", &command])?;
    assert_eq!(status(&home)["mode"], "monitor", "{done:?}");
    // Tightening needs no person.
    home.run_castellan(&["mode", "enforce"])?;
    assert_eq!(status(&home)["mode"], "enforce");
    let refusals = home.records()?;
    assert!(
        refusals.iter().any(|r| r["control"]["accepted"] == false && r["control"]["argument"] == "monitor")
    );
    Ok(())
}

#[test]
fn the_mode_is_switched_live_and_survives_a_restart() -> anyhow::Result<()> {
    let home = Home::with_castellan("mode", ENFORCE, RULES)?;
    let pid = home.start_daemon()?;
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    assert_eq!(terminal::run_castellan(&home, &["mode", "monitor"])?.code, Some(0));
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "defer");
    kill(pid)?;
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "defer");
    assert_eq!(terminal::run_castellan(&home, &["mode", "passthrough"])?.code, Some(0));
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "defer");
    let records = home.records()?;
    let calls = records.iter().filter(|record| record["type"] == "call");
    let verdicts: Vec<_> = calls
        .map(|r| format!("{} {} {}", r["call"]["verdict"], r["call"]["answer"], r["call"]["enforced"]))
        .collect();
    assert_eq!(
        verdicts,
        [
            r#""deny" "deny" true"#,
            r#""deny" "defer" false"#,
            r#""deny" "defer" false"#,
            r#""defer" "defer" true"#,
        ]
    );
    Ok(())
}

#[test]
fn an_overloaded_session_denies_only_itself() -> anyhow::Result<()> {
    let home = Home::with_castellan("overload", ENFORCE, RULES)?;
    home.start_daemon()?;
    let socket = castellan_wire::Home::new(home.castellan()).unwrap().hook_socket();
    // This test's parent process is the agent of these connections, and none of them sends a whole frame. The daemon
    // soon drops each of them, so a busy machine may need several rounds.
    let mut held = Vec::new();
    let closed = until(LIMIT, || {
        held = (0..32).map(|_| connect(&socket)).collect::<Result<Vec<_>, _>>()?;
        let mut one_more = connect(&socket)?;
        one_more.set_read_timeout(Some(Duration::from_secs(1)))?;
        Ok(matches!(read_frame(&mut one_more, REPLY_BYTES_MAX), Err(castellan_wire::WireError::Closed))
            .then_some(()))
    })?;
    assert!(closed.is_some(), "the connection over the limit was served");
    let other = judge(&home, &bash("ls"))?;
    assert_eq!(understood(&other), "defer");
    assert!(other.took < Duration::from_secs(5), "{other:?}");
    drop(held);
    Ok(())
}

#[test]
fn a_restart_among_hooks_that_start_a_daemon_succeeds() -> anyhow::Result<()> {
    let home = Home::with_castellan("restart-hooks", ENFORCE, RULES)?;
    home.start_daemon()?;
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let hooks: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| -> anyhow::Result<()> {
                    while !is_over.load(Ordering::SeqCst) {
                        assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
                    }
                    Ok(())
                })
            })
            .collect();
        let mut wrong = Vec::new();
        for round in 0..4 {
            for arguments in [&["restart"][..], &["start"], &["install", "--no-agents"]] {
                let before = status(&home)["pid"].clone();
                let done = terminal::run_castellan(&home, arguments)?;
                if done.code != Some(0) || (arguments == ["restart"] && status(&home)["pid"] == before) {
                    wrong.push(format!("{round} {arguments:?}: {done:?}"));
                }
            }
            for daemon in daemons(&home) {
                kill(daemon)?;
            }
            let done = terminal::run_castellan(&home, &["start"])?;
            if done.code != Some(0) {
                wrong.push(format!("{round} start after a kill: {done:?}"));
            }
        }
        is_over.store(true, Ordering::SeqCst);
        for hook in hooks {
            hook.join().unwrap()?;
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        Ok(())
    })
}

#[test]
fn a_home_that_cannot_be_written_is_named_as_such() -> anyhow::Result<()> {
    let home = Home::with_castellan("read-only", ENFORCE, RULES)?;
    kill(home.start_daemon()?)?;
    // As on a read-only medium: mounted over itself, in its own mount namespace.
    let below_read_only = |program: &Path, arguments: &[&str]| {
        let mut command = home.command(Path::new("unshare"));
        let flags: &[&str] = if rustix::process::geteuid().is_root() { &["-m"] } else { &["-r", "-m"] };
        let script =
            "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" || exit 99; shift; exec \"$@\"";
        command
            .args(flags)
            .args(["sh", "-c", script, "sh"])
            .arg(home.castellan())
            .arg(program)
            .args(arguments);
        command
    };
    let dir = home.castellan().display().to_string();
    let hook = ["--agent", "claude", "--event", "PreToolUse", "--home", &dir];
    let mut command = below_read_only(&home.bin().join("castellan-hook"), &hook);
    let call = bash("ls").to_string();
    let denied = Running::start_with_input(&mut command, call.as_bytes())?.finish(LIMIT)?;
    if denied.code == Some(99) {
        return castellan_tests::agents::not_run("no mount namespace");
    }
    assert!(
        understood(&denied) == "deny" && denied.stderr.contains("on a read-only file system"),
        "{denied:?}"
    );
    for arguments in [&["start"][..], &["install", "--no-agents"], &["restart"]] {
        let mut command =
            below_read_only(&home.bin().join("castellan"), &[&["--home", &dir], arguments].concat());
        let done = Running::start(&mut command)?.finish(LIMIT)?;
        let told = done.stderr.to_lowercase();
        assert!(done.code != Some(0) && told.contains("read-only file system"), "{arguments:?}: {done:?}");
    }
    Ok(())
}
