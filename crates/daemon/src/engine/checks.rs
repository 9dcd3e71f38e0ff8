//! [`Checks`]: Falco loads rules before they come into force. At most one Falco does so at a time: a flood of changes
//! starts no flood of processes. It must not know how rules come into force.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Wanted;
use super::check::check;
use super::program::Limit;
use super::tester::left;
use crate::limits::{ENGINE_CHECKS_WAITING_MAX, ENGINE_VALIDATION_TIME};

/// Has Falco load rules. The error names each rejected rule, or the reason why Falco could not be asked.
pub(crate) type Load = fn(&Wanted, Limit<'_>) -> Result<(), String>;

/// The reason why a change is not checked now.
const BUSY: &str = "Falco still loads the rules of another change: try again";

/// The checks of a daemon.
#[derive(Debug)]
pub(super) struct Checks {
    load: Load,
    state: Mutex<State>,
    changed: Condvar,
    is_over: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    is_busy: bool,
    /// Requests that wait for the check of another change.
    waiting: usize,
    /// The rules that Falco has loaded last.
    passed: Option<Wanted>,
    /// The check on a thread of its own.
    aside: Option<Aside>,
}

#[derive(Debug)]
struct Aside {
    of: Wanted,
    /// `None` while it runs.
    outcome: Option<Result<(), String>>,
}

impl Default for Checks {
    fn default() -> Checks {
        Checks::with(load)
    }
}

fn load(wanted: &Wanted, limit: Limit<'_>) -> Result<(), String> {
    let checked = check(&wanted.settings, &wanted.rules, wanted.language, limit);
    checked.map(drop).map_err(|problems| problems.join("; "))
}

impl Checks {
    /// Returns checks in which `load` takes the place of Falco.
    pub(super) fn with(load: Load) -> Checks {
        Checks { load, state: Mutex::default(), changed: Condvar::new(), is_over: AtomicBool::new(false) }
    }

    /// Reports whether Falco has loaded these rules, and no other ones since.
    pub(super) fn has_passed(&self, wanted: &Wanted) -> bool {
        self.lock().passed.as_ref() == Some(wanted)
    }

    /// Has Falco load rules. The error is the reason why they cannot come into force. Few requests wait for the check of
    /// another change: a program that makes changes again and again must leave room for a person's requests.
    pub(super) fn check(&self, wanted: &Wanted) -> Result<(), String> {
        let until = Instant::now() + ENGINE_VALIDATION_TIME;
        let mut state = self.lock();
        if state.is_busy && state.waiting >= ENGINE_CHECKS_WAITING_MAX {
            return Err(BUSY.to_owned());
        }
        state.waiting += 1;
        while state.is_busy && !left(until).is_zero() {
            state = self.wait(state, left(until));
        }
        state.waiting -= 1;
        if state.is_busy {
            return Err(BUSY.to_owned());
        }
        self.ask(state, wanted, until)
    }

    /// Has Falco load rules until a time.
    fn ask(&self, mut state: MutexGuard<'_, State>, wanted: &Wanted, until: Instant) -> Result<(), String> {
        state.is_busy = true;
        drop(state);
        let limit = Limit { until, is_over: Some(&self.is_over) };
        let loaded = catch_unwind(AssertUnwindSafe(|| (self.load)(wanted, limit)));
        let loaded = loaded.unwrap_or_else(|_| Err("castellan has failed to ask Falco".to_owned()));
        let mut state = self.lock();
        state.is_busy = false;
        if loaded.is_ok() {
            state.passed = Some(wanted.clone());
        }
        drop(state);
        self.changed.notify_all();
        loaded
    }

    /// As [`Checks::check`], after all checks of before, however long they take.
    fn check_patiently(&self, wanted: &Wanted) -> Result<(), String> {
        let mut state = self.lock();
        while state.is_busy {
            state = self.wait(state, ENGINE_VALIDATION_TIME);
        }
        self.ask(state, wanted, Instant::now() + ENGINE_VALIDATION_TIME)
    }

    /// As [`Checks::check`], on a thread of its own. Returns the result once. `None`: it runs, or that of other rules does.
    pub(super) fn check_aside(self: &Arc<Checks>, wanted: &Wanted) -> Option<Result<(), String>> {
        let mut state = self.lock();
        match state.aside.take() {
            Some(Aside { of, outcome: Some(outcome) }) if of == *wanted => return Some(outcome),
            Some(running @ Aside { outcome: None, .. }) => {
                state.aside = Some(running);
                return None;
            }
            // The files have changed since.
            Some(Aside { outcome: Some(_), .. }) | None => {}
        }
        let (checks, of) = (Arc::clone(self), wanted.clone());
        let run = move || {
            let outcome = checks.check_patiently(&of);
            checks.lock().aside = Some(Aside { of, outcome: Some(outcome) });
        };
        if let Err(error) = std::thread::Builder::new().name("falco check".to_owned()).spawn(run) {
            return Some(Err(format!("no thread to ask Falco: {error}")));
        }
        // The thread waits for the lock.
        state.aside = Some(Aside { of: wanted.clone(), outcome: None });
        None
    }

    /// Ends the Falco that loads rules, and waits for that.
    pub(super) fn end(&self, at_most: Duration) {
        self.is_over.store(true, Ordering::SeqCst);
        let until = Instant::now() + at_most;
        let mut state = self.lock();
        while state.is_busy && !left(until).is_zero() {
            state = self.wait(state, left(until));
        }
    }

    fn wait<'c>(&self, state: MutexGuard<'c, State>, at_most: Duration) -> MutexGuard<'c, State> {
        self.changed.wait_timeout(state, at_most).unwrap_or_else(PoisonError::into_inner).0
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
