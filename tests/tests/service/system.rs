//! castellan for the system, with two guarded users: an agent's own code tries to get rid of its guard, to read what is not
//! its user's, and to make the daemon read it.

mod attempts;
mod installing;
mod manager;
mod reader;
mod rig;

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use castellan_tests::machine::{ONE, TWO};
use castellan_tests::process::{Finished, Running};
use castellan_tests::wait;
use rustix::process::test_kill_process;

use self::rig::{DAEMON, Rig};

/// Checks that a text of an agent's code has failed.
fn check_failed(what: &str, done: &Finished) -> Result<()> {
    ensure!(done.code.is_some_and(|code| code != 0), "{what}: {done:?}");
    Ok(())
}

#[test]
fn each_user_is_guarded_and_the_level_is_told() -> Result<()> {
    let Some(rig) = Rig::installed()? else { return Ok(()) };
    for user in [ONE, TWO] {
        assert_eq!(rig.ask(user, "echo forbidden")?.0, "deny");
        assert_ne!(rig.ask(user, "echo fine")?.0, "deny");
        let status = rig.status(user)?;
        assert_eq!(status["system"], serde_json::json!({ "daemon": DAEMON, "user": user, "reader": "" }));
        // The user asks without naming a home.
        let own = rig.castellan(user, &["status", "--json"])?;
        let own: serde_json::Value = serde_json::from_str(&own.stdout)?;
        assert_eq!((&own["pid"], &own["system"]["user"]), (&status["pid"], &user.into()), "{own}");
    }
    Ok(())
}

#[test]
fn a_user_reads_copies_of_the_own_log_and_policy() -> Result<()> {
    let Some(rig) = Rig::installed()? else { return Ok(()) };
    assert_eq!(rig.ask(ONE, "echo forbidden one")?.0, "deny");
    assert_eq!(rig.ask(TWO, "echo forbidden two")?.0, "deny");
    for user in [ONE, TWO] {
        let log = rig.castellan(user, &["log", "--json"])?;
        ensure!(log.code == Some(0), "{log:?}");
        assert_eq!(log.stdout.contains("forbidden one"), user == ONE);
        assert_eq!(log.stdout.contains("forbidden two"), user == TWO);
    }
    let request = rig.records(ONE)?.iter().find_map(|one| Some(one["call"]["request"].as_str()?.to_owned()));
    for words in
        [&["why"][..], &["why", &request.unwrap_or_default()], &["rules", "list"], &["config", "show"]]
    {
        let done = rig.castellan(ONE, words)?;
        ensure!(done.code == Some(0), "{words:?}: {:?} {}", done.code, done.stderr);
    }
    let doctor = rig.castellan(ONE, &["doctor"])?.stdout;
    ensure!(doctor.contains("a test call was denied and recorded"), "{doctor}");
    // Codex is on the machine, and the test does not guard it.
    for doctor in [doctor, rig.administer_for(ONE, &["doctor"])?.stdout] {
        let mut bad = doctor.lines().filter(|line| line.contains('✗') && !line.contains("Codex"));
        ensure!(bad.next().is_none() && doctor.contains("✓  reader"), "{doctor}");
    }
    let left = fs::read_dir(rig.machine.home.temporary())?.count();
    assert_eq!(left, 0, "copies stay behind");
    Ok(())
}

/// A log may have hundreds of megabytes, and a prompt asks for the status.
#[test]
fn the_status_of_a_user_copies_nothing() -> Result<()> {
    let Some(rig) = Rig::installed()? else { return Ok(()) };
    // More than the daemon sends.
    let large = fs::File::create(rig.home_of(ONE)?.join("state/log/large.jsonl"))?;
    large.set_len(1 << 30)?;
    let log = rig.castellan(ONE, &["log"])?;
    check_failed("log", &log)?;
    let status = rig.castellan(ONE, &["status"])?;
    // Codex is on the machine, and the test does not guard it.
    let first = status.stdout.lines().next().unwrap_or_default();
    ensure!(first.starts_with("not protected: Codex: "), "{status:?}");
    let status = rig.castellan(ONE, &["status", "--json"])?;
    let status: serde_json::Value = serde_json::from_str(&status.stdout)?;
    let needs = status["needs"].as_array().context("no needs")?;
    ensure!(needs.iter().all(|need| need.to_string().contains("Codex")), "{needs:#?}");
    Ok(())
}

