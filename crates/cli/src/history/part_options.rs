//! [`PartOptions`]: which part of the log a command looks at, as it is said on the command line.

use std::time::SystemTime;

use super::Part;
use crate::limits::CALLS_READ;
use crate::values;

/// The options of every command that looks at the log as a history.
#[derive(Debug, clap::Args)]
pub(crate) struct PartOptions {
    /// Calls from this time on: `2026-01-31T12:00:00Z`, or how long ago, `7d`
    #[arg(long, value_name = "TIME", value_parser = values::time)]
    pub(crate) since: Option<SystemTime>,

    /// At most so many calls, the newest
    #[arg(long, short = 'n', value_name = "N", default_value_t = CALLS_READ)]
    pub(crate) limit: usize,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl PartOptions {
    /// The part of the log that is meant.
    pub(crate) fn part(&self) -> Part {
        Part { since: self.since, calls_max: self.limit }
    }
}
