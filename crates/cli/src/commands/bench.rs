//! `castellan bench`: measures the quality of rules and settings. Changes nothing.

mod accuracy;
mod review;

use crate::exit::Exit;
use crate::global::Global;

/// Subcommands of `castellan bench`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Measure the verdicts on labelled calls: missed dangers and needless interruptions
    Accuracy(accuracy::Options),
    /// Measure the reviewer of the settings: right answers, and attempts to steer it
    Review(review::Options),
}

pub(crate) fn run(global: &Global, command: &Command) -> anyhow::Result<Exit> {
    match command {
        Command::Accuracy(options) => accuracy::run(global, options),
        Command::Review(options) => review::run(global, options),
    }
}
