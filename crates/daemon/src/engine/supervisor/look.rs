//! The look after a Falco that runs. It must be connected, have castellan's files, test all rules, and judge in time. This
//! module must not know how Falco starts and ends.

use std::time::Instant;

use castellan_engine::{EngineError, RemoteEngine};

use super::start::{Running, said};
use super::{Round, Seen};
use crate::control::EngineState;
use crate::engine::now;
use crate::limits::{ENGINE_LATE_MAX, ENGINE_LOOK, ENGINE_READY_TIME, ENGINE_START_TIME};

impl Round {
    /// Looks after a Falco until it ends, fails, hangs or is not wanted any more.
    pub(super) fn look(&self, running: &Running) -> Seen {
        let Running { process, last, stamps, .. } = running;
        // Since when it is not connected.
        let mut away = Some(Instant::now());
        loop {
            if !self.lasts() {
                return Seen::Unwanted;
            }
            if process.has_ended() {
                return Seen::Ended;
            }
            let inner = self.engine.lock();
            let (is_connected, is_hanging) = (inner.is_connected, inner.late >= ENGINE_LATE_MAX);
            let (is_away, is_closed) = (inner.since.is_none(), inner.is_closed);
            let problem = inner.problem.clone();
            let remote = inner.remote.clone().filter(|_| is_connected && is_away && !is_closed);
            drop(inner);
            away = if is_away { away.or_else(|| Some(Instant::now())) } else { None };
            if is_closed {
                // A connection ends shortly before its process.
                return if process.ends_within(ENGINE_LOOK) {
                    Seen::Ended
                } else {
                    Seen::Failed(CLOSED.to_owned())
                };
            }
            // Falco reads its files before it connects.
            let refused = remote.and_then(|remote| stamps.changed().or_else(|| self.begin(&remote)));
            let why = if let Some(why) = refused {
                why
            } else if is_hanging {
                format!("Falco runs and does not judge: {problem}")
            } else if is_connected && away.is_some_and(|since| since.elapsed() >= ENGINE_START_TIME) {
                format!("Falco is connected and does not judge: {problem}")
            } else if away.is_some_and(|since| since.elapsed() >= ENGINE_START_TIME) {
                let seconds = ENGINE_START_TIME.as_secs();
                format!("Falco runs, but its plugin has not connected within {seconds} s{}", said(last))
            } else {
                self.wait(ENGINE_LOOK);
                continue;
            };
            return Seen::Failed(why);
        }
    }

    /// Lets a connected Falco judge if it tests all rules. Returns the reason why it may not.
    fn begin(&self, remote: &RemoteEngine) -> Option<String> {
        match remote.ready(Instant::now() + ENGINE_READY_TIME) {
            Ok(_) => {
                self.set(|inner| {
                    if inner.is_connected {
                        inner.state = EngineState::Judging;
                        inner.since = Some(now());
                        inner.late = 0;
                        inner.problem.clear();
                    }
                });
                None
            }
            Err(error @ (EngineError::Rules { .. } | EngineError::Contradiction)) => Some(error.to_string()),
            // It may show that later, or has ended.
            Err(error) => {
                self.set(|inner| inner.problem = error.to_string());
                None
            }
        }
    }
}

/// The reason to end a Falco that runs. It may have read changed files, which no roll call shows.
pub(super) const CLOSED: &str =
    "Falco's connection has ended and Falco runs, so castellan starts it with new files";
