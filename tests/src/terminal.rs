//! A person at a terminal: a command with its own controlling terminal.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use crate::home::Home;
use crate::process::{Finished, Running};

/// A question to a person appears at once; only a broken program needs this long.
const QUESTION_LIMIT: Duration = Duration::from_secs(20);

/// A program that runs at its own terminal.
#[derive(Debug)]
pub struct Session {
    controller: std::fs::File,
    running: Running,
    /// What the terminal has shown since the last expected text.
    shown: Vec<u8>,
}

impl Session {
    /// Waits until the terminal shows `text`, and types `answer`. Standard output appears there only if started with
    /// it.
    pub fn answer(&mut self, text: &str, answer: &str) -> Result<()> {
        self.expect(text)?;
        self.type_keys(answer)
    }

    /// Waits until the terminal shows `text`.
    pub fn expect(&mut self, text: &str) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        // The limit is for the whole wait: a screen with a clock shows something every second.
        let due = Instant::now() + QUESTION_LIMIT;
        loop {
            let mut windows = self.shown.windows(text.len());
            if let Some(at) = windows.position(|window| window == text.as_bytes()) {
                self.shown.drain(..at + text.len());
                return Ok(());
            }
            let mut watched = [PollFd::new(&self.controller, PollFlags::IN)];
            let limit = Timespec::try_from(due.saturating_duration_since(Instant::now()))?;
            if poll(&mut watched, Some(&limit))? == 0 {
                bail!("the terminal does not show `{text}`: {}", String::from_utf8_lossy(&self.shown));
            }
            let mut bytes = [0; 256];
            let count = self.controller.read(&mut bytes)?;
            self.shown.extend(bytes.iter().take(count));
        }
    }

    /// Types keys.
    pub fn type_keys(&mut self, keys: &str) -> Result<()> {
        Ok(self.controller.write_all(keys.as_bytes())?)
    }

    /// Changes the size of the terminal, which tells the program.
    pub fn resize(&self, rows: u16, columns: u16) -> Result<()> {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        Ok(tcsetwinsize(&self.controller, size)?)
    }

    /// Reports whether the terminal echoes and edits lines, as a shell expects it.
    pub fn is_as_a_shell_expects(&self) -> Result<bool> {
        let modes = tcgetattr(&self.controller)?.local_modes;
        Ok(modes.contains(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG))
    }

    /// Returns the terminal's output for another reader.
    pub(crate) fn output(&self) -> Result<std::fs::File> {
        Ok(self.controller.try_clone()?)
    }

    /// Waits until the program has ended.
    pub fn finish(self) -> Result<Finished> {
        let done = self.running.finish(crate::hook::HOOK_LIMIT);
        drop(self.controller);
        done.context("the command at a terminal does not end")
    }
}

/// Runs `castellan --home <home> ARGUMENTS` in its own session with a new controlling terminal.
pub fn run_castellan(home: &Home, arguments: &[&str]) -> Result<Finished> {
    start_castellan(home, arguments)?.finish()
}

/// Starts the same command.
pub fn start_castellan(home: &Home, arguments: &[&str]) -> Result<Session> {
    let castellan = home.bin().join("castellan");
    start(home, &castellan, &[&["--home", &home.castellan().display().to_string()], arguments].concat())
}

/// Runs a program in its own session with a new controlling terminal.
pub fn run(home: &Home, program: &Path, arguments: &[&str]) -> Result<Finished> {
    start(home, program, arguments)?.finish()
}

fn start(home: &Home, program: &Path, arguments: &[&str]) -> Result<Session> {
    start_in(home, program, arguments, &[])
}

/// Starts a program in its own session with a new controlling terminal, with more variables.
pub(crate) fn start_in(
    home: &Home,
    program: &Path,
    arguments: &[&str],
    environment: &[(&str, String)],
) -> Result<Session> {
    // `setsid --ctty` makes standard input the controlling terminal. castellan knows terminal owners by name.
    let mut command = home.command(&terminal_owner(home)?);
    command.envs(environment.iter().cloned());
    command.args(["--ctty", "--fork", "--wait"]).arg(program).args(arguments);
    start_at_one(&mut command)
}

/// Starts a command with a new terminal as its standard input. No program opens that terminal for a person.
pub fn start_at_one(command: &mut Command) -> Result<Session> {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&controller)?;
    unlockpt(&controller)?;
    let name = ptsname(&controller, Vec::new())?;
    let terminal = std::fs::OpenOptions::new().read(true).write(true).open(name.to_str()?)?;
    let running = Running::start_at(command, terminal)?;
    Ok(Session { controller: controller.into(), running, shown: Vec::new() })
}

/// Starts a command line in the same way, with the terminal also as its output and with this size.
pub fn start_on_screen(home: &Home, rows: u16, columns: u16, line: &[&str]) -> Result<Session> {
    let to_terminal = format!(r#"stty rows {rows} cols {columns} </dev/tty; exec "$@" >/dev/tty 2>&1"#);
    let arguments = [&["-c", to_terminal.as_str(), "sh"], line].concat();
    let environment = [("TERM", "xterm-256color".to_owned())];
    start_in(home, Path::new("sh"), &arguments, &environment)
}

/// Returns `setsid` under the name of a terminal. A separate process copies it, because an executable that is being
/// written while another thread forks cannot be started.
fn terminal_owner(home: &Home) -> Result<PathBuf> {
    let terminal_owner = home.bin().join("xterm");
    if !terminal_owner.exists() {
        // Two threads may start terminals at once.
        let own = tempfile::tempdir_in(home.bin())?;
        let copy = own.path().join("xterm");
        let copied = Command::new("cp").arg("/usr/bin/setsid").arg(&copy).status()?;
        ensure!(copied.success(), "`setsid` cannot be copied");
        std::fs::rename(copy, &terminal_owner)?;
    }
    Ok(terminal_owner)
}
