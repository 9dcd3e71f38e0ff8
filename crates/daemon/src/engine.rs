//! The engine `falco`: a Falco that this daemon starts tests the rules. [`Engine`] is its state: the wanted rules, the
//! Falco that runs, and the reason why none judges. Threads that judge calls ask through [`tester::OneCall`]; the thread
//! `supervisor` starts Falco, looks after it and ends it. No thread waits for Falco with a lock.
//!
//! A call without an answer is denied, so no state here can allow one. This module must not know calls and verdicts.

mod channel;
mod check;
mod checks;
mod events;
mod exported;
mod groups;
mod heard;
mod lines;
mod output;
mod pause;
mod place;
mod program;
mod supervisor;
mod tester;
mod trusted;
mod unchanged;

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use castellan_engine::RemoteEngine;
use castellan_event::{Answers, Call, Facts, Session};
use castellan_falco::export::EngineRules;
use castellan_policy::{EngineKind, EngineSettings, Policy};
use castellan_rules::Engine as Language;

pub use self::check::CheckedEngine;
pub(crate) use self::check::check;
use self::checks::Checks;
use self::events::Events;
pub(crate) use self::events::WantedEvents;
pub(crate) use self::exported::exported;
use self::lines::Lines;
pub(crate) use self::program::Limit;
pub use self::program::{COMMAND, become_falco};
use crate::clock::wall;
use crate::control::{EngineState, EngineStatus};
use crate::limits::ENGINE_STOP_TIME;

/// The rules that Falco must have, and the programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The programs. Settings about copies have no effect.
    pub(crate) settings: EngineSettings,
    pub(crate) rules: EngineRules,
    /// The rule language in which they are written.
    pub(crate) language: Language,
    /// The folder for Falco.
    pub(crate) place: PathBuf,
    /// The reason why no Falco can judge here, if there is one.
    pub(crate) refusal: Option<&'static str>,
}

/// The state of the engine. Each daemon has its own.
#[derive(Debug, Default)]
pub(crate) struct Engine {
    inner: Mutex<Inner>,
    changed: Condvar,
    lines: Lines,
    checks: Arc<Checks>,
    events: Events,
}

#[derive(Debug, Default)]
struct Inner {
    wanted: Option<Arc<Wanted>>,
    /// Number of the changes of `wanted`.
    round: u64,
    state: EngineState,
    remote: Option<Arc<RemoteEngine>>,
    version: String,
    pid: u32,
    /// Number of the present channel; events of others have no effect.
    channel: u64,
    is_connected: bool,
    /// The only connection of this channel has ended.
    is_closed: bool,
    /// Since when Falco judges; `None` if it does not.
    since: Option<(SystemTime, Instant)>,
    /// The time for which the last connection lasted.
    judged: Duration,
    restarts: u64,
    problem: String,
    /// Calls in a row that Falco did not answer in time.
    late: u32,
    is_over: bool,
    thread: Option<JoinHandle<()>>,
}

impl Engine {
    /// Returns an engine in whose checks `load` takes the place of Falco.
    #[cfg(test)]
    pub(crate) fn loading(load: checks::Load) -> Arc<Engine> {
        Arc::new(Engine { checks: Arc::new(Checks::with(load)), ..Engine::default() })
    }

    /// Sets the receiver of lines for the record. It gets the lines of before at once.
    pub(crate) fn record_by(&self, record: impl Fn(&str) + Send + Sync + 'static) {
        self.lines.record_by(record);
    }

    /// Makes Falco judge with these rules from now on; `None` ends it. Does not wait for Falco.
    pub(crate) fn want(self: &Arc<Engine>, wanted: Option<Wanted>) {
        let mut inner = self.lock();
        if inner.wanted.as_deref() == wanted.as_ref() || inner.is_over {
            return;
        }
        inner.state = if wanted.is_some() { EngineState::Starting } else { EngineState::Judging };
        inner.wanted = wanted.map(Arc::new);
        inner.round += 1;
        // The end of a channel waits for its thread, which may wait for the lock.
        let before = inner.remote.take();
        (inner.since, inner.late, inner.restarts) = (None, 0, 0);
        (inner.pid, inner.is_connected, inner.is_closed) = (0, false, false);
        inner.channel += 1;
        inner.problem.clear();
        if inner.thread.is_none() && inner.wanted.is_some() {
            let engine = Arc::clone(self);
            let run = move || supervisor::run(&engine);
            match std::thread::Builder::new().name("falco".to_owned()).spawn(run) {
                Ok(thread) => inner.thread = Some(thread),
                Err(error) => {
                    inner.state = EngineState::Refused;
                    inner.problem = format!("no thread for Falco: {error}");
                }
            }
        }
        drop(inner);
        drop(before);
        self.changed.notify_all();
    }

