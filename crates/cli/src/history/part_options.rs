//! [`PartOptions`]: the command line options that select a part of the log.

use std::time::SystemTime;

use super::Part;
use crate::limits::CALLS_READ;
use crate::times;

/// Options of every command that reads the log as a history.
#[derive(Debug, clap::Args)]
pub(crate) struct PartOptions {
    /// Only calls since TIME: `7d`, `today`, `yesterday`, `2026-11-20`, `2026-11-20 14:00` or `2026-11-20T13:00:00Z`
    #[arg(long, value_name = "TIME", value_parser = times::parse)]
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
