//! The reader of the users' files: it reads with the rights of the agent's user, for the daemon alone, and each call is denied
//! without it.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};

use anyhow::{Result, ensure};
use castellan_tests::machine::{ONE, TWO};
use rustix::process::{Signal, kill_process};

use super::attempts::check_not_attached;
use super::check_failed;
use super::rig::{DAEMON, Rig};

/// The daemon understands a script that the agent's user may read, and only that.
#[test]
fn the_daemon_reads_with_the_rights_of_the_agents_user() -> Result<()> {
    let Some(rig) = Rig::installed()? else { return Ok(()) };
    // castellan leaves this text to the agent, if it can read it.
    let text = "#!/bin/sh\necho fine\n";
    let folder = rig.machine.user(ONE)?.join("w");
    fs::create_dir_all(&folder)?;
    for (name, owner, mode, is_read) in [
        ("own.sh", ONE, 0o600, true),
        ("open.sh", TWO, 0o644, true),
        ("others.sh", TWO, 0o600, false),
        // The daemon's own rights would reach.
        ("daemons.sh", DAEMON, 0o400, false),
    ] {
        let file = folder.join(name);
        fs::write(&file, text)?;
        fs::set_permissions(&file, Permissions::from_mode(mode))?;
        chown(&file, Some(owner), Some(owner))?;
        let _answer = rig.ask(ONE, &format!("sh {}", file.display()))?;
        let record = rig.records(ONE)?.pop().unwrap_or_default();
        let of_contents = format!("contents {}", file.display());
        let world = record["call"]["world"].as_array().cloned().unwrap_or_default();
        let answer = world.iter().find(|one| one["query"] == of_contents.as_str());
        let answer = answer.map_or_else(String::new, |one| one["answer"].to_string());
        assert_eq!(answer != "\"none\"", is_read, "{name}: {record:#}");
        assert_eq!(record["call"]["verdict"], if is_read { "defer" } else { "ask" }, "{name}: {record:#}");
    }
    Ok(())
}

#[test]
fn without_the_reader_each_call_is_denied_and_no_hook_starts_it() -> Result<()> {
    let Some(mut rig) = Rig::installed()? else { return Ok(()) };
    assert_ne!(rig.ask(ONE, "echo fine")?.0, "deny");
    // The agent's user owns the process, so its code can kill it, which gains nothing.
    let number = rig.reader_pid(ONE)?.as_raw_nonzero();
    for text in [
        format!("cat /proc/{number}/environ"),
        format!("head -c 1 /proc/{number}/mem"),
        format!("ls /proc/{number}/fd"),
    ] {
        check_failed(&text, &rig.code(ONE, &text)?)?;
    }
    check_not_attached(&rig, ONE, rig.reader_pid(ONE)?)?;
    let killed = rig.code(ONE, &format!("kill -9 {number}"))?;
    ensure!(killed.code == Some(0), "{killed:?}");
    rig.end_reader(ONE);
    let (answer, told) = rig.ask(ONE, "echo fine")?;
    assert_eq!(answer, "deny");
    ensure!(told.contains("the user's files cannot be read"), "{told}");
    ensure!(rig.reader_pid(ONE).is_err(), "something has started a reader");
    assert_ne!(rig.status(ONE)?["system"]["reader"], "");
    assert_ne!(rig.ask(TWO, "echo fine")?.0, "deny", "the other user has another reader");
    rig.start_reader(ONE)?;
    assert_ne!(rig.ask(ONE, "echo fine")?.0, "deny");
    Ok(())
}

#[test]
fn a_stopped_reader_is_a_reader_that_is_gone() -> Result<()> {
    let Some(rig) = Rig::installed()? else { return Ok(()) };
    let pid = rig.reader_pid(ONE)?;
    kill_process(pid, Signal::STOP)?;
    let (answer, told) = rig.ask(ONE, "echo fine")?;
    kill_process(pid, Signal::CONT)?;
    assert_eq!(answer, "deny");
    ensure!(told.contains("the user's files cannot be read"), "{told}");
    assert_ne!(rig.ask(ONE, "echo fine")?.0, "deny");
    Ok(())
}

#[test]
fn only_the_daemon_asks_the_reader() -> Result<()> {
    let Some(rig) = Rig::installed()? else { return Ok(()) };
    for user in [ONE, TWO] {
        let socket = format!("/run/castellan/{ONE}/reader.sock");
        let connect = format!(
            "python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('{socket}')\" || exit 9"
        );
        let done = rig.code(user, &connect)?;
        ensure!(done.code == Some(9) && done.stderr.contains("Permission denied"), "{done:?}");
    }
    Ok(())
}
