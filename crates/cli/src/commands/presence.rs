//! `castellan presence`: configures the user presence check.

use crate::ask;
use crate::exit::Exit;
use crate::global::Global;

/// Subcommands of `castellan presence`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Set or change the PIN for `presence_check = "pin"`
    SetPin,
}

pub(crate) fn run(global: &Global, command: &Command) -> anyhow::Result<Exit> {
    match command {
        Command::SetPin => set_pin(global),
    }
}

fn set_pin(global: &Global) -> anyhow::Result<Exit> {
    if let Err(refused) = crate::presence::require_here() {
        // The daemon refuses too, and records the attempt.
        let _ = global.client()?.set_pin(String::new());
        return Err(refused);
    }
    global.client()?.check_listener()?;
    let new = ask::hidden("new PIN: ")?;
    if ask::hidden("again: ")? != new {
        global.note("the two are not the same: nothing was changed")?;
        return Ok(Exit::No);
    }
    global.client()?.set_pin(new)?;
    global.note("the PIN is set; it is asked for once `presence_check = \"pin\"` is applied")?;
    Ok(Exit::Done)
}
