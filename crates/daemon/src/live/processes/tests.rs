//! Reported unguarded agents, tested with programs that have an agent's name.

use std::io::ErrorKind;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::*;
use crate::live::sessions::tests::until_read;
use crate::presence;

/// A program that runs until it is dropped.
struct Runs {
    child: Child,
    _dir: tempfile::TempDir,
}

/// The way a process is identified as an agent's.
enum Named {
    /// By the name of the program.
    Program,
    /// By the name of its file, started through a symlink.
    File,
}

impl Runs {
    /// `with` can change the command, for example its user.
    fn new(named: &Named, arguments: &[&str], with: impl FnOnce(&mut Command)) -> Runs {
        let dir = tempfile::tempdir().unwrap();
        let all = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(dir.path(), all.clone()).unwrap();
        let program = dir.path().join("claude");
        let mut command = match named {
            Named::Program => {
                std::fs::write(&program, "#!/bin/sh\nread end\n").unwrap();
                Command::new(&program)
            }
            Named::File => {
                std::fs::copy(std::fs::canonicalize("/bin/sh").unwrap(), &program).unwrap();
                let other = dir.path().join("other");
                symlink(&program, &other).unwrap();
                let mut command = Command::new(other);
                command.args(["-c", "read end"]);
                command
            }
        };
        std::fs::set_permissions(&program, all).unwrap();
        command.args(arguments).env("CLAUDE_CONFIG_DIR", dir.path()).current_dir("/").stdin(Stdio::piped());
        with(&mut command);
        // While another test starts a program, the file just written may still be open for writing.
        let until = Instant::now() + Duration::from_secs(20);
        let child = loop {
            match command.spawn() {
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy && Instant::now() < until => {}
                spawned => break spawned.unwrap(),
            }
        };
        until_read(&child);
        Runs { child, _dir: dir }
    }

    /// Reports whether it is reported as an agent that does not ask.
    fn is_reported(&self, is_guarded: impl Fn(u32, u64) -> bool) -> bool {
        unguarded(&[], is_guarded).iter().any(|agent| agent.pid == self.child.id())
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}

/// Every process below an agent is its helper.
fn is_below_agent() -> bool {
    presence::is_own_within_agent()
}

#[test]
fn an_agent_that_does_not_ask_is_told_by_its_name_and_by_its_file() {
    if is_below_agent() {
        return;
    }
    for named in [Named::Program, Named::File] {
        let runs = Runs::new(&named, &[], |_| ());
        let (pid, own) = (runs.child.id(), std::process::id());
        let started = Process::read(pid).unwrap().started;
        assert!(runs.is_reported(|_, _| false));
        assert!(!runs.is_reported(|guarded, since| (guarded, since) == (pid, started)), "it asks");
        assert!(
            runs.is_reported(|guarded, since| (guarded, since) == (pid, started - 1)),
            "another one asked"
        );
        assert!(!runs.is_reported(|guarded, _| guarded == own), "it helps one that asks");
    }
}

#[test]
fn an_agent_that_was_started_with_its_hooks_on_is_not_told() {
    if is_below_agent() {
        return;
    }
    let reported = |settings: &str| {
        Runs::new(&Named::Program, &["--settings", settings], |_| ()).is_reported(|_, _| false)
    };
    assert!(!reported(r#"{"disableAllHooks":false}"#));
    assert!(reported(r#"{"disableAllHooks":true}"#));
}

#[test]
fn another_users_agent_is_not_told() {
    assert!(is_ours(std::process::id()));
    if !rustix::process::geteuid().is_root() {
        return assert!(!is_ours(1), "the first process is root's");
    }
    let runs = Runs::new(&Named::Program, &[], |command| {
        command.uid(65534).gid(65534);
    });
    assert!(!runs.is_reported(|_, _| false));
}