/// Asks twice for copies, reads one byte of each, and holds both.
const HOLDS: &str = "import signal, socket, sys
path, held = sys.argv[1:]
body = b'{\"version\":2,\"body\":\"own_files\"}'
frame = b'CSTL' + (1).to_bytes(2, 'little') + (4).to_bytes(2, 'little') + len(body).to_bytes(4, 'little') + body
streams = [socket.socket(socket.AF_UNIX) for _ in range(2)]
for stream in streams:
    stream.connect(path)
    stream.sendall(frame)
    assert stream.recv(1) == b'C'
open(held, 'w').close()
signal.pause()";

#[test]
fn slow_copies_of_an_agents_code_leave_room_for_the_person() -> Result<()> {
    let Some(rig) = Rig::installed()? else { return Ok(()) };
    assert_eq!(rig.ask(ONE, "echo forbidden")?.0, "deny");
    // More than a socket holds.
    let large = rig.home_of(ONE)?.join("state/projects/large");
    fs::File::create(&large)?.set_len(16 << 20)?;
    chown(&large, Some(DAEMON), Some(DAEMON))?;
    let held = rig.machine.user(ONE)?.join("held");
    let mut code = rig.machine.command_as(ONE, Path::new("timeout"));
    code.args(["60", "python3", "-c", HOLDS]).arg(format!("/run/castellan/{ONE}/control.sock")).arg(&held);
    let holds = Running::start(&mut code)?;
    ensure!(wait::file(&held, true, rig::LIMIT)?, "{:?}", holds.finish(rig::LIMIT));
    let log = rig.castellan(ONE, &["log"])?;
    check_failed("log", &log)?;
    ensure!(log.stderr.contains("too many commands copy the log"), "{log:?}");
    let log = rig.person(ONE, &["log", "--no-pager"])?;
    ensure!(log.code == Some(0) && log.stdout.contains("echo forbidden"), "{log:?}");
    drop(holds);
    Ok(())
}

/// The daemon reads a workspace's own files through the reader, and takes only those of the agent's user.
#[test]
fn a_person_trusts_a_workspace_with_its_files() -> Result<()> {
    let Some(rig) = Rig::installed()? else { return Ok(()) };
    let workspace = rig.machine.user(ONE)?.join("work");
    for folder in [workspace.join(".git"), workspace.join(".castellan")] {
        fs::create_dir_all(&folder)?;
        chown(&folder, Some(ONE), Some(ONE))?;
        fs::set_permissions(&folder, Permissions::from_mode(0o700))?;
    }
    let config = workspace.join(".castellan/config.toml");
    fs::write(&config, "version = 1\ndeny = [\"Bash(echo project)\"]\n")?;
    for path in [&workspace, &config] {
        chown(path, Some(ONE), Some(ONE))?;
        fs::set_permissions(path, Permissions::from_mode(0o700))?;
    }
    let text = workspace.display().to_string();
    check_failed("trust", &rig.castellan(ONE, &["trust", &text, "--yes"])?)?;
    let trusted = rig.person(ONE, &["trust", &text, "--yes"])?;
    ensure!(trusted.code == Some(0), "{trusted:?}");
    let asked = |session: &str| -> Result<String> {
        let mut call = castellan_tests::hook::bash("echo project");
        call["cwd"] = text.as_str().into();
        call["session_id"] = session.into();
        let done = rig.machine.run_as(ONE, &rig.machine.hook()?, &call.to_string())?;
        Ok(castellan_tests::hook::understood(&done))
    };
    assert_eq!(asked("trusted")?, "deny");
    // A file of another user is no file of the workspace's owner.
    chown(&config, Some(TWO), Some(TWO))?;
    fs::set_permissions(&config, Permissions::from_mode(0o644))?;
    check_failed("trust", &rig.person(ONE, &["trust", &text, "--yes"])?)
}

#[test]
fn a_daemon_that_was_ended_goes_on_with_its_state() -> Result<()> {
    let Some(rig) = Rig::installed()? else { return Ok(()) };
    assert_eq!(rig.ask(ONE, "echo forbidden")?.0, "deny");
    let before = rig.records(ONE)?.len();
    rig.restart_daemon(ONE)?;
    ensure!(test_kill_process(rig.daemon_pid(ONE)?).is_ok(), "no daemon");
    assert_eq!(rig.ask(ONE, "echo forbidden")?.0, "deny");
    ensure!(rig.records(ONE)?.len() > before);
    Ok(())
}
