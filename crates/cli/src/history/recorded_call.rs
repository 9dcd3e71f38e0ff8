//! [`RecordedCall`]: a single call of the log.

use std::path::Path;
use std::time::SystemTime;

use anyhow::Context;
use castellan_audit::{CallRecord, Entry, Filter, Record};
use castellan_daemon::CANARY_TOOL;
use castellan_event::Verdict;

/// Records of each verdict that are read: many more than a person looks for, or than `castellan doctor` writes.
const SEARCHED: usize = 100;

#[derive(Debug)]
pub(crate) struct RecordedCall {
    /// Number of the record.
    pub(crate) seq: u64,
    pub(crate) time: SystemTime,
    pub(crate) call: CallRecord,
}

impl RecordedCall {
    /// Returns the last record of a request id (`K7`, in any case), or the record of a number.
    pub(crate) fn named(log: &Path, id: &str) -> anyhow::Result<RecordedCall> {
        let number: Option<u64> = id.parse().ok();
        let filter = match number {
            Some(_) => Filter::default(),
            None => Filter { request: Some(id.to_owned()), limit: Some(1), ..Filter::default() },
        };
        let found = calls(log, &filter)?.rfind(|found| number.is_none_or(|number| found.seq == number));
        found.with_context(|| {
            format!(
                "the log has no call `{id}`: `castellan log` shows requests, `--json` the numbers of records"
            )
        })
    }

    /// Returns the last calls that were asked about or denied, the oldest first, without the test calls of
    /// `castellan doctor`.
    pub(crate) fn stopped(log: &Path) -> anyhow::Result<Vec<RecordedCall>> {
        let mut stopped = Vec::new();
        for verdict in [Verdict::Ask, Verdict::Deny] {
            let verdict = Some(verdict.as_str().to_owned());
            let filter = Filter { verdict, limit: Some(SEARCHED), ..Filter::default() };
            stopped.extend(calls(log, &filter)?.filter(|found| found.call.tool_raw != CANARY_TOOL));
        }
        stopped.sort_by_key(|found| found.seq);
        Ok(stopped)
    }

    pub(crate) fn last_stopped(log: &Path) -> anyhow::Result<RecordedCall> {
        let last = RecordedCall::stopped(log)?.pop();
        last.context("the log has no call that was asked about or denied")
    }
}

fn calls(log: &Path, filter: &Filter) -> anyhow::Result<impl DoubleEndedIterator<Item = RecordedCall>> {
    let entries = castellan_audit::read(log, filter)?.entries;
    Ok(entries.into_iter().filter_map(|Entry { seq, time, record, .. }| {
        let Record::Call(call) = record else { return None };
        Some(RecordedCall { seq, time, call })
    }))
}
