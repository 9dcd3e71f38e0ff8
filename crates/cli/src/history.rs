//! The log as a history: entries in order, and the log's defects. This module must not know the purpose of the reading.

mod missing;
mod part_options;
mod recorded_call;
mod short_rule;
mod subject;
mod tally;

use std::path::Path;
use std::time::SystemTime;

use anyhow::bail;
use castellan_audit::{Entry, Record, Scanned, scan};

pub(crate) use missing::Missing;
pub(crate) use part_options::PartOptions;
pub(crate) use recorded_call::RecordedCall;
pub(crate) use short_rule::short_rule;
pub(crate) use subject::subject;
pub(crate) use tally::{Ask, Fate, RuleCount, Tally, Verdicts};

/// The part of the log to read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    /// Only calls since this time.
    pub(crate) since: Option<SystemTime>,
    /// Only this many calls, the newest.
    pub(crate) calls_max: usize,
}

/// An entry; `is_wanted` is true for entries of the selected part.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) entry: Box<Entry>,
    pub(crate) is_wanted: bool,
}

/// Counts the calls since the start of the part, without its limit.
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

/// Reads the whole log. Entries before the part are visited too, because later records may refer to them. `calls`: the
/// result of [`count`].
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

/// Reports whether a record is of a pending call. Another record follows when the call is answered.
pub(crate) fn is_held(answer: &str) -> bool {
    answer == "hold"
}

impl Part {
    fn is_after(self, time: SystemTime) -> bool {
        self.since.is_none_or(|since| time >= since)
    }
}
