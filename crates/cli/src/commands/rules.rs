//! `castellan rules`: looks at rule files and at the language. Changes nothing.

mod fields;
mod list;
mod validate;

use crate::exit::Exit;
use crate::global::Global;

/// What can be looked at.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Find what is wrong in rule files
    Validate(validate::Options),
    /// List the rules that are loaded
    List(list::Options),
    /// List the fields that a rule can name
    Fields(fields::Options),
}

pub(crate) fn run(global: &Global, command: &Command) -> anyhow::Result<Exit> {
    match command {
        Command::Validate(options) => validate::run(global, options),
        Command::List(options) => list::run(global, options),
        Command::Fields(options) => fields::run(options),
    }
}
