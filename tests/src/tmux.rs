//! A person at a real terminal: a shell in tmux, whose screen can be read at any width.

use std::cell::Cell;
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

/// The shell's prompt, with the number of the next command. A command has ended when the last line shows it.
const PROMPT: &str = r"walk \#$";

/// Agents need a few seconds to start.
const SCREEN_LIMIT: Duration = Duration::from_secs(60);

const COMMAND_LIMIT: Duration = Duration::from_secs(20);

const ROWS: u32 = 45;

/// A shell in tmux.
#[derive(Debug)]
pub(crate) struct Tmux<'h> {
    home: &'h Home,
    socket: PathBuf,
    /// Number of commands that were typed.
    typed: Cell<u32>,
    // The terminal that shows tmux: castellan takes a terminal of tmux for a person's only while one is attached.
    _shown: Session,
}

impl Tmux<'_> {
    /// Starts tmux with a shell in the workspace. `environment` is that of the shell.
    pub(crate) fn start<'h>(home: &'h Home, environment: &[(&str, String)]) -> Result<Tmux<'h>> {
        let socket = home.user().join("tmux");
        let named = socket.to_str().context("a path that is not UTF-8")?;
        // dash does not pass the prompt on.
        let shell = format!("PS1='{PROMPT} ' exec bash --norc");
        let attach = format!(
            r#"stty rows {ROWS} cols 120; exec tmux -f /dev/null -S '{named}' new-session "{shell}""#
        );
        let terminal = [("TERM", "xterm-256color".to_owned())];
        let environment: Vec<(&str, String)> =
            terminal.into_iter().chain(environment.iter().cloned()).collect();
        // Standard input is the terminal by its own name; tmux rejects `/dev/tty`.
        let arguments = ["-c", r#"exec sh -c "$0" >&0 2>&1"#, &attach];
        let shown = terminal::start_in(home, Path::new("sh"), &arguments, &environment)?;
        let output = shown.output()?;
        std::thread::spawn(move || drain(output));
        let tmux = Tmux { home, socket, typed: Cell::new(0), _shown: shown };
        tmux.wait_for_prompt()?;
        tmux.tmux(&["set-option", "status", "off"])?;
        Ok(tmux)
    }

    /// Runs a command on a clear screen, waits for its end, and returns the screen at a width.
    pub(crate) fn run(&self, command: &str, columns: u32) -> Result<String> {
        self.start_command(command, columns)?;
        self.wait_for_prompt()
    }

    /// Starts a command on a clear screen of a width.
    pub(crate) fn start_command(&self, command: &str, columns: u32) -> Result<()> {
        self.resize(columns)?;
        self.typed.set(self.typed.get() + 1);
        // tmux may pass a new size on after a while.
        let is_sized = format!(r#"until [ "$(stty size)" = '{ROWS} {columns}' ]; do :; done"#);
        self.tmux(&["send-keys", "-l", &format!("{is_sized}; clear; {command}")])?;
        self.tmux(&["send-keys", "Enter"]).map(drop)
    }

    /// Cancels a question, and presses Ctrl-C until the program in front has ended.
    pub(crate) fn interrupt(&self) -> Result<()> {
        let ended = || {
            let screen = self.screen()?;
            if self.has_ended(&screen) {
                return Ok(Some(()));
            }
            let key = if screen.contains("Esc to cancel") { "Escape" } else { "C-c" };
            self.tmux(&["send-keys", key]).map(|_pressed| None)
        };
        until(SCREEN_LIMIT, ended)?.with_context(|| self.failed("the program does not end"))
    }

    fn resize(&self, columns: u32) -> Result<()> {
        let (columns, rows) = (columns.to_string(), ROWS.to_string());
        self.tmux(&["resize-window", "-x", &columns, "-y", &rows]).map(drop)
    }

    /// Waits until the screen shows a text, and returns the screen.
    pub(crate) fn wait(&self, text: &str) -> Result<String> {
        let shows = || Ok(Some(self.screen()?).filter(|screen| screen.contains(text)));
        until(SCREEN_LIMIT, shows)?.with_context(|| self.failed(&format!("no `{text}` on the screen")))
    }

    fn wait_for_prompt(&self) -> Result<String> {
        let ended = || Ok(Some(self.screen()?).filter(|screen| self.has_ended(screen)));
        until(SCREEN_LIMIT, ended)?.with_context(|| self.failed("the command does not end"))
    }

    /// Returns true if the prompt for the next command is the last line.
    fn has_ended(&self, screen: &str) -> bool {
        let prompt = PROMPT.replace(r"\#", &(self.typed.get() + 1).to_string());
        screen.trim_end().lines().last().is_some_and(|last| last.trim() == prompt)
    }

    fn failed(&self, failure: &str) -> String {
        format!("{failure}:\n{}", self.screen().unwrap_or_default())
    }

    fn screen(&self) -> Result<String> {
        self.tmux(&["capture-pane", "-p"])
    }

    fn tmux(&self, arguments: &[&str]) -> Result<String> {
        let mut command = self.home.command(Path::new("tmux"));
        command.arg("-S").arg(&self.socket).args(arguments);
        // At the start there is no server yet.
        let mut failure = String::new();
        let done = until(COMMAND_LIMIT, || {
            let done = Running::start(&mut command)?.finish(COMMAND_LIMIT)?;
            failure.clone_from(&done.stderr);
            Ok((done.code == Some(0)).then_some(done.stdout))
        })?;
        done.with_context(|| format!("`tmux {}` fails: {failure}", arguments.join(" ")))
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
