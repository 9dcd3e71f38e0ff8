//! `castellan report`: a week at a glance: what was decided, what asked most, how long calls waited, what ran ungoverned, and what should
//! change. It reads the log and changes nothing.

mod chart;
mod show;

use std::time::{Duration, SystemTime};

use crate::commands::suggest;
use crate::exit::Exit;
use crate::global::Global;
use crate::history::Part;
use crate::limits::CALLS_READ;
use crate::values;

/// Days of a report where nothing else is said.
const WEEK: Duration = Duration::from_secs(7 * 86_400);

/// Options of `castellan report`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The last seven days (the default)
    #[arg(long, conflicts_with = "since")]
    week: bool,

    /// From this time on: `2026-01-31T12:00:00Z`, or how long ago, `30d`
    #[arg(long, value_name = "TIME", value_parser = values::time)]
    since: Option<SystemTime>,

    /// At most so many calls, the newest
    #[arg(long, short = 'n', value_name = "N", default_value_t = CALLS_READ)]
    limit: usize,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    let now = SystemTime::now();
    let since = options.since.or_else(|| now.checked_sub(WEEK));
    let part = Part { since, calls_max: options.limit };
    let (tally, missing) = suggest::tally(global, &layout.log(), part)?;
    let suggestions = suggest::suggestions(global, &layout, part, &tally)?;
    let report = show::Report {
        tally: &tally,
        suggestions: &suggestions,
        missing: &missing,
        since: since.unwrap_or(SystemTime::UNIX_EPOCH),
        until: now,
    };
    let mut out = anstream::stdout();
    if options.json {
        report.write_json(&mut out)?
    } else {
        report.write(&mut out)?
    }
    Ok(if missing.is_nothing() { Exit::Done } else { Exit::Incomplete })
}
