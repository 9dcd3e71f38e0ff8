//! A person at a real terminal: a shell in tmux, whose screen can be read at any width.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::home::Home;
use crate::process::Running;
use crate::terminal::{self, Session};
use crate::wait::until;

/// The shell's prompt. A command has ended when the last line shows it.
const PROMPT: &str = "walk$";

/// Agents need a few seconds to start.
const SCREEN_LIMIT: Duration = Duration::from_secs(60);

const COMMAND_LIMIT: Duration = Duration::from_secs(20);

const ROWS: u32 = 45;

/// A shell in tmux.
#[derive(Debug)]
pub(crate) struct Tmux<'h> {
    home: &'h Home,
    socket: PathBuf,
    // The terminal that shows tmux: castellan takes a terminal of tmux for a person's only while one is attached.
    _shown: Session,
}

impl Tmux<'_> {
    /// Starts tmux with a shell in the workspace. `environment` is that of the shell.
    pub(crate) fn start<'h>(home: &'h Home, environment: &[(&str, String)]) -> Result<Tmux<'h>> {
        let socket = home.user().join("tmux");
        let named = socket.to_str().context("a path that is not UTF-8")?;
        let attach = format!("stty rows {ROWS} cols 120; exec tmux -f /dev/null -S '{named}' new-session sh");
        let prompt = [("PS1", format!("{PROMPT} ")), ("TERM", "xterm-256color".to_owned())];
        let environment: Vec<(&str, String)> =
            prompt.into_iter().chain(environment.iter().cloned()).collect();
        // The terminal is both input and output.
        let arguments = ["-c", r#"exec sh -c "$0" </dev/tty >/dev/tty 2>&1"#, &attach];
        let shown = terminal::start_in(home, Path::new("sh"), &arguments, &environment)?;
        let output = shown.output()?;
        std::thread::spawn(move || drain(output));
        let tmux = Tmux { home, socket, _shown: shown };
        tmux.wait(PROMPT)?;
        tmux.tmux(&["set-option", "status", "off"])?;
        Ok(tmux)
    }

    /// Runs a command, waits for its end, and returns the screen at a width.
    pub(crate) fn run(&self, command: &str, columns: u32) -> Result<String> {
        self.resize(columns)?;
        self.tmux(&["send-keys", "-R", "clear", "Enter"])?;
        self.wait_for_prompt()?;
        self.type_line(command)?;
        self.wait_for_prompt()
    }

    /// Types a line without waiting for its end.
    pub(crate) fn type_line(&self, line: &str) -> Result<()> {
        self.tmux(&["send-keys", "-l", line])?;
        self.keys("Enter")
    }

    /// Presses a key, by its name in tmux.
    pub(crate) fn keys(&self, name: &str) -> Result<()> {
        self.tmux(&["send-keys", name]).map(drop)
    }

    pub(crate) fn resize(&self, columns: u32) -> Result<()> {
        let (columns, rows) = (columns.to_string(), ROWS.to_string());
        self.tmux(&["resize-window", "-x", &columns, "-y", &rows]).map(drop)
    }

    /// Waits until the screen shows a text, and returns the screen.
    pub(crate) fn wait(&self, text: &str) -> Result<String> {
        let shows = || Ok(Some(self.screen()?).filter(|screen| screen.contains(text)));
        until(SCREEN_LIMIT, shows)?
            .with_context(|| format!("no `{text}` on the screen:\n{}", self.screen().unwrap_or_default()))
    }

    fn wait_for_prompt(&self) -> Result<String> {
        let ended = || {
            let screen = self.screen()?;
            let last = screen.trim_end().lines().last().map(str::trim);
            Ok((last == Some(PROMPT)).then_some(screen))
        };
        until(SCREEN_LIMIT, ended)?
            .with_context(|| format!("no end of a command:\n{}", self.screen().unwrap_or_default()))
    }

    fn screen(&self) -> Result<String> {
        self.tmux(&["capture-pane", "-p"])
    }

    fn tmux(&self, arguments: &[&str]) -> Result<String> {
        let mut command = self.home.command(Path::new("tmux"));
        command.arg("-S").arg(&self.socket).args(arguments);
        // At the start there is no server yet.
        let done = until(COMMAND_LIMIT, || {
            let done = Running::start(&mut command)?.finish(COMMAND_LIMIT)?;
            Ok((done.code == Some(0)).then_some(done))
        })?;
        Ok(done.with_context(|| format!("`tmux {}` fails", arguments.join(" ")))?.stdout)
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        let _ended_already = self.tmux(&["kill-server"]);
    }
}

/// Reads what tmux draws, so that it never waits.
fn drain(mut output: File) {
    let mut bytes = [0; 4096];
    while output.read(&mut bytes).is_ok_and(|count| count > 0) {}
}

/// Returns true if tmux can be started; else a warning, which is an error with `CI=true`.
pub(crate) fn is_installed() -> Result<bool> {
    let is_there = Command::new("tmux").arg("-V").output().is_ok_and(|done| done.status.success());
    if !is_there {
        crate::agents::not_run("tmux is not installed")?;
    }
    Ok(is_there)
}
