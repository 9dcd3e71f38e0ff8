//! [`Tally`]: counts since the daemon's start, for `castellan status`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use castellan_event::Verdict;

use crate::control::VerdictCounts;

/// Counts of this run.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    deny: AtomicU64,
    ask: AtomicU64,
    allow: AtomicU64,
    defer: AtomicU64,
    failures: AtomicU64,
    last_failure: Mutex<String>,
    refused: AtomicU64,
    last_refused: Mutex<String>,
    ungoverned: AtomicU64,
    last_ungoverned: Mutex<String>,
    unknown_tools: AtomicU64,
    last_unknown_tool: Mutex<String>,
}

impl Tally {
    /// Counts a judged call.
    pub(crate) fn judged(&self, verdict: Verdict) {
        let count = match verdict {
            Verdict::Deny => &self.deny,
            Verdict::Ask => &self.ask,
            Verdict::Allow => &self.allow,
            Verdict::Defer => &self.defer,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a failure of castellan.
    pub(crate) fn failed(&self, message: &str) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        message.clone_into(&mut self.last_failure.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Counts a rejected request to loosen.
    pub(crate) fn refused(&self, message: &str) {
        self.refused.fetch_add(1, Ordering::Relaxed);
        message.clone_into(&mut self.last_refused.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Number of rejected requests, and the last message; empty if there is none.
    pub(crate) fn refusals(&self) -> (u64, String) {
        let last = self.last_refused.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (self.refused.load(Ordering::Relaxed), last)
    }

    /// Counts a call that ran against the decision, or a change that makes such calls possible.
    pub(crate) fn ungoverned(&self, message: &str) {
        self.ungoverned.fetch_add(1, Ordering::Relaxed);
        message.clone_into(&mut self.last_ungoverned.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Number of these events, and the last message; empty if there is none.
    pub(crate) fn ungoverned_calls(&self) -> (u64, String) {
        let last = self.last_ungoverned.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (self.ungoverned.load(Ordering::Relaxed), last)
    }

    /// Counts a call of an unknown tool.
    pub(crate) fn of_unknown_tool(&self, tool: &str) {
        self.unknown_tools.fetch_add(1, Ordering::Relaxed);
        tool.clone_into(&mut self.last_unknown_tool.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Number of these calls, and the tool of the last one; empty if there is none.
    pub(crate) fn unknown_tools(&self) -> (u64, String) {
        let last = self.last_unknown_tool.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (self.unknown_tools.load(Ordering::Relaxed), last)
    }

    /// Judged calls by verdict.
    pub(crate) fn verdicts(&self) -> VerdictCounts {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        VerdictCounts {
            deny: read(&self.deny),
            ask: read(&self.ask),
            allow: read(&self.allow),
            defer: read(&self.defer),
        }
    }

    /// Number of failures, and the last message; empty if there is none.
    pub(crate) fn failures(&self) -> (u64, String) {
        let last = self.last_failure.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (self.failures.load(Ordering::Relaxed), last)
    }
}
