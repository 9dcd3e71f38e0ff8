//! `castellan suggest`: what the log says should change of the rules: what is asked and always approved, what never fires or too often,
//! what is not understood. It proposes and changes nothing.

mod exceptions;
mod findings;
mod show;

use std::io::Write;
use std::path::Path;
use std::time::SystemTime;

use castellan_daemon::{Layout, own_paths};

pub(crate) use self::findings::Suggestions;
use crate::exit::Exit;
use crate::global::Global;
use crate::history::{self, Missing, Part, Seen, Tally};
use crate::in_force::InForce;
use crate::limits::CALLS_READ;
use crate::progress::Progress;
use crate::values;

/// Options of `castellan suggest`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Calls from this time on: `2026-01-31T12:00:00Z`, or how long ago, `7d`
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
    let part = Part { since: options.since, calls_max: options.limit };
    let (tally, missing) = tally(global, &layout.log(), part)?;
    let suggestions = suggestions(global, &layout, part, &tally)?;
    let mut out = anstream::stdout();
    if options.json {
        let mut answer = suggestions.json();
        if let Some(answer) = answer.as_object_mut() {
            answer.insert("since".to_owned(), options.since.map(history::second).into());
            answer.insert("log".to_owned(), missing.json());
        }
        writeln!(out, "{answer:#}")?;
    } else {
        show::write(&mut out, &suggestions, global)?;
        missing.write(&mut out)?;
    }
    Ok(if missing.is_nothing() { Exit::Done } else { Exit::Incomplete })
}

/// Counts what became of the calls of a part of the log.
pub(crate) fn tally(global: &Global, log: &Path, part: Part) -> anyhow::Result<(Tally, Missing)> {
    let calls = history::count(log, part)?;
    let mut progress = Progress::begin(global, "read", calls.min(part.calls_max));
    let mut tally = Tally::default();
    let missing = history::read(log, part, calls, |Seen { entry, is_wanted }| {
        if is_wanted {
            let before = tally.calls;
            tally.add(&entry);
            (before..tally.calls).for_each(|_| progress.step());
        }
        Ok(())
    })?;
    Ok((tally, missing))
}

/// What follows from the counts for the rules in force. Exceptions are tried on the log before they are proposed.
pub(crate) fn suggestions(
    global: &Global,
    layout: &Layout,
    part: Part,
    tally: &Tally,
) -> anyhow::Result<Suggestions> {
    let in_force = InForce::read(layout)?;
    let policy = in_force.compile()?.policy;
    let candidates = exceptions::candidates(tally, &policy);
    let exceptions =
        exceptions::tried(global, &layout.log(), part, &in_force, own_paths(layout), candidates)?;
    Ok(Suggestions::of(tally, &policy, exceptions))
}
