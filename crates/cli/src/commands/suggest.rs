//! `castellan suggest`: proposes rule changes from the log: asks that were always approved, rules that never or too
//! often fire, and Opaque calls. Changes nothing.

mod exceptions;
mod findings;
mod show;

use std::io::Write;
use std::path::Path;

use castellan_daemon::{Layout, own_paths};

pub(crate) use self::findings::Suggestions;
pub(crate) use self::show::FOR_A_PERSON;
use crate::exit::Exit;
use crate::global::Global;
use crate::history::{self, Missing, Part, PartOptions, Seen, Tally};
use crate::in_force::InForce;
use crate::presence;
use crate::progress::Progress;
use crate::times;

/// Options of `castellan suggest`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    part: PartOptions,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    let part = options.part.part();
    let (tally, missing) = tally(global, &layout.log(), part)?;
    let suggestions = suggestions(global, &layout, part, &tally)?;
    let is_agent = presence::is_within_agent(layout.home());
    let mut out = anstream::stdout();
    if options.part.json {
        let mut answer = if is_agent { suggestions.counts_json() } else { suggestions.json() };
        if let Some(answer) = answer.as_object_mut() {
            answer.insert("since".to_owned(), options.part.since.map(times::utc).into());
            answer.insert("log".to_owned(), missing.json());
        }
        writeln!(out, "{answer:#}")?;
    } else {
        if is_agent {
            show::write_counts(&mut out, &suggestions)?;
        } else {
            show::write(&mut out, &suggestions, global)?;
        }
        missing.write(&mut out)?;
    }
    Ok(if missing.is_nothing() { Exit::Done } else { Exit::Incomplete })
}

/// Counts the outcomes of the calls in a part of the log.
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

/// Derives suggestions for the rules in force. Each exception is tried on the log before it is proposed.
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
