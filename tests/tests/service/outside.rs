//! The copy of the record outside of the home: a fake journald gets it from a real daemon, and a fake `journalctl` gives it
//! to `castellan log verify`. The test plays an agent that hides what it did.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES, bash, judge, understood};
use castellan_tests::process::{Finished, Running};
use castellan_tests::wait;
use rustix::process::{Signal, kill_process};
use serde_json::{Value as Json, json};

use crate::rig::{LIMIT, status};

/// A machine with a fake journald.
struct Machine {
    home: Home,
    journal: UnixDatagram,
    /// The entries so far, as `journalctl` prints them.
    entries: PathBuf,
}

impl Machine {
    /// Returns `None` if the system permits no private `/run`.
    fn new(name: &str, config: &str) -> Result<Option<Machine>> {
        let mut home = Home::with_castellan(name, config, RULES)?;
        if !home.make_etc_private()? {
            return Ok(None);
        }
        let folder = home.make_run_private()?.join("systemd/journal");
        fs::create_dir_all(&folder)?;
        let journal = UnixDatagram::bind(folder.join("socket"))?;
        journal.set_nonblocking(true)?;
        let entries = home.user().join("entries");
        fs::write(&entries, "")?;
        let program = home.user().join("fake/journalctl");
        // It must get the filters: without them, other users' lines would be read.
        let uid = rustix::process::geteuid().as_raw();
        let script = format!(
            "#!/bin/sh\ncase \"$*\" in *'SYSLOG_IDENTIFIER=castellan _UID={uid}'*) cat '{}';; *) exit 9;; esac\n",
            entries.display()
        );
        home.write(&program, &script)?;
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
        Ok(Some(Machine { home, journal, entries }))
    }

    /// Stores what castellan has sent, as journald does, and returns the messages.
    fn receive(&self) -> Result<Vec<String>> {
        let mut buffer = [0; 8192];
        let mut messages = Vec::new();
        let mut all = fs::read_to_string(&self.entries)?;
        while let Ok(length) = self.journal.recv(&mut buffer) {
            let text = String::from_utf8(buffer.get(..length).context("a length")?.to_vec())?;
            let message =
                text.lines().find_map(|line| line.strip_prefix("MESSAGE=")).context("no MESSAGE")?;
            all.push_str(&format!("{}\n", json!({ "MESSAGE": message, "_UID": "0" })));
            messages.push(message.to_owned());
        }
        fs::write(&self.entries, all)?;
        Ok(messages)
    }

    fn verify(&self) -> Result<Finished> {
        let mut command = self.home.command(&self.home.bin().join("castellan"));
        let path = std::env::var("PATH")?;
        command.env("PATH", format!("{}:{path}", self.home.user().join("fake").display()));
        command.arg("--home").arg(self.home.castellan()).args(["log", "verify", "--json"]);
        Running::start(&mut command)?.finish(LIMIT)
    }

    fn log(&self) -> PathBuf {
        self.home.castellan().join("state/log")
    }

