//! `castellan import`: takes over the installation of another guard.

mod kit;

use crate::exit::Exit;
use crate::global::Global;

/// Subcommands of `castellan import`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Take over a coding-agents-kit or Prempti: its user rules, mode and hooks; `--undo` gives the hooks back
    Kit(kit::Options),
}

pub(crate) fn run(global: &Global, command: &Command) -> anyhow::Result<Exit> {
    match command {
        Command::Kit(options) => kit::run(global, options),
    }
}
