//! The thread that starts Falco, looks after it, and ends it. A round is the time in which the same rules are wanted; in
//! it, Falco may start several times, each time with new secrets and files. It must not know the answers about calls.

mod look;
mod start;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use self::start::Running;
use super::heard::Refused;
use super::pause::Failures;
use super::{Engine, Inner, Wanted, time_since};
use crate::control::EngineState;
use crate::limits::{ENGINE_LOOK, ENGINE_PAUSE};

/// Serves until the daemon ends, also after a panic, which has ended its Falco.
pub(super) fn run(engine: &Arc<Engine>) {
    while catch_unwind(AssertUnwindSafe(|| serve_rounds(engine))).is_err() {
        std::thread::sleep(ENGINE_PAUSE);
    }
}

/// Serves one round after the other until the daemon ends.
fn serve_rounds(engine: &Arc<Engine>) {
    while let Some((wanted, number)) = next(engine) {
        Round { engine: Arc::clone(engine), wanted, number, refused: Arc::default() }.serve();
    }
}

/// Waits until rules are wanted; `None` at the end.
fn next(engine: &Engine) -> Option<(Arc<Wanted>, u64)> {
    let mut inner = engine.lock();
    loop {
        if inner.is_over {
            return None;
        }
        if let Some(wanted) = &inner.wanted {
            return Some((Arc::clone(wanted), inner.round));
        }
        inner = engine.changed.wait(inner).unwrap_or_else(PoisonError::into_inner);
    }
}

/// The time in which the same rules are wanted.
struct Round {
    engine: Arc<Engine>,
    wanted: Arc<Wanted>,
    number: u64,
    refused: Arc<Refused>,
}

/// The result of the look after a Falco.
enum Seen {
    Unwanted,
    Ended,
    Failed(String),
}

/// The reason why a Falco has ended.
enum End {
    /// The round is over.
    Unwanted,
    Failed(String),
}

impl Round {
    fn serve(&self) {
        if let Some(why) = self.wanted.refusal {
            self.fail(EngineState::Refused, why);
            return self.wait(Duration::MAX);
        }
        let mut failures = Failures::default();
        while self.lasts() {
            let End::Failed(why) = self.serve_once() else { break };
            let judged = self.judged();
            let pause = failures.count(judged);
            let state = if pause.is_zero() { EngineState::Starting } else { EngineState::Pausing };
            self.fail(state, &why);
            self.wait(pause);
        }
    }

    /// Returns the time for which the Falco that has ended judged calls.
    fn judged(&self) -> Duration {
        let mut inner = self.engine.lock();
        let since = inner.since.take();
        time_since(since).max(std::mem::take(&mut inner.judged))
    }

    /// Starts Falco once, and looks after it until its end.
    fn serve_once(&self) -> End {
        let end = match self.start() {
            Ok(running) => self.watch(running),
            Err(why) => End::Failed(why),
        };
        self.leave();
        end
    }

    /// Looks after a Falco, and ends it.
    fn watch(&self, running: Running) -> End {
        let seen = self.look(&running);
        running.end(seen)
    }

    /// Notes that no Falco runs. A late event of its channel changes nothing.
    fn leave(&self) {
        self.set(|inner| {
            inner.pid = 0;
            inner.channel += 1;
        });
        self.put(None);
    }

    /// Reports whether these rules are still wanted.
    fn lasts(&self) -> bool {
        let inner = self.engine.lock();
        !inner.is_over && inner.round == self.number
    }

    /// Waits, but not beyond the end of the round.
    fn wait(&self, time: Duration) {
        let until = Instant::now().checked_add(time);
        let mut inner = self.engine.lock();
        while !inner.is_over && inner.round == self.number {
            let left = until.map_or(Duration::from_secs(60), super::tester::left);
            if left.is_zero() {
                return;
            }
            inner = self.engine.wait(inner, left);
            // A call may have found Falco hanging.
            if time <= ENGINE_LOOK {
                return;
            }
        }
    }

    /// Changes the state if the round lasts.
    fn set(&self, change: impl FnOnce(&mut Inner)) {
        let mut inner = self.engine.lock();
        if inner.round == self.number {
            change(&mut inner);
        }
        drop(inner);
        self.engine.changed.notify_all();
    }

    fn fail(&self, state: EngineState, why: &str) {
        let mut is_news = false;
        self.set(|inner| {
            is_news = inner.problem != why;
            inner.state = state;
            inner.restarts += u64::from(state != EngineState::Refused);
            inner.late = 0;
            why.clone_into(&mut inner.problem);
        });
        if is_news {
            self.engine.lines.record(why);
        }
    }
}

#[cfg(test)]
mod tests;
