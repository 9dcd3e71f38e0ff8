//! A pager for long output on a terminal. This module must not know the output.

use std::io::{IsTerminal, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anstream::{AutoStream, ColorChoice, StripStream};
use anyhow::bail;

use crate::exit;
use crate::output::printable;

/// Variables that name a pager, the first one first. An empty value or `cat` is no pager.
const VARIABLES: [&str; 2] = ["CASTELLAN_PAGER", "PAGER"];

/// Options of `less`: end if one screen suffices, pass colours on, leave the text on the screen.
const LESS_OPTIONS: &str = "-FRX";

/// Exit codes of a shell whose command is not executable, or not there.
const NOT_RUN: [i32; 2] = [126, 127];

/// Calls `write` with standard output, or with a pager if standard output is a terminal and `is_wanted`. Ends after the
/// pager.
pub(crate) fn with<T>(
    is_wanted: bool,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<T>,
) -> anyhow::Result<Option<T>> {
    let is_wanted = is_wanted && std::io::stdout().is_terminal();
    let Some((pager, name)) = is_wanted.then(start).flatten() else {
        return write(&mut anstream::stdout()).map(Some);
    };
    through(pager, &name, write)
}

/// Returns `None` if the person left the pager before the end.
fn through<T>(
    mut pager: Child,
    name: &str,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<T>,
) -> anyhow::Result<Option<T>> {
    // Ctrl-C is for the pager. Without a handler it would end this process, and leave the terminal to two programs.
    let ignored = signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::new(AtomicBool::new(false)))?;
    let is_coloured = AutoStream::choice(&std::io::stdout()) != ColorChoice::Never;
    let written = match pager.stdin.take() {
        Some(mut input) if is_coloured => write(&mut input),
        Some(input) => write(&mut StripStream::new(Box::new(input) as Box<dyn Write>)),
        None => bail!("the pager `{}` has no input", printable(name)),
    };
    let status = pager.wait()?;
    signal_hook::low_level::unregister(ignored);
    if status.code().is_some_and(|code| NOT_RUN.contains(&code)) {
        bail!("the pager `{}` cannot be run; `--no-pager` does without one", printable(name));
    }
    match written {
        Err(error) if exit::is_closed_pipe(&error) => Ok(None),
        written => written.map(Some),
    }
}

/// Starts the pager and returns it with its name. Returns `None` if no pager is wanted or there.
fn start() -> Option<(Child, String)> {
    let named = VARIABLES.iter().find_map(|name| std::env::var(name).ok());
    let name = named.as_deref().map_or("less", str::trim);
    if ["", "cat"].contains(&name) {
        return None;
    }
    let mut command = if named.is_some() {
        // A shell, because people write options and quotes into the variable.
        let mut shell = Command::new("sh");
        shell.args(["-c", name]);
        shell
    } else {
        Command::new("less")
    };
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", LESS_OPTIONS);
    }
    let pager = command.stdin(Stdio::piped()).spawn().ok()?;
    Some((pager, name.to_owned()))
}