    /// Makes copies of judged calls from now on, or none. A failure is recorded, and calls go on without copies.
    pub(crate) fn want_events(&self, wanted: WantedEvents) {
        self.events.want(wanted, |line| self.lines.record(line));
    }

    /// Copies a judged call for a Falco of the user's own, and returns at once.
    pub(crate) fn copy(&self, call: &Call, facts: &Facts, session: &Session, answers: &Answers) {
        self.events.copy(call, facts, session, answers);
    }

    /// Reports whether Falco must load these rules before they may come into force: they are new, and it has not loaded
    /// them yet.
    pub(crate) fn is_to_check(&self, wanted: &Wanted) -> bool {
        self.lock().wanted.as_deref() != Some(wanted) && !self.checks.has_passed(wanted)
    }

    /// Has Falco load rules that may come into force then. Waits for it, and for the check of another change. The error
    /// names each rule that Falco rejects, or the reason why it could not be asked.
    pub(crate) fn check(&self, wanted: &Wanted) -> Result<(), String> {
        self.checks.check(wanted)
    }

    /// As [`Engine::check`], on a thread of its own. `None`: it runs, so ask again later.
    pub(crate) fn check_aside(&self, wanted: &Wanted) -> Option<Result<(), String>> {
        self.checks.check_aside(wanted)
    }

    /// Ends Falco, and waits for its end. No other one starts.
    pub(crate) fn end(&self) {
        let mut inner = self.lock();
        inner.is_over = true;
        let thread = inner.thread.take();
        drop(inner);
        self.changed.notify_all();
        self.checks.end(ENGINE_STOP_TIME);
        // A panic of the thread is reported where it happens. The kernel ends its Falco with it.
        thread.map(JoinHandle::join).unwrap_or(Ok(())).unwrap_or_default();
    }

    pub(crate) fn status(&self, kind: EngineKind) -> EngineStatus {
        let kind_word = kind.as_str().to_owned();
        if kind == EngineKind::Native {
            return EngineStatus { kind: kind_word, ..EngineStatus::default() };
        }
        let inner = self.lock();
        let since = inner.since.and_then(|(since, _)| since.duration_since(SystemTime::UNIX_EPOCH).ok());
        EngineStatus {
            kind: kind_word,
            // A policy for Falco is in force before Falco is wanted.
            state: if inner.wanted.is_some() { inner.state } else { EngineState::Starting },
            version: inner.version.clone(),
            pid: inner.pid,
            since_s: since.map_or(0, |since| since.as_secs()),
            restarts: inner.restarts,
            problem: inner.problem.clone(),
            log: inner
                .wanted
                .as_ref()
                .map_or(String::new(), |wanted| wanted.place.join("falco.log").display().to_string()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'e>(&self, inner: MutexGuard<'e, Inner>, at_most: Duration) -> MutexGuard<'e, Inner> {
        self.changed.wait_timeout(inner, at_most).unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Returns the reason why Falco cannot be the engine of a home, if there is one. `is_of_system`: the daemon has a user of
/// its own. Agents read the reason, so it has no remedy.
pub(crate) fn refusal(is_of_system: bool) -> Option<&'static str> {
    if is_of_system {
        return Some(
            "castellan is installed for the system (`--system`), and its daemon starts no other program",
        );
    }
    (!cfg!(target_os = "linux")).then_some("castellan's plugin for Falco works on Linux only")
}

/// Returns a policy whose rules Falco tests. `rules`: the same rules as Falco gets them.
pub(crate) fn judged_by_falco(policy: Policy, rules: Option<&EngineRules>) -> Policy {
    policy.tested_elsewhere(rules.map(|rules| rules.generation.clone()))
}

/// Returns the time since Falco connected.
fn time_since(since: Option<(SystemTime, Instant)>) -> Duration {
    since.map_or(Duration::ZERO, |(_, since)| since.elapsed())
}

/// Returns the present time on both clocks.
fn now() -> (SystemTime, Instant) {
    (wall(), Instant::now())
}

#[cfg(test)]
mod tests;
