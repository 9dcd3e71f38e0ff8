//! A command that keeps the caller's terminal: keys reach it, and job control works.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use castellan_sandbox::{Streams, run};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::world::{can, launcher, policy, world};

/// Seconds until a terminal must have shown a text.
const PATIENCE: Duration = Duration::from_secs(20);

/// A test of this program in a session with a new terminal.
struct Session {
    child: Child,
    keys: File,
    shown: String,
}

impl Session {
    /// The session's own programs ignore the key for an interrupt, as castellan does while a sandbox runs.
    fn start(test: &str) -> Option<Session> {
        let keys: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&keys).unwrap();
        unlockpt(&keys).unwrap();
        let name = ptsname(&keys, Vec::new()).unwrap().into_string().unwrap();
        let open = || File::options().read(true).write(true).open(&name).unwrap();
        let mut command = Command::new("setsid");
        command.args(["--ctty", "--wait", "sh", "-c", "trap '' INT; exec \"$@\"", "sh"]);
        command.arg(std::env::current_exe().unwrap()).args(["--exact", test, "--ignored", "--nocapture"]);
        // A terminal of its own from the start, before `setsid` takes it.
        let child = command
            .stdin(Stdio::from(open()))
            .stdout(Stdio::from(open()))
            .stderr(Stdio::from(open()))
            .spawn();
        match child {
            Ok(child) => Some(Session { child, keys: keys.into(), shown: String::new() }),
            Err(error) => {
                eprintln!("not tested: setsid cannot be started: {error}");
                None
            }
        }
    }

    /// Waits until the terminal has shown a text, and forgets what came before.
    fn wait_for(&mut self, text: &str) {
        let start = Instant::now();
        loop {
            if let Some(at) = self.shown.find(text) {
                self.shown.drain(..at + text.len());
                return;
            }
            assert!(start.elapsed() < PATIENCE, "no {text:?} in {:?}", self.shown);
            let mut keys = [PollFd::new(&self.keys, PollFlags::IN)];
            let second = Timespec { tv_sec: 1, tv_nsec: 0 };
            if poll(&mut keys, Some(&second)).unwrap() == 0 {
                continue;
            }
            let mut chunk = [0; 4096];
            // An error is the end of the session: nothing more comes.
            let read = self.keys.read(&mut chunk).unwrap_or(0);
            assert!(read > 0, "the session ended without {text:?}: {:?}", self.shown);
            self.shown.push_str(&String::from_utf8_lossy(chunk.get(..read).unwrap_or_default()));
        }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a command with the terminal of this test, at the full level. Returns its exit code.
fn with_terminal(command: &[&str]) -> u8 {
    let world = world();
    let mut policy = policy(&world);
    policy.terminal = true;
    policy.environment.push(("PS1".into(), "prompt> ".into()));
    let command: Vec<std::ffi::OsString> = command.iter().map(Into::into).collect();
    run(&policy, &can(), &command, &launcher(), Streams::inherit().unwrap(), false).unwrap().0.code
}

#[test]
fn a_key_interrupts_the_command() {
    let Some(mut session) = Session::start("terminal::inside_until_interrupted") else { return };
    session.wait_for("ready");
    session.press("\u{3}");
    session.wait_for("1 passed");
}

#[test]
#[ignore = "runs inside `a_key_interrupts_the_command`"]
fn inside_until_interrupted() {
    assert_eq!(with_terminal(&["sh", "-c", "echo ready; exec sleep 1000"]), 128 + 2);
}

#[test]
fn a_shell_controls_its_jobs() {
    let Some(mut session) = Session::start("terminal::inside_with_jobs") else { return };
    session.wait_for("prompt> ");
    // Its words differ from the typed ones, which the terminal shows too.
    session.press("perl -e '$| = 1; $SIG{CONT} = sub { print q(contin), q(ued) }; print q(star), q(ted); sleep 1 while 1'\n");
    session.wait_for("started");
    session.press("\u{1a}");
    session.wait_for("Stopped");
    session.wait_for("prompt> ");
    session.press("fg\n");
    session.wait_for("continued");
    session.press("\u{3}");
    session.wait_for("prompt> ");
    session.press("exit 7\n");
    session.wait_for("1 passed");
}

#[test]
#[ignore = "runs inside `a_shell_controls_its_jobs`"]
fn inside_with_jobs() {
    assert_eq!(with_terminal(&["bash", "--norc", "--noprofile", "--noediting", "-i"]), 7);
}
