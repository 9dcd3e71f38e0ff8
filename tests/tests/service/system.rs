//! castellan for the system, with two guarded users: an agent's own code tries to get rid of its guard, to read what is not
//! its user's, and to make the daemon read it.

mod installing;
mod rig;

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};

use anyhow::{Result, ensure};
use castellan_tests::machine::{ONE, TWO};
use castellan_tests::process::Finished;
use rustix::process::{Signal, kill_process, test_kill_process};

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
fn an_agents_code_cannot_end_the_daemon_or_take_its_place() -> Result<()> {
    let Some(rig) = Rig::installed()? else { return Ok(()) };
    assert_eq!(rig.ask(ONE, "echo forbidden")?.0, "deny");
    let pid = rig.daemon_pid(ONE)?;
    let (number, bin) = (pid.as_raw_nonzero(), rig.machine.home.bin().display().to_string());
    let run = format!("/run/castellan/{ONE}");
    let state = format!("/var/lib/castellan/{ONE}");
    for text in [
        format!("kill -9 {number}"),
        format!("kill -STOP {number}"),
        format!("cat /proc/{number}/environ"),
        format!("head -c 1 /proc/{number}/mem"),
        format!("ls /proc/{number}/fd"),
        format!("rm -f {run}/hook.sock; test ! -e {run}/hook.sock"),
        format!("mv {run} {run}.old"),
        format!("touch {run}/x"),
        "touch /run/castellan/x".to_owned(),
        format!("ln -s /tmp /var/lib/castellan/{ONE}.x"),
        format!("ls {state}"),
        format!("cat {state}/state/log/*"),
        format!("rm -rf {state}; test ! -e {state}"),
        format!("mv {state} {state}.old"),
        // The programs of the guard.
        format!("cat {bin}/castellan-reader"),
        // The same daemon again, as the agent's user.
        format!("'{bin}/castellan' daemon --home {state}"),
        format!("'{bin}/castellan' --home {state} stop"),
        format!("'{bin}/castellan' --home {state} restart"),
        format!("'{bin}/castellan' --home {state} mode monitor"),
        format!("'{bin}/castellan' --home {state} profile autonomous"),
        format!("'{bin}/castellan' --home {state} pause 10m"),
        format!("'{bin}/castellan' --home {state} config set default allow --yes"),
        format!("'{bin}/castellan' uninstall --managed"),
    ] {
        check_failed(&text, &rig.code(ONE, &text)?)?;
    }
    // A person of this user neither.
    for words in [
        &["mode", "monitor"][..],
        &["profile", "autonomous"],
        &["pause", "10m"],
        &["config", "set", "default", "allow", "--yes"],
    ] {
        let done = rig.person(ONE, words)?;
        ensure!(done.code.is_some_and(|code| code != 0), "{words:?}: {done:?}");
    }
    assert_eq!(rig.daemon_pid(ONE)?, pid);
    assert_eq!(rig.ask(ONE, "echo forbidden")?.0, "deny");
    let status = rig.status(ONE)?;
    assert_eq!((&status["mode"], &status["pause"]), (&"enforce".into(), &serde_json::Value::Null));
    let verified = rig.administer_for(ONE, &["log", "verify"])?;
    ensure!(verified.code == Some(0), "{verified:?}");
    Ok(())
}

#[test]
fn a_user_sees_nothing_of_another_one() -> Result<()> {
    let Some(rig) = Rig::installed()? else { return Ok(()) };
    // A person cannot lift an ask of the organisation.
    rig.configure(TWO, "version = 1\nask_wait = 300\nask = [\"Bash(echo curious)\"]\n")?;
    let waiting = rig.start_ask(TWO, "echo curious")?;
    let id = rig.pending(TWO)?;
    let home = format!("/var/lib/castellan/{TWO}");
    for words in [
        &["--home", &home, "status"][..],
        &["--home", &home, "pending"],
        &["--home", &home, "log"],
        &["--home", &home, "why", &id],
        &["--home", &home, "approve", &id, "--yes"],
        &["--home", &home, "halt", "--all"],
    ] {
        let done = rig.castellan(ONE, words)?;
        check_failed(&words.join(" "), &done)?;
        ensure!(!format!("{}{}", done.stdout, done.stderr).contains("curious"), "{done:?}");
    }
    // The same id at the own daemon.
    check_failed("approve", &rig.castellan(ONE, &["approve", &id, "--yes"])?)?;
    // Code of the call's own user is no person.
    check_failed("approve", &rig.castellan(TWO, &["approve", &id, "--yes"])?)?;
    assert_eq!(rig.pending(TWO)?, id);
    let approved = rig.person(TWO, &["approve", &id, "--yes"])?;
    ensure!(approved.code == Some(0), "{approved:?}");
    let done = waiting.finish(rig::LIMIT)?;
    assert_eq!(castellan_tests::hook::understood(&done), "allow", "{done:?}");
    // Another user's hook reaches the daemon's socket, and gets no answer.
    let hook = rig.machine.home.bin().join("castellan-hook").display().to_string();
    let words =
        [&hook, "--agent", "claude", "--event", "PreToolUse", "--home", &home].map(|word| word.to_owned());
    let payload = castellan_tests::hook::bash("echo fine").to_string();
    let done = rig.machine.run_as(ONE, &words, &payload)?;
    assert_eq!(castellan_tests::hook::understood(&done), "deny", "{done:?}");
    Ok(())
}

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

#[test]
fn a_hook_accepts_no_answer_of_another_user() -> Result<()> {
    let Some(rig) = Rig::installed()? else { return Ok(()) };
    let pid = rig.daemon_pid(ONE)?;
    kill_process(pid, Signal::KILL)?;
    ensure!(castellan_tests::wait::ended(pid, rig::LIMIT)?, "the daemon does not end");
    let (answer, told) = rig.ask(ONE, "echo fine")?;
    assert_eq!(answer, "deny");
    ensure!(told.contains("the daemon of this machine does not run"), "{told}");
    ensure!(rig.daemon_pid(ONE).is_err(), "a hook has started the daemon");
    // Somebody has given the folder of sockets away.
    let run = rig.run_of(ONE)?;
    let _was_there = fs::remove_file(run.join("hook.sock"));
    let listener = castellan_wire::bind(&run.join("hook.sock"))?;
    fs::set_permissions(run.join("hook.sock"), Permissions::from_mode(0o666))?;
    let (answer, told) = rig.ask(ONE, "echo fine")?;
    assert_eq!(answer, "deny");
    ensure!(told.contains("another program listens in the place of its daemon"), "{told}");
    drop(listener);
    chown(&run, Some(ONE), Some(ONE))?;
    let (answer, told) = rig.ask(ONE, "echo fine")?;
    assert_eq!(answer, "deny");
    ensure!(told.contains("another program listens in the place of its daemon"), "{told}");
    Ok(())
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
