//! Walks: a person with castellan and the real Claude Code at a terminal, as a list of steps. The result is the screens
//! of this person.

use std::os::unix::fs::symlink;

use anyhow::{Context, Result};
use regex::Regex;

use crate::agents::Agent;
use crate::attended;
use crate::home::Home;
use crate::model::{Model, Script};
use crate::run;
use crate::tmux::{self, Tmux};

/// Columns of the terminals that people have.
pub const WIDTHS: [u32; 3] = [60, 80, 120];

/// A step of a walk.
#[derive(Debug, Clone, Copy)]
pub enum Step {
    /// Writes a file below the user's home.
    Write(&'static str, &'static str),
    /// Runs a command of the shell.
    Run(&'static str),
    /// Runs a command at each width, and keeps its screens under a name.
    Show(&'static str, &'static str),
    /// Starts Claude Code at each width; its model makes this call of the shell. Keeps the screens
    /// with a text, and interrupts Claude Code.
    Claude {
        /// The name of the screens.
        name: &'static str,
        /// The command that the model wants to run.
        call: &'static str,
        /// The text to wait for.
        until: &'static str,
    },
}

/// Takes the steps in a new home with castellan and Claude Code. Returns the screens, each with its name and width;
/// `None` if Claude Code or tmux is missing.
pub fn walk(name: &str, steps: &[Step]) -> Result<Option<Vec<(String, String)>>> {
    let Some(claude) = Agent::Claude.executable()? else { return Ok(None) };
    if !tmux::is_installed()? {
        return Ok(None);
    }
    let home = Home::at_steady_path(name)?;
    home.link("castellan")?;
    home.link("castellan-hook")?;
    home.link("castellan-sandbox")?;
    symlink(claude, home.bin().join("claude"))?;
    attended::seed(&home)?;
    let path = format!("{}:{}", home.bin().display(), std::env::var("PATH").unwrap_or_default());
    let environment = [("PATH", path), ("TZ", "UTC".to_owned()), ("NO_COLOR", "1".to_owned())];
    let tmux = Tmux::start(&home, &environment)?;
    let mut screens = Vec::new();
    for step in steps {
        take(&home, &tmux, *step, &mut screens).with_context(|| format!("{step:?}"))?;
    }
    Ok(Some(screens.into_iter().map(|(name, screen)| (name, steady(&home, &screen))).collect()))
}

fn take(home: &Home, tmux: &Tmux<'_>, step: Step, screens: &mut Vec<(String, String)>) -> Result<()> {
    match step {
        Step::Write(file, text) => home.write(&home.user().join(file), text),
        Step::Run(command) => tmux.run(command, 120).map(drop),
        Step::Show(name, command) => {
            for columns in WIDTHS {
                let screen = tmux.run(command, columns)?;
                screens.push((format!("{name}_{columns}"), format!("$ {command}\n{screen}")));
            }
            Ok(())
        }
        Step::Claude { name, call, until } => {
            for columns in WIDTHS {
                let model =
                    Model::start(Agent::Claude.api(), vec![Script::main([vec![Agent::Claude.shell(call)]])])?;
                let variables = run::claude_environment(&model);
                let exports = variables.iter().map(|(name, value)| format!("export {name}={value}; "));
                tmux.run(&exports.collect::<String>(), columns)?;
                tmux.start_command("claude --permission-mode default go; clear", columns)?;
                screens.push((format!("{name}_{columns}"), tmux.wait(until)?));
                tmux.interrupt()?;
            }
            Ok(())
        }
    }
}

/// The screen with steady words in place of paths, ids, times and numbers that differ between runs. Keeps the width
/// where it can.
fn steady(home: &Home, screen: &str) -> String {
    let user = home.user().display().to_string();
    let mut text = screen.trim_end().replace(&user, "~");
    for (pattern, replacement) in DIFFERENT {
        text = match Regex::new(pattern) {
            Ok(pattern) => pattern.replace_all(&text, *replacement).into_owned(),
            Err(error) => format!("`{pattern}`: {error}"),
        };
    }
    let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    lines.map(|line| format!("{line}\n")).collect()
}

/// Patterns of text that differs between runs, with their replacements.
const DIFFERENT: &[(&str, &str)] = &[
    // Claude Code's logo, its lively line while it waits for the model, and its hints.
    (r"(?s)\A.*\n(?P<after>❯ go\n)", "$after"),
    (r"(?m)^\S \S+…( \(.*\))?\n", ""),
    (r"(?m)^✻ .*\n", ""),
    (r"(?m)^ +◐ .*\n", ""),
    (r"(?m)^  ⏸ .*\n", ""),
    (r"(?m)^[●○] A test", "  A test"),
    (r"(?m)^walk \d+\$", ""),
    // Request ids are random.
    (r"\b[A-Z]\d{1,2} +", "Z11 "),
    (r"\b[A-Z]\d{1,2}\b", "Z11"),
    (r"\d{4}-\d{2}-\d{2}( \d{2}:\d{2}(:\d{2})?)?", "2026-01-31"),
    (r"\b\d{2}-\d{2} \d{2}:\d{2}\b", "01-31 12:00"),
    (r"process \d+", "process 4242"),
    (r"\b[0-9a-f]{8,64}\b", "c0ffee"),
    (r"policy [0-9a-f]+…", "policy c0…"),
    (r"running for \d+s", "running for 4s"),
    (r"\b\d+(\.\d+)? (ms|µs|s|KiB|MiB|KB|MB|bytes)\b", "N $2"),
    (r"\b\d+ lines? +records \d+ to \d+", "N lines  records 1 to N"),
    (r"\b\d+ records?\b", "N records"),
    // Shipped rules come and go.
    (r"\b\d{2,} rules\b", "N rules"),
    (r"\b\d+ as before\b", "N as before"),
    (r"(\d{2}-\w+\.yaml):\d+", "$1:N"),
];
