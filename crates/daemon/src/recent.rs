//! [`Recent`]: the calls of about the last day, counted by quarters of an hour. A time zone begins its day at the begin of a
//! quarter, so a reader can sum the calls of its own day. It must not know a time zone.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use castellan_audit::{AuditError, CallRecord, Record, calls_since};
use castellan_event::Verdict;

use crate::control::{QuarterCalls, RecentCalls, VerdictCounts};
use crate::limits::{RECENT_BYTES_MAX, RECENT_QUARTERS};
use crate::record::WAITING;
use crate::shipped::CANARY_TOOL;

/// Seconds of a quarter of an hour.
const QUARTER_S: u64 = 900;

/// The counts.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// By the number of the quarter since 1970.
    quarters: BTreeMap<u64, VerdictCounts>,
    /// The log was read for the calls before this daemon.
    is_whole: bool,
}

impl Recent {
    /// Counts a record that was written now, if it is a call.
    pub(crate) fn add(&self, record: &Record, now: SystemTime) {
        match record {
            Record::Call(call) => self.lock().count(call, now),
            Record::Session(_)
            | Record::Control(_)
            | Record::Failure(_)
            | Record::Ungoverned(_)
            | Record::Gap(_)
            | Record::Retention(_)
            | Record::Recovery(_) => {}
        }
    }

    /// Counts the calls of the daemons before: those in the log up to the number `last`.
    pub(crate) fn fill(&self, log: &Path, last: u64, now: SystemTime) -> Result<(), AuditError> {
        let since = now.checked_sub(Duration::from_secs(QUARTER_S.saturating_mul(RECENT_QUARTERS)));
        let mut before = Inner::default();
        let count = |seq, time, call: &CallRecord| {
            if seq <= last {
                before.count(call, time);
            }
        };
        let is_whole = calls_since(log, since.unwrap_or(SystemTime::UNIX_EPOCH), RECENT_BYTES_MAX, count)?;
        let mut inner = self.lock();
        inner.is_whole = is_whole;
        for (quarter, counts) in before.quarters {
            let sum = inner.quarters.entry(quarter).or_default();
            sum.deny = sum.deny.saturating_add(counts.deny);
            sum.ask = sum.ask.saturating_add(counts.ask);
            sum.allow = sum.allow.saturating_add(counts.allow);
            sum.defer = sum.defer.saturating_add(counts.defer);
        }
        Ok(())
    }

    /// Returns the counts, the oldest first.
    pub(crate) fn calls(&self) -> RecentCalls {
        let inner = self.lock();
        let quarters = inner.quarters.iter().map(|(quarter, calls)| QuarterCalls {
            begin_s: quarter.saturating_mul(QUARTER_S),
            calls: calls.clone(),
        });
        RecentCalls { is_whole: inner.is_whole, quarters: quarters.collect() }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn count(&mut self, call: &CallRecord, time: SystemTime) {
        // A second record follows when a person has answered. The canary is castellan's own.
        if call.answer == *WAITING || call.tool_raw == *CANARY_TOOL {
            return;
        }
        let Ok(verdict) = call.verdict.parse::<Verdict>() else { return };
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let counts = self.quarters.entry(since.as_secs() / QUARTER_S).or_default();
        let count = match verdict {
            Verdict::Deny => &mut counts.deny,
            Verdict::Ask => &mut counts.ask,
            Verdict::Allow => &mut counts.allow,
            Verdict::Defer => &mut counts.defer,
        };
        *count = count.saturating_add(1);
        while u64::try_from(self.quarters.len()).is_ok_and(|len| len > RECENT_QUARTERS) {
            self.quarters.pop_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use castellan_audit::{Config, Log};

    use super::*;

    fn call(verdict: &str, answer: &str, tool: &str) -> Record {
        Record::Call(CallRecord {
            verdict: verdict.into(),
            answer: answer.into(),
            tool_raw: tool.into(),
            ..CallRecord::default()
        })
    }

    /// Returns the quarters as `begin: deny ask allow defer`.
    fn shown(recent: &Recent) -> Vec<String> {
        let text = |QuarterCalls { begin_s, calls: VerdictCounts { deny, ask, allow, defer } }| {
            format!("{begin_s}: {deny} {ask} {allow} {defer}")
        };
        recent.calls().quarters.into_iter().map(text).collect()
    }

    #[test]
    fn calls_of_earlier_daemons_and_of_this_one_are_counted_once() {
        let dir = tempfile::tempdir().unwrap();
        let at = |quarter: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(quarter * QUARTER_S + 1);
        let log = Log::open(dir.path(), Config::default(), at(10)).unwrap();
        let write = |quarter, record: &Record| log.append(record, at(quarter)).unwrap();
        write(10, &call("deny", "deny", "Bash"));
        write(200, &call("deny", "deny", "Bash"));
        write(200, &call("ask", "hold", "Bash"));
        write(200, &call("ask", "allow", "Bash"));
        write(201, &call("allow", "allow", CANARY_TOOL));
        let last = write(201, &call("defer", "defer", "Bash"));

        let recent = Recent::default();
        let new = call("allow", "allow", "Bash");
        write(201, &new);
        recent.add(&new, at(201));
        assert!(!recent.calls().is_whole);
        recent.fill(dir.path(), last, at(201)).unwrap();
        // The call of quarter 10 is more than a day old.
        assert_eq!(shown(&recent), ["180000: 1 1 0 0", "180900: 0 0 1 1"]);
        assert!(recent.calls().is_whole);
    }

    #[test]
    fn only_the_last_day_is_kept() {
        let recent = Recent::default();
        for quarter in 0..RECENT_QUARTERS + 5 {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(quarter * QUARTER_S);
            recent.add(&call("deny", "deny", "Bash"), time);
        }
        let quarters = recent.calls().quarters;
        assert_eq!(quarters.len() as u64, RECENT_QUARTERS);
        assert_eq!(quarters.first().map(|quarter| quarter.begin_s), Some(5 * QUARTER_S));
    }
}
