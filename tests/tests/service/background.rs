//! castellan's own supervising process: where there is no service manager, or none for this user.

use anyhow::{Context, Result};
use castellan_tests::process::processes_of;
use castellan_tests::wait;
use rustix::process::Pid;
use serde_json::json;

use crate::managed::{LIMIT, Rig};

/// Returns the supervising process of the home.
fn supervisor(rig: &Rig) -> Option<Pid> {
    let is_it = |pid: &Pid| {
        let line = std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_pid())).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|word| word == b"supervise")
    };
    processes_of(&rig.home.castellan()).into_iter().find(is_it)
}

fn check(rig: &Rig, note: &str) -> Result<()> {
    let shown = rig.ok(&["service", "install"])?;
    assert!(shown.contains(note), "{shown} lacks {note}");
    assert!(
        shown.contains("castellan's own process keeps the daemon running; nothing starts it at login"),
        "{shown}"
    );
    let (code, status) = rig.status()?;
    assert_eq!(
        (code, &status["manager"], &status["active"]),
        (Some(0), &json!("background"), &json!(true)),
        "{status}"
    );
    Ok(())
}

#[test]
fn a_daemon_that_ends_is_started_again() -> Result<()> {
    let rig = Rig::new("")?;
    check(&rig, "neither systemd nor launchd is on `PATH`")?;
    let mut killed = rig.kill_daemon()?;
    for _ in 0..2 {
        let next = rig.next_daemon(killed)?;
        assert_eq!(rig.forbidden()?, "deny");
        killed = rig.kill_daemon()?;
        assert_eq!(next, killed);
    }
    rig.next_daemon(killed)?;

    // After a deliberate stop nothing starts it.
    let process = supervisor(&rig).context("no supervisor")?;
    rig.person_ok(&["service", "stop"])?;
    assert!(wait::ended(process, LIMIT)? && rig.daemon()?.is_none());
    assert_eq!(rig.forbidden()?, "stopped");
    rig.ok(&["service", "start"])?;
    assert_eq!((rig.status()?.0, rig.forbidden()?), (Some(0), "deny".to_owned()));
    let process = supervisor(&rig).context("no supervisor")?;
    rig.person_ok(&["service", "uninstall"])?;
    assert!(wait::ended(process, LIMIT)?, "the supervisor does not end");
    assert_eq!(rig.forbidden()?, "deny", "the daemon runs on");
    Ok(())
}

#[test]
fn a_container_without_a_session_bus_has_castellans_own_process() -> Result<()> {
    let rig = Rig::with_systemctl("offline", "")?;
    check(
        &rig,
        "systemd has no manager for this user here, as in a container or after `su`: Failed to connect to bus",
    )?;
    let done = rig.run(&["service", "enable"])?;
    assert_eq!(done.code, Some(7));
    assert!(done.stderr.starts_with("error: nothing starts programs at login here"), "{}", done.stderr);
    Ok(())
}

/// A hook starts a daemon where none listens, and the supervisor must neither fight it nor give up.
#[test]
fn a_daemon_of_a_hook_is_left_alone_and_followed() -> Result<()> {
    let rig = Rig::new("")?;
    rig.ok(&["service", "install", "--background"])?;
    let killed = rig.kill_daemon()?;
    assert_eq!(rig.forbidden()?, "deny", "the hook starts a daemon, or the supervisor has");
    let next = rig.next_daemon(killed)?;
    assert_eq!(rig.kill_daemon()?, next);
    rig.next_daemon(next)?;
    Ok(())
}

#[test]
fn a_second_supervisor_does_nothing() -> Result<()> {
    let rig = Rig::new("")?;
    rig.ok(&["service", "install"])?;
    let first = supervisor(&rig).context("no supervisor")?;
    assert_eq!(rig.run(&["service", "supervise"])?.code, Some(5));
    rig.ok(&["service", "install"])?;
    assert_eq!(supervisor(&rig), Some(first));
    Ok(())
}
