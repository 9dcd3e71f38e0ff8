//! `castellan report`: a week at a glance: verdicts, top asks, waiting times, ungoverned runs and proposed changes. It
//! reads the log and changes nothing.

mod change;
mod chart;
mod show;

use std::time::{Duration, SystemTime};

use crate::commands::suggest;
use crate::exit::Exit;
use crate::global::Global;
use crate::history::{Part, PartOptions};
use crate::in_force::InForce;
use crate::presence;

/// Default period of a report.
const WEEK: Duration = Duration::from_secs(7 * 86_400);

/// Options of `castellan report`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The last seven days (default)
    #[arg(long, conflicts_with = "since")]
    week: bool,

    #[command(flatten)]
    part: PartOptions,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    let now = SystemTime::now();
    let since = options.part.since.or_else(|| now.checked_sub(WEEK));
    let part = Part { since, ..options.part.part() };
    let (tally, missing) = suggest::tally(global, &layout.log(), part)?;
    let suggestions = suggest::suggestions(global, &layout, part, &tally)?;
    let config = InForce::read(&layout)?.config;
    let on_trial: Vec<(&str, SystemTime)> = config.packs.trial_ends().collect();
    let report = show::Report {
        tally: &tally,
        suggestions: &suggestions,
        on_trial: &on_trial,
        is_agent: presence::is_within_agent(layout.home()),
        missing: &missing,
        since: since.unwrap_or(SystemTime::UNIX_EPOCH),
        until: now,
    };
    let mut out = anstream::stdout();
    if options.part.json {
        report.write_json(&mut out)?
    } else {
        report.write(&mut out)?
    }
    Ok(if missing.is_nothing() { Exit::Done } else { Exit::Incomplete })
}
