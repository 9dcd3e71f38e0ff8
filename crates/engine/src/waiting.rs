//! [`Waiting`]: the rows that Falco has not reported, and the reports so far.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use castellan_rows::{Nonce, Seen};

use crate::error::EngineError;
use crate::limits::WAITING_MAX;

/// The rows that wait, by their nonces.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    rows: HashMap<Nonce, Row>,
    calls: HashMap<u64, Call>,
    /// The number of the last call.
    last: u64,
    /// All connections up to this number have ended.
    ended: u64,
}

#[derive(Debug)]
struct Row {
    call: u64,
    at: usize,
}

#[derive(Debug)]
struct Call {
    /// The rules that matched each row; `None` for a row without a report.
    reports: Vec<Option<Vec<u64>>>,
    left: usize,
    /// The connection on which the rows were sent.
    connection: Option<u64>,
    problem: Option<EngineError>,
}

/// A call that waits. The end of it forgets its rows.
#[derive(Debug)]
pub(crate) struct Ticket<'w> {
    waiting: &'w Waiting,
    number: u64,
    nonces: Vec<Nonce>,
}

impl Waiting {
    /// Registers the rows of a call, before they are sent.
    pub(crate) fn register(&self, nonces: Vec<Nonce>) -> Result<Ticket<'_>, EngineError> {
        let mut state = self.lock();
        if state.rows.len() + nonces.len() > WAITING_MAX {
            return Err(EngineError::Full);
        }
        state.last += 1;
        let number = state.last;
        for (at, nonce) in nonces.iter().enumerate() {
            state.rows.insert(*nonce, Row { call: number, at });
        }
        let (reports, left) = (vec![None; nonces.len()], nonces.len());
        state.calls.insert(number, Call { reports, left, connection: None, problem: None });
        Ok(Ticket { waiting: self, number, nonces })
    }

    /// Takes a report. `count`: the number of rules. A report on a row that does not wait changes nothing.
    pub(crate) fn report(&self, seen: Seen, count: usize) {
        let mut state = self.lock();
        let Some(Row { call, at }) = state.rows.get(&seen.nonce) else { return };
        let (call, at) = (*call, *at);
        let Some(call) = state.calls.get_mut(&call) else { return };
        let is_known = seen.rules.iter().all(|rule| usize::try_from(*rule).is_ok_and(|rule| rule < count));
        match call.reports.get_mut(at) {
            Some(report @ None) if is_known => {
                *report = Some(seen.rules);
                call.left -= 1;
            }
            // The same report again.
            Some(Some(known)) if *known == seen.rules => {}
            // Another report on the same row, or an unknown rule: one of them is wrong, and castellan does not know which.
            Some(_) | None => call.problem = Some(EngineError::Contradiction),
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Connections up to this number have ended: no row on them will be reported.
    pub(crate) fn end(&self, connection: u64) {
        let mut state = self.lock();
        state.ended = state.ended.max(connection);
        let ended = state.ended;
        for call in state.calls.values_mut() {
            if call.connection.is_some_and(|number| number <= ended) && call.left > 0 {
                call.problem = Some(EngineError::Lost);
            }
        }
        drop(state);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket<'_> {
    /// Waits for the reports on all rows. Returns the rules that matched each row.
    pub(crate) fn wait(self, connection: u64, deadline: Instant) -> Result<Vec<Vec<u64>>, EngineError> {
        let mut state = self.waiting.lock();
        let is_ended = connection <= state.ended;
        if let Some(call) = state.calls.get_mut(&self.number) {
            call.connection = Some(connection);
            if is_ended && call.left > 0 {
                call.problem = Some(EngineError::Lost);
            }
        }
        loop {
            let Some(call) = state.calls.get_mut(&self.number) else { return Err(EngineError::Lost) };
            if let Some(problem) = call.problem.clone() {
                return Err(problem);
            }
            if call.left == 0 {
                let reports = std::mem::take(&mut call.reports);
                return reports.into_iter().collect::<Option<_>>().ok_or(EngineError::Contradiction);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(EngineError::Late { missing: call.left, rows: call.reports.len() });
            }
            state = self.waiting.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let mut state = self.waiting.lock();
        state.calls.remove(&self.number);
        for nonce in &self.nonces {
            state.rows.remove(nonce);
        }
    }
}
