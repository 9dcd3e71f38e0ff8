//! `castellan config`: shows the configuration with its layers and its errors, and changes one key.

mod check;
mod schema;
mod set;
mod show;

use crate::exit::Exit;
use crate::global::Global;

/// Subcommands of `castellan config`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Show the effective value of every key in the current files
    Show(show::Options),
    /// Check configuration files for errors
    Check(check::Options),
    /// Print a JSON schema of the configuration, for editors
    Schema(schema::Options),
    /// Set a key of your configuration, after showing the change
    Set(set::SetOptions),
    /// Remove a key from your configuration, so that its default applies
    Unset(set::UnsetOptions),
}

pub(crate) fn run(global: &Global, command: &Command) -> anyhow::Result<Exit> {
    match command {
        Command::Show(options) => show::run(global, options),
        Command::Check(options) => check::run(global, options),
        Command::Schema(options) => schema::run(options),
        Command::Set(options) => set::set(global, options),
        Command::Unset(options) => set::unset(global, options),
    }
}
