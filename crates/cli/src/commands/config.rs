//! `castellan config`: what is configured, by which layer, and what is wrong with it. Changes nothing.

mod check;
mod schema;
mod show;

use crate::exit::Exit;
use crate::global::Global;

/// What can be looked at.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Show what counts of every key, as the files are now
    Show(show::Options),
    /// Find what is wrong in configuration files
    Check(check::Options),
    /// Print a JSON schema of the configuration, for editors
    Schema(schema::Options),
}

pub(crate) fn run(global: &Global, command: &Command) -> anyhow::Result<Exit> {
    match command {
        Command::Show(options) => show::run(global, options),
        Command::Check(options) => check::run(global, options),
        Command::Schema(options) => schema::run(options),
    }
}
