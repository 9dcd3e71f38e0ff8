//! [`RecordedCall`]: a single call of the log.

use std::path::Path;
use std::time::SystemTime;

use anyhow::{Context, bail};
use castellan_audit::{CallRecord, Entry, Filter, Record};
use castellan_daemon::CANARY_TOOL;
use castellan_event::Verdict;

/// Records that are searched for one that is no test call. `castellan doctor` writes one for each agent.
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

    /// Returns the last call that was asked about or denied, without the test calls of `castellan doctor`.
    pub(crate) fn last_stopped(log: &Path) -> anyhow::Result<RecordedCall> {
        let mut last: Option<RecordedCall> = None;
        for verdict in [Verdict::Ask, Verdict::Deny] {
            let verdict = Some(verdict.as_str().to_owned());
            let filter = Filter { verdict, limit: Some(SEARCHED), ..Filter::default() };
            let found = calls(log, &filter)?.rfind(|found| found.call.tool_raw != CANARY_TOOL);
            last = last.into_iter().chain(found).max_by_key(|found| found.seq);
        }
        let Some(last) = last else { bail!("the log has no call that was asked about or denied") };
        Ok(last)
    }
}

fn calls(log: &Path, filter: &Filter) -> anyhow::Result<impl DoubleEndedIterator<Item = RecordedCall>> {
    let entries = castellan_audit::read(log, filter)?.entries;
    Ok(entries.into_iter().filter_map(|Entry { seq, time, record, .. }| match record {
        Record::Call(call) => Some(RecordedCall { seq, time, call }),
        Record::Session(_)
        | Record::Control(_)
        | Record::Failure(_)
        | Record::Ungoverned(_)
        | Record::Gap(_)
        | Record::Retention(_)
        | Record::Recovery(_) => None,
    }))
}
