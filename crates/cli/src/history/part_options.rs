//! [`PartOptions`]: the command line options that select a part of the log.

use std::time::SystemTime;

use super::Part;
use crate::limits::CALLS_READ;
use crate::values;

/// Options of every command that reads the log as a history.
#[derive(Debug, clap::Args)]
pub(crate) struct PartOptions {
    /// Only calls since TIME: `2026-01-31T12:00:00Z`, or a duration before now such as `7d`
    #[arg(long, value_name = "TIME", value_parser = values::time)]
    pub(crate) since: Option<SystemTime>,

    /// Only the newest N calls
    #[arg(long, short = 'n', value_name = "N", default_value_t = CALLS_READ)]
    pub(crate) limit: usize,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl PartOptions {
    pub(crate) fn part(&self) -> Part {
        Part { since: self.since, calls_max: self.limit }
    }
}
