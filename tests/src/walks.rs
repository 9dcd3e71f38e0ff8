//! Walks: a person with castellan and the real Claude Code at a terminal, as a list of steps. The result is what the person sees.

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
    /// Starts Claude Code at each width; its model makes this call of the shell. Keeps the screens with a text. Then presses a key.
    Claude {
        /// The name of the screens.
        name: &'static str,
        /// The command that the model wants to run.
        call: &'static str,
        /// The text to wait for.
        until: &'static str,
        /// The key, by its name in tmux.
        key: &'static str,
    },
}

/// Takes the steps in a new home with castellan and Claude Code. Returns the screens, each with its name and width; `None` if Claude Code or
/// tmux is missing.
pub fn walk(name: &str, steps: &[Step]) -> Result<Option<Vec<(String, String)>>> {
    let Some(claude) = Agent::Claude.executable()? else { return Ok(None) };
    if !tmux::is_installed()? {
        return Ok(None);
    }
    let home = Home::at_steady_path(name)?;
    home.link("castellan")?;
    home.link("castellan-hook")?;
    symlink(claude, home.bin().join("claude"))?;
    attended::seed(&home)?;
    let mut screens = Vec::new();
    for step in steps {
        take(&home, *step, &mut screens).with_context(|| format!("{step:?}"))?;
    }
    Ok(Some(screens.into_iter().map(|(name, screen)| (name, steady(&home, &screen))).collect()))
}

fn take(home: &Home, step: Step, screens: &mut Vec<(String, String)>) -> Result<()> {
    let path = format!("{}:{}", home.bin().display(), std::env::var("PATH").unwrap_or_default());
    let environment = [("PATH", path), ("TZ", "UTC".to_owned()), ("NO_COLOR", "1".to_owned())];
    match step {
        Step::Write(file, text) => home.write(&home.user().join(file), text),
        Step::Run(command) => Tmux::start(home, &environment)?.run(command, 120).map(drop),
        Step::Show(name, command) => {
            let tmux = Tmux::start(home, &environment)?;
            for columns in WIDTHS {
                screens.push((format!("{name}_{columns}"), tmux.run(command, columns)?));
            }
            Ok(())
        }
        Step::Claude { name, call, until, key } => {
            for columns in WIDTHS {
                let model =
                    Model::start(Agent::Claude.api(), vec![Script::main([vec![Agent::Claude.shell(call)]])])?;
                let with_model =
                    environment.iter().cloned().chain(run::claude_environment(&model)).collect::<Vec<_>>();
                let tmux = Tmux::start(home, &with_model)?;
                tmux.resize(columns)?;
                tmux.type_line("clear; claude --permission-mode default go")?;
                screens.push((format!("{name}_{columns}"), tmux.wait(until)?));
                tmux.keys(key)?;
            }
            Ok(())
        }
    }
}

/// The screen with steady words in place of paths, ids, times and numbers that differ between runs. Keeps the width where it can.
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
    // Request ids are random.
    (r"\b[A-Z][0-9]{1,2}\b( {0,1})", "Z11"),
    (r"\d{4}-\d{2}-\d{2}( \d{2}:\d{2}(:\d{2})?)?", "2026-01-31"),
    (r"\b\d{2}-\d{2} \d{2}:\d{2}\b", "01-31 12:00"),
    (r"process \d+", "process 4242"),
    (r"\b[0-9a-f]{8,64}\b", "c0ffee"),
    (r"\b\d+(\.\d+)? (ms|µs|s|KiB|MiB|KB|MB|bytes)\b", "N $2"),
    (r"\d+ records?", "N records"),
];
