//! The log as a history: its entries in their order, and what it does not hold. It must not know what is looked for.

mod missing;
mod part_options;
mod tally;

use std::path::Path;
use std::time::SystemTime;

use anyhow::bail;
use castellan_audit::{Entry, Record, Scanned, scan};

pub(crate) use missing::{Missing, day, second};
pub(crate) use part_options::PartOptions;
pub(crate) use tally::{Ask, Fate, RuleCount, Tally, Verdicts};

/// Which part of the log is looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    /// Not before this time.
    pub(crate) since: Option<SystemTime>,
    /// Only the newest calls, so many.
    pub(crate) calls_max: usize,
}

/// An entry, and whether it is of the part that is looked at.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) entry: Box<Entry>,
    pub(crate) is_wanted: bool,
}

/// How many calls of the part there are; all of them, as many as they be.
pub(crate) fn count(log: &Path, part: Part) -> anyhow::Result<usize> {
    if !log.is_dir() {
        bail!("there is no log in `{}`: castellan has recorded nothing there yet", log.display());
    }
    let mut calls = 0;
    scan(log, |scanned| -> anyhow::Result<()> {
        if let Scanned::Entry(entry) = scanned {
            calls += usize::from(is_call(&entry) && part.is_after(entry.time));
        }
        Ok(())
    })?;
    Ok(calls)
}

/// Goes through the whole log. What is before the part is seen too, because later records may refer to it. `calls`: how many calls
/// of it there are.
pub(crate) fn read(
    log: &Path,
    part: Part,
    calls: usize,
    mut visit: impl FnMut(Seen) -> anyhow::Result<()>,
) -> anyhow::Result<Missing> {
    let mut left_out = calls.saturating_sub(part.calls_max);
    let mut missing = Missing::default();
    missing.calls_left_out = left_out;
    scan(log, |scanned| -> anyhow::Result<()> {
        match scanned {
            Scanned::Unreadable(broken) => missing.add_unreadable(broken),
            Scanned::Entry(entry) => {
                let is_after = part.is_after(entry.time);
                missing.add(&entry, is_after);
                let is_too_old = left_out > 0;
                if is_after && is_call(&entry) {
                    left_out = left_out.saturating_sub(1);
                }
                visit(Seen { entry, is_wanted: is_after && !is_too_old })?;
            }
        }
        Ok(())
    })?;
    missing.finish(part.since);
    Ok(missing)
}

fn is_call(entry: &Entry) -> bool {
    matches!(&entry.record, Record::Call(call) if !is_held(&call.answer))
}

/// Whether a record tells that its call waits for a person: when it is answered, another follows.
pub(crate) fn is_held(answer: &str) -> bool {
    answer == "hold"
}

impl Part {
    fn is_after(self, time: SystemTime) -> bool {
        self.since.is_none_or(|since| time >= since)
    }
}
