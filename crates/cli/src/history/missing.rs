//! Defects of a log: unreadable lines, missing records, unrecorded events. This module must not know the log's use.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::SystemTime;

use castellan_audit::{Broken, Entry, GapRecord, Record, RetentionRecord};
use serde_json::{Value as Json, json};

use crate::output::{WARNING, counted, printable};
use crate::times;

#[derive(Debug, Default)]
pub(crate) struct Missing {
    /// Older calls that the call limit excludes.
    pub(crate) calls_left_out: usize,
    /// Unreadable lines by reason: their number, and the place of the first.
    unreadable: BTreeMap<String, (usize, String)>,
    /// Missing sequence numbers without an explanation, and losses that castellan itself found.
    records_gone: u64,
    losses: Vec<String>,
    /// Gap records, in which hooks report unrecorded events, and the number of these events.
    gaps: usize,
    gap_events: u64,
    /// Calls that failed in castellan and have no call record.
    failures: usize,
    /// Start of the log, if retention deleted older records.
    begins: Option<SystemTime>,
    first: Option<SystemTime>,
    last_seq: u64,
    /// Missing sequence numbers: the numbers before and after each gap.
    holes: Vec<(u64, u64)>,
    /// Retention has deleted records up to this sequence number in each stream.
    cut: u64,
}

impl Missing {
    pub(super) fn add_unreadable(&mut self, broken: Broken) {
        let Broken { file, line, what } = broken;
        let (count, _) = self.unreadable.entry(what).or_insert_with(|| (0, format!("{file}:{line}")));
        *count += 1;
    }

    pub(super) fn add(&mut self, entry: &Entry, is_wanted: bool) {
        self.first.get_or_insert(entry.time);
        if entry.seq > self.last_seq.saturating_add(1) {
            self.holes.push((self.last_seq, entry.seq));
        }
        self.last_seq = entry.seq.max(self.last_seq);
        match &entry.record {
            Record::Retention(RetentionRecord { routine_cut, notable_cut, .. }) => {
                self.cut = self.cut.max(routine_cut.seq).max(notable_cut.seq);
            }
            Record::Recovery(recovery) if recovery.lost => self.losses.push(recovery.message.to_string()),
            Record::Gap(GapRecord { count, .. }) if is_wanted => {
                self.gaps += 1;
                self.gap_events += count;
            }
            Record::Failure(failure) if is_wanted && !failure.answer.is_empty() => self.failures += 1,
            Record::Call(_)
            | Record::Session(_)
            | Record::Control(_)
            | Record::Failure(_)
            | Record::Ungoverned(_)
            | Record::Gap(_)
            | Record::Recovery(_) => {}
        }
    }

    /// Completes the counts at the end of the log.
    pub(super) fn finish(&mut self, since: Option<SystemTime>) {
        let unreadable: usize = self.unreadable.values().map(|(count, _)| count).sum();
        let gone = self.holes.iter().map(|(before, after)| {
            let first = (*before).max(self.cut).saturating_add(1);
            after.saturating_sub(first)
        });
        // An unreadable line has a number too; it is reported only once.
        let gone: u64 = gone.sum();
        self.records_gone = gone.saturating_sub(unreadable as u64);
        let is_asked_for = |first: &SystemTime| since.is_none_or(|since| since < *first);
        self.begins = self.first.filter(|first| self.cut > 0 && is_asked_for(first));
    }

    /// Reports whether nothing is missing except by retention.
    pub(crate) fn is_nothing(&self) -> bool {
        self.calls_left_out == 0
            && self.unreadable.is_empty()
            && self.records_gone == 0
            && self.losses.is_empty()
            && self.gaps == 0
            && self.failures == 0
    }

    /// Returns a line for each kind of defect.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.calls_left_out > 0 {
            let older = counted(self.calls_left_out, "older call");
            lines.push(format!("{older} left out: `--limit` takes more"));
        }
        for (what, (count, place)) in &self.unreadable {
            let count = counted(*count, "line");
            lines.push(format!(
                "{count} of the log cannot be read, the first at {place}: {what}; see `castellan log verify`"
            ));
        }
        if self.records_gone > 0 {
            let gone = counted(self.records_gone, "record");
            lines.push(format!("{gone} missing from the log; see `castellan log verify`"));
        }
        lines.extend(self.losses.iter().map(|loss| format!("the log has lost records: {loss}")));
        if self.gaps > 0 {
            let events = counted(self.gap_events, "event");
            lines.push(format!("{events} that nobody recorded, for the daemon was away"));
        }
        if self.failures > 0 {
            let failed = counted(self.failures, "event");
            lines.push(format!(
                "{failed} that castellan failed on, which are no calls in the log; see `castellan log`"
            ));
        }
        if let Some(first) = self.begins {
            lines.push(format!(
                "the log begins at {}: what is older was deleted, as configured",
                times::local(first)
            ));
        }
        lines
    }

    /// Writes the lines below the output of a command.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let lines = self.lines();
        if !lines.is_empty() {
            writeln!(out)?;
        }
        lines.iter().try_for_each(|line| writeln!(out, "{WARNING} not in the log: {}", printable(line)))
    }

    pub(crate) fn json(&self) -> Json {
        let unreadable = self
            .unreadable
            .iter()
            .map(|(what, (count, place))| json!({ "why": what, "lines": count, "first": place }));
        json!({
            "calls_left_out": self.calls_left_out,
            "unreadable": unreadable.collect::<Vec<_>>(),
            "records_missing": self.records_gone,
            "losses": self.losses,
            "unrecorded_events": self.gap_events,
            "failures": self.failures,
            "begins": self.begins.map(times::utc),
        })
    }
}