    /// Ends the daemon as an agent's code can.
    fn kill(&self) -> Result<()> {
        let pid = status(&self.home)?["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok());
        let pid = pid.and_then(rustix::process::Pid::from_raw).context("no pid")?;
        kill_process(pid, Signal::KILL)?;
        ensure!(wait::ended(pid, LIMIT)?, "the daemon lives on");
        Ok(())
    }

    /// Checks that nothing is wrong, and that the copy is known.
    fn check_whole(&self) -> Result<()> {
        let done = self.verify()?;
        ensure!(done.code == Some(0), "{done:?}");
        let found: Json = serde_json::from_str(&done.stdout)?;
        ensure!(found["outside"]["places"] == json!(["journalctl"]), "{found}");
        ensure!(found["outside"]["copies"].as_u64() > Some(2), "{found}");
        Ok(())
    }

    /// Checks that a problem with these words is found.
    fn check_found(&self, words: &str) -> Result<()> {
        let done = self.verify()?;
        ensure!(done.code == Some(1) && done.stdout.contains(words), "{words}: {done:?}");
        Ok(())
    }
}

/// A machine with a denial, an ask and an allowed call.
fn used(name: &str) -> Result<Option<Machine>> {
    let Some(machine) = Machine::new(name, ENFORCE)? else { return Ok(None) };
    machine.home.start_daemon()?;
    for (command, verdict) in [("echo forbidden secret", "deny"), ("ls", "defer"), ("echo doubtful", "ask")] {
        let done = judge(&machine.home, &bash(command))?;
        assert_eq!(understood(&done), verdict, "{done:?}");
    }
    assert_eq!(status(&machine.home)?["outside"]["to"], "journald");
    let messages = machine.receive()?;
    for part in
        ["\"verdict\":\"deny\"", "\"verdict\":\"ask\"", "\"rules\":[\"Test deny\"]", "\"session\":\"test\""]
    {
        assert!(messages.iter().any(|message| message.contains(part)), "{part}: {messages:?}");
    }
    let whole = messages.join("\n");
    for absent in ["echo", "secret", "the test denies", "/nowhere"] {
        assert!(!whole.contains(absent), "{absent}: {whole}");
    }
    machine.check_whole()?;
    Ok(Some(machine))
}

#[test]
fn a_deleted_home_is_found_by_the_copy_outside() -> Result<()> {
    let Some(machine) = used("outside")? else { return Ok(()) };
    machine.kill()?;
    fs::remove_dir_all(machine.home.castellan())?;
    machine.check_found("does not exist, but its copy in the system's log ends with record")?;
    // A new home in the same place has a log whose chains hold.
    machine.home.write(&machine.home.castellan().join("config/config.toml"), ENFORCE)?;
    machine.home.write(&machine.home.castellan().join("config/rules/user/test.yaml"), RULES)?;
    machine.home.start_daemon()?;
    machine.receive()?;
    machine.check_found("lines of the copy in the system's log")?;
    Ok(())
}

#[test]
fn a_log_that_was_cut_or_rewritten_with_its_chains_is_found() -> Result<()> {
    let Some(machine) = used("outside")? else { return Ok(()) };
    machine.kill()?;
    let read = |name: &str| fs::read_to_string(machine.log().join(name));
    let (notable, head) = (read("notable.jsonl")?, read("head")?);
    // The last record is cut off, and `head` says that the one before was the last.
    let mut lines: Vec<&str> = notable.lines().collect();
    let cut = lines.pop().context("no record")?;
    assert!(cut.contains("doubtful"), "{cut}");
    let last = lines.last().context("no record")?;
    write_notable(&machine, &lines, &with_last(&head, last)?)?;
    machine.check_found("notable: lines of the copy in the system's log are missing")?;
    // The denial is rewritten to name another command, and every later line with it.
    let mut forged: Vec<String> = Vec::new();
    for line in notable.lines() {
        let mut line = line.replace("echo forbidden secret", "echo harmless");
        if let Some(before) = forged.last() {
            let (start, rest) = line.split_once("\"prev\":\"").context("no chain")?;
            let rest = rest.get(64..).context("no hash")?;
            line = format!("{start}\"prev\":\"{}{rest}", sha256(before));
        }
        forged.push(line);
    }
    let last = forged.last().context("no record")?.clone();
    let lines: Vec<&str> = forged.iter().map(String::as_str).collect();
    write_notable(&machine, &lines, &with_last(&head, &last)?)?;
    let own = machine.verify()?;
    assert!(!own.stdout.contains("notable.jsonl:"), "the chain itself holds: {own:?}");
    machine.check_found("notable: lines of the copy in the system's log were changed")?;
    // The original is whole.
    write_notable(&machine, &notable.lines().collect::<Vec<_>>(), &head)?;
    machine.check_whole()
}

fn write_notable(machine: &Machine, lines: &[&str], head: &str) -> Result<()> {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(machine.log().join("notable.jsonl"), text)?;
    fs::write(machine.log().join("head"), head)?;
    Ok(())
}

/// Returns the text of `head` with another last line of the notable stream.
fn with_last(head: &str, line: &str) -> Result<String> {
    let mut head: Json = serde_json::from_str(head)?;
    let seq = serde_json::from_str::<Json>(line)?["seq"].clone();
    head["notable"] = json!({ "seq": seq, "hash": sha256(line) });
    Ok(head.to_string())
}

fn sha256(line: &str) -> String {
    use sha2::Digest as _;
    base16ct::lower::encode_string(&sha2::Sha256::digest(line.as_bytes()))
}

#[test]
fn the_copy_can_be_off_and_a_lost_journal_is_recorded_once_and_shown() -> Result<()> {
    let Some(off) = Machine::new("outside", "version = 1\n[log]\noutside = \"off\"\n")? else {
        return Ok(());
    };
    off.home.start_daemon()?;
    assert_eq!(understood(&judge(&off.home, &bash("echo forbidden"))?), "deny");
    assert_eq!((status(&off.home)?["outside"]["to"].clone(), off.receive()?), (json!("off"), Vec::new()));
    drop(off);
    let Some(machine) = used("outside")? else { return Ok(()) };
    let Machine { home, journal, .. } = machine;
    drop(journal);
    for _ in 0..3 {
        // The decision is the same, and the record is there.
        assert_eq!(understood(&judge(&home, &bash("echo forbidden"))?), "deny");
    }
    let failures = || -> Result<usize> {
        Ok(home.records()?.iter().filter(|record| record["failure"]["code"] == "outside").count())
    };
    let recorded = wait::until(LIMIT, || Ok((failures()? > 0).then_some(())))?;
    recorded.context("no failure is recorded")?;
    assert_eq!(understood(&judge(&home, &bash("echo forbidden"))?), "deny");
    assert_eq!(failures()?, 1);
    let shown = home.run_castellan(&["status"])?.stdout;
    assert!(
        shown.contains("the copy of the record in the system's log: journald does not take lines"),
        "{shown}"
    );
    Ok(())
}

#[test]
fn syslog_files_are_read_as_well() -> Result<()> {
    let Some(machine) = used("outside")? else { return Ok(()) };
    let text = fs::read_to_string(&machine.entries)?;
    let lines = text.lines().map(|line| -> Result<String> {
        let entry: Json = serde_json::from_str(line)?;
        let message = entry["MESSAGE"].as_str().context("no message")?;
        Ok(format!("2026-11-29T10:00:00+00:00 machine castellan[7]: {message}\n"))
    });
    let file = machine.home.user().join("syslog");
    fs::write(&file, lines.collect::<Result<String>>()?)?;
    machine.kill()?;
    fs::remove_dir_all(machine.log())?;
    let verify = |file: &Path, more: &[&str]| -> Result<Finished> {
        let mut command = machine.home.command(&machine.home.bin().join("castellan"));
        command.arg("--home").arg(machine.home.castellan()).args(["log", "verify", "--outside"]).arg(file);
        Running::start(command.args(more))?.finish(LIMIT)
    };
    let done = verify(&file, &[])?;
    ensure!(done.code == Some(1) && done.stdout.contains("does not exist, but its copy"), "{done:?}");
    // A person who has removed the log selects later copies.
    let done = verify(&file, &["--since", "9000-01-01"])?;
    ensure!(done.code == Some(7), "{done:?}");
    Ok(())
}
