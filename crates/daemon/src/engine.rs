//! The engine `falco`: a Falco that this daemon starts tests the rules. [`Engine`] is its state: the wanted rules, the
//! Falco that runs, and the reason why none judges. Threads that judge calls ask through [`tester`]; the thread
//! `supervisor` starts Falco, looks after it and ends it. Nobody waits with a lock.
//!
//! A call without an answer is denied, so no state here can allow one. This module must not know calls and verdicts.

mod channel;
mod check;
mod deadline;
mod events;
mod exported;
mod heard;
mod output;
mod pause;
mod place;
mod program;
mod supervisor;
mod tester;

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use castellan_engine::{EngineError, RemoteEngine};
use castellan_falco::export::EngineRules;
use castellan_policy::{EngineKind, EngineSettings, Policy};
use castellan_rules::Engine as Language;

pub use self::check::CheckedEngine;
pub(crate) use self::check::check;
pub(crate) use self::deadline::within_time_of;
pub(crate) use self::events::{EVENTS, WantedEvents};
pub(crate) use self::exported::exported;
pub use self::program::{COMMAND, become_falco};
use crate::clock::wall;
use crate::control::{EngineState, EngineStatus};
use crate::limits::ENGINE_LATE_MAX;

/// The engine of this process.
pub(crate) static ENGINE: Engine = Engine::new();

/// The rules that Falco must have, and the programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) settings: EngineSettings,
    pub(crate) rules: EngineRules,
    /// The rule language in which they are written.
    pub(crate) language: Language,
    /// The folder for Falco.
    pub(crate) place: PathBuf,
    /// The reason why no Falco can judge here, if there is one.
    pub(crate) refusal: Option<&'static str>,
}

/// The state of the engine.
#[derive(Debug)]
pub(crate) struct Engine {
    inner: Mutex<Inner>,
    changed: Condvar,
    tell: OnceLock<Tell>,
}

/// Records a line about the engine.
struct Tell(Box<dyn Fn(&str) + Send + Sync>);

#[derive(Debug)]
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
    const fn new() -> Engine {
        let inner = Inner {
            wanted: None,
            round: 0,
            state: EngineState::Judging,
            remote: None,
            version: String::new(),
            pid: 0,
            channel: 0,
            is_connected: false,
            is_closed: false,
            since: None,
            judged: Duration::ZERO,
            restarts: 0,
            problem: String::new(),
            late: 0,
            is_over: false,
            thread: None,
        };
        Engine { inner: Mutex::new(inner), changed: Condvar::new(), tell: OnceLock::new() }
    }

    /// Sets the receiver of lines for the record.
    pub(crate) fn tell_by(&self, tell: impl Fn(&str) + Send + Sync + 'static) {
        let _ = self.tell.set(Tell(Box::new(tell)));
        // Falco may have failed before.
        let problem = self.lock().problem.clone();
        if !problem.is_empty() {
            self.tell(&problem);
        }
    }

    /// Makes Falco judge with these rules from now on; `None` ends it. Does not wait for Falco.
    pub(crate) fn want(&'static self, wanted: Option<Wanted>) {
        let mut inner = self.lock();
        let is_same = match (inner.wanted.as_deref(), &wanted) {
            (Some(now), Some(then)) => now == then,
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        if is_same || inner.is_over {
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
            let run = move || supervisor::run(self);
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

    /// Ends Falco, and waits for its end. No other one starts.
    pub(crate) fn end(&self) {
        let mut inner = self.lock();
        inner.is_over = true;
        let thread = inner.thread.take();
        drop(inner);
        self.changed.notify_all();
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

    /// Records a line. Returns false if nothing receives lines yet.
    fn tell(&self, line: &str) -> bool {
        let Some(Tell(tell)) = self.tell.get() else { return false };
        tell(line);
        true
    }
}

/// For the threads that judge calls.
impl Engine {
    /// Returns the Falco that has the rules of a generation, with its round. Waits for one that starts. The error is the
    /// reason for the denial.
    fn ready(&self, generation: &str, until: Instant) -> Result<(u64, Arc<RemoteEngine>), String> {
        let mut inner = self.lock();
        loop {
            if inner.is_over {
                return Err("castellan ends, and Falco with it".to_owned());
            }
            let Some(wanted) = &inner.wanted else {
                return Err("Falco is not the engine any more".to_owned());
            };
            if wanted.rules.generation != generation {
                return Err("Falco has other rules than those of this call".to_owned());
            }
            match (inner.state, &inner.remote) {
                (EngineState::Judging, Some(remote)) => return Ok((inner.round, Arc::clone(remote))),
                (EngineState::Pausing | EngineState::Refused, _) => {
                    return Err(format!("Falco does not run: {}", inner.problem));
                }
                (EngineState::Judging | EngineState::Starting, _) => {}
            }
            let left = tester::left(until);
            if left.is_zero() {
                let problem =
                    if inner.problem.is_empty() { String::new() } else { format!(": {}", inner.problem) };
                return Err(format!("Falco has not started in time{problem}"));
            }
            inner = self.wait(inner, left);
        }
    }

    /// Notes the result of a question.
    fn judged(&self, round: u64, error: Option<&EngineError>) {
        let mut inner = self.lock();
        if inner.round != round {
            return;
        }
        match error {
            None => {
                inner.late = 0;
                inner.problem.clear();
            }
            Some(EngineError::Late { .. } | EngineError::Contradiction) => inner.late += 1,
            // The supervisor sees why.
            Some(
                EngineError::Send(_) | EngineError::Lost | EngineError::Rules { .. } | EngineError::Unready,
            ) => {}
            // They are of the call, not of Falco.
            Some(EngineError::Encode(_) | EngineError::Full | EngineError::Random) => return,
        }
        if let Some(error) = error {
            inner.problem = error.to_string();
        }
        let is_hanging = inner.late >= ENGINE_LATE_MAX;
        drop(inner);
        if is_hanging {
            self.changed.notify_all();
        }
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

/// Has Falco test the rules of a policy. `rules`: the same rules as Falco gets them.
pub(crate) fn judged_by_falco(policy: Policy, rules: Option<&EngineRules>) -> Policy {
    let generation = rules.map(|rules| rules.generation.clone());
    policy.tested_by(Arc::new(tester::Falco { engine: &ENGINE, generation }))
}

impl std::fmt::Debug for Tell {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Tell")
    }
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
