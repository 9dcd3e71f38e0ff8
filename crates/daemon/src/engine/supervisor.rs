//! The thread that starts Falco, looks after it, and ends it. A round is the time in which the same rules are wanted; in
//! it, Falco may start several times, each time with new secrets and files. It must not know the answers about calls.

use std::ffi::OsStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use castellan_engine::{EngineError, RemoteEngine};
use castellan_rows::SenderEvent;

use super::channel::{Channel, process};
use super::heard::{Refused, heard};
use super::output::{LastLine, LogFile, copy};
use super::pause::Failures;
use super::program::{Process, check_file, check_language, version};
use super::{Engine, Wanted, now, time_since};
use crate::control::EngineState;
use crate::limits::{ENGINE_LATE_MAX, ENGINE_LOOK, ENGINE_PAUSE, ENGINE_READY_TIME, ENGINE_START_TIME};

/// Serves until the daemon ends, also after a panic, which has ended its Falco.
pub(super) fn run(engine: &'static Engine) {
    while catch_unwind(AssertUnwindSafe(|| serve_rounds(engine))).is_err() {
        std::thread::sleep(ENGINE_PAUSE);
    }
}

/// Serves one round after the other until the daemon ends.
fn serve_rounds(engine: &'static Engine) {
    while let Some((wanted, number)) = next(engine) {
        Round { engine, wanted, number, refused: Arc::default() }.serve();
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

struct Round {
    engine: &'static Engine,
    wanted: Arc<Wanted>,
    number: u64,
    refused: Arc<Refused>,
}

/// A Falco that runs. Its channel ends first: once the process was waited for, another one may get its id.
struct Running {
    channel: Channel,
    process: Process,
    last: LastLine,
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

    fn start(&self) -> Result<Running, String> {
        let settings = &self.wanted.settings;
        let found = version(&settings.falco)?;
        check_language(&found, self.wanted.language)?;
        let library = check_file("the plugin", &settings.plugin)?;
        self.set(|inner| inner.version.clone_from(&found.text));
        let channel = self.open()?;
        channel.write(&self.wanted, &library)?;
        let config = channel.place.config();
        // A process that connects waits until it is known.
        let mut only = channel.only.lock();
        let (child, output) = Process::start(&found.program, &[OsStr::new("-c"), config.as_os_str()])?;
        *only = process(child.id());
        drop(only);
        let running = Running { channel, process: child, last: LastLine::default() };
        self.set(|inner| inner.pid = running.process.id());
        let (log, kept) = (LogFile::new(running.channel.place.log()), running.last.clone());
        let copying = move || copy(output, log, &kept);
        let copying = std::thread::Builder::new().name("falco output".to_owned()).spawn(copying);
        copying.map_err(|error| format!("no thread for Falco's output: {error}"))?;
        Ok(running)
    }

    /// Listens for rows and alerts, and lets the judging threads use both.
    fn open(&self) -> Result<Channel, String> {
        let mut of = (self.number, 0);
        self.set(|inner| {
            inner.channel += 1;
            of.1 = inner.channel;
        });
        let (engine, refused) = (self.engine, Arc::clone(&self.refused));
        let heard = move |event: &SenderEvent| heard(engine, of, event, &refused);
        let (channel, remote) = Channel::open(&self.wanted, heard)?;
        self.put(Some(remote));
        Ok(channel)
    }

    /// Stores the channel for the judging threads. After a panic, one of before is stored.
    fn put(&self, mut remote: Option<Arc<RemoteEngine>>) {
        self.set(|inner| {
            std::mem::swap(&mut inner.remote, &mut remote);
            (inner.is_connected, inner.is_closed) = (false, false);
        });
        // The end of a channel waits for its thread, which may wait for the lock.
        drop(remote);
    }

    /// Notes that no Falco runs. A late event of its channel changes nothing.
    fn leave(&self) {
        self.set(|inner| {
            inner.pid = 0;
            inner.channel += 1;
        });
        self.put(None);
    }

    /// Looks after a Falco, and ends it.
    fn watch(&self, running: Running) -> End {
        let seen = self.look(&running);
        let Running { channel, mut process, last } = running;
        // Before the process is waited for.
        drop(channel);
        match seen {
            Seen::Unwanted => {
                process.stop();
                End::Unwanted
            }
            Seen::Ended => {
                let status = process.wait().status;
                End::Failed(format!("Falco has ended ({status}){}", said(&last)))
            }
            Seen::Failed(why) => {
                process.stop();
                End::Failed(why)
            }
        }
    }

    /// Looks after a Falco until it ends, fails, hangs or is not wanted any more.
    fn look(&self, running: &Running) -> Seen {
        let Running { process, last, .. } = running;
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
            let refused = remote.and_then(|remote| self.begin(&remote));
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
    fn set(&self, change: impl FnOnce(&mut super::Inner)) {
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
            self.engine.tell(why);
        }
    }
}

/// The reason to end a Falco that runs. It may have read changed files, which no roll call shows.
const CLOSED: &str = "Falco's connection has ended and Falco runs, so castellan starts it with new files";

/// Returns Falco's last line for a reason.
fn said(last: &LastLine) -> String {
    let line = last.get();
    if line.is_empty() { String::new() } else { format!("; its last line: {line}") }
}

#[cfg(test)]
mod tests;
