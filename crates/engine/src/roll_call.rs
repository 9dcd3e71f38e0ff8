//! [`RollCall`]: the proof that a Falco tests all rules, once for each connection.
//!
//! A Falco may have more configuration than castellan wrote. It could disable a rule, replace one by another of its name,
//! leave out the less severe, or test a rule after the one that reports rows. Such a rule would silently not match. So
//! the first row on each connection is a roll call: each rule reports its number on it, and the report must have all.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use castellan_event::{FIELDS, Row, Value};
use castellan_rows::{Nonce, ROLL_CALL, Seen};

use crate::error::EngineError;

/// The row of a roll call. It has no value but its level.
#[derive(Debug)]
pub(crate) struct RollCallRow;

impl Row for RollCallRow {
    fn value(&self, field: usize, _arg: Option<&str>) -> Value<'_> {
        let is_level = FIELDS.get(field).is_some_and(|field| field.name == "row.level");
        if is_level { Value::Text(ROLL_CALL.as_bytes().into()) } else { Value::Absent }
    }
}

/// The last roll call.
#[derive(Debug)]
pub(crate) struct RollCall {
    /// The numbers that must be reported, ascending.
    expected: Vec<u64>,
    state: Mutex<Option<State>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    connection: u64,
    nonce: Nonce,
    outcome: Option<Result<(), EngineError>>,
}

impl RollCall {
    pub(crate) fn new(expected: Vec<u64>) -> RollCall {
        RollCall { expected, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Registers a roll call on a connection. Returns false if the connection has one already: it must not be sent again.
    pub(crate) fn begin(&self, connection: u64, nonce: Nonce) -> bool {
        let mut state = self.lock();
        let is_new = state.as_ref().is_none_or(|state| state.connection != connection);
        if is_new {
            *state = Some(State { connection, nonce, outcome: None });
        }
        is_new
    }

    /// Forgets a roll call that could not be sent.
    pub(crate) fn forget(&self, nonce: Nonce) {
        self.lock().take_if(|state| state.nonce == nonce);
        self.changed.notify_all();
    }

    /// Takes a report. Returns false if it is not about the roll call.
    pub(crate) fn report(&self, seen: &Seen) -> bool {
        let mut state = self.lock();
        let Some(state) = state.as_mut().filter(|state| state.nonce == seen.nonce) else { return false };
        let missing = self.expected.iter().filter(|rule| seen.rules.binary_search(rule).is_err()).count();
        let outcome = match missing {
            0 => Ok(()),
            missing => Err(EngineError::Rules { missing, rules: self.expected.len() }),
        };
        match &state.outcome {
            Some(known) if *known != outcome => state.outcome = Some(Err(EngineError::Contradiction)),
            Some(_) => {}
            None => state.outcome = Some(outcome),
        }
        self.changed.notify_all();
        true
    }

    /// Connections up to this number have ended.
    pub(crate) fn end(&self, connection: u64) {
        self.lock().take_if(|state| state.connection <= connection);
        self.changed.notify_all();
    }

    /// Waits for the outcome of the roll call on a connection.
    pub(crate) fn wait(&self, connection: u64, deadline: Instant) -> Result<(), EngineError> {
        let mut state = self.lock();
        loop {
            let own = state.as_ref().filter(|state| state.connection == connection);
            if let Some(outcome) = own.ok_or(EngineError::Lost)?.outcome.clone() {
                return outcome;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(EngineError::Unready);
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<State>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
