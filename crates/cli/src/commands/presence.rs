//! `castellan presence`: configures the user presence check.

use crate::exit::Exit;
use crate::global::Global;
use crate::{ask, presence};

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
    let client = global.client()?;
    presence::require_before(|| client.set_pin(String::new()))?;
    client.check_listener()?;
    let new = ask::hidden("new PIN: ")?;
    if ask::hidden("again: ")? != new {
        global.note("the two are not the same: nothing was changed")?;
        return Ok(Exit::No);
    }
    client.set_pin(new)?;
    global.note("the PIN is set; it is asked for once `presence_check = \"pin\"` is applied")?;
    Ok(Exit::Done)
}
