//! `castellan bench`: how good rules and settings are, measured. Changes nothing.

mod accuracy;

use crate::exit::Exit;
use crate::global::Global;

/// What can be measured.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Count what labelled calls are answered: what is let through that should not be, and how often it gets in the way
    Accuracy(accuracy::Options),
}

pub(crate) fn run(global: &Global, command: &Command) -> anyhow::Result<Exit> {
    match command {
        Command::Accuracy(options) => accuracy::run(global, options),
    }
}
