//! The thread that starts Falco, looks after it, and ends it. A round is the time in which the same rules are wanted; in
//! it, Falco may start several times and finds the same socket and address. It must not know the answers about calls.

use std::ffi::OsStr;
use std::net::{Ipv4Addr, TcpListener};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use castellan_engine::{EngineError, RemoteEngine, Secret, Setup};
use castellan_falco::engine_config::{EngineConfig, alone};
use castellan_rows::{Generation, Identity, SenderEvent};

use super::output::{LastLine, LogFile, copy};
use super::pause::Failures;
use super::place::Place;
use super::program::{Process, check_file, check_language, version};
use super::{Engine, Wanted, now, time_since};
use crate::control::EngineState;
use crate::limits::{ENGINE_LATE_MAX, ENGINE_LOOK, ENGINE_PAUSE, ENGINE_READY_TIME, ENGINE_START_TIME};
use crate::platform::peer_of;

/// Serves until the daemon ends, also after a panic, which has ended its Falco.
pub(super) fn run(engine: &'static Engine) {
    while catch_unwind(AssertUnwindSafe(|| serve_rounds(engine))).is_err() {
        std::thread::sleep(ENGINE_PAUSE);
    }
}

/// Serves one round after the other until the daemon ends.
fn serve_rounds(engine: &'static Engine) {
    while let Some((wanted, number)) = next(engine) {
        Round { engine, wanted, number, pid: Arc::default() }.serve();
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
    /// The process that may connect; locked while it starts.
    pid: Arc<Mutex<u32>>,
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
        // Listens as long as the round lasts.
        let mut listening = None;
        while self.lasts() {
            let End::Failed(why) = self.serve_once(&mut listening) else { break };
            let judged = self.judged();
            let pause = failures.count(judged);
            let state = if pause.is_zero() { EngineState::Starting } else { EngineState::Pausing };
            self.fail(state, &why);
            self.wait(pause);
        }
        // The end of a channel waits for its thread, which may wait for the lock.
        let remote = {
            let mut inner = self.engine.lock();
            if inner.round == self.number { inner.remote.take() } else { None }
        };
        drop(remote);
    }

    /// Returns the time for which the Falco that has ended judged calls.
    fn judged(&self) -> Duration {
        let mut inner = self.engine.lock();
        let since = inner.since.take();
        time_since(since).max(std::mem::take(&mut inner.judged))
    }

    /// Starts Falco once, and looks after it until its end.
    fn serve_once(&self, listening: &mut Option<Listening>) -> End {
        match self.start(listening) {
            Ok((process, last)) => {
                let end = self.watch(process, &last);
                self.set(|inner| (inner.pid, inner.is_connected) = (0, false));
                end
            }
            Err(why) => End::Failed(why),
        }
    }

    fn start(&self, listening: &mut Option<Listening>) -> Result<(Process, LastLine), String> {
        let settings = &self.wanted.settings;
        let found = version(&settings.falco)?;
        check_language(&found, self.wanted.language)?;
        check_file("the plugin", &settings.plugin)?;
        self.set(|inner| inner.version.clone_from(&found.text));
        let listening = match listening {
            Some(known) => known,
            None => listening.insert(self.listen()?),
        };
        listening.write(&self.wanted)?;
        let config = listening.place.config();
        // A process that connects waits until its id is known.
        let mut pid = self.pid.lock().unwrap_or_else(PoisonError::into_inner);
        let (process, output) = Process::start(&settings.falco, &[OsStr::new("-c"), config.as_os_str()])?;
        *pid = process.id();
        drop(pid);
        self.set(|inner| inner.pid = process.id());
        let last = LastLine::default();
        let (log, kept) = (LogFile::new(listening.place.log()), last.clone());
        let copying = move || copy(output, log, &kept);
        let copying = std::thread::Builder::new().name("falco output".to_owned()).spawn(copying);
        copying.map_err(|error| format!("no thread for Falco's output: {error}"))?;
        Ok((process, last))
    }

    /// Listens for rows and alerts, and lets the judging threads use both.
    fn listen(&self) -> Result<Listening, String> {
        let place = Place::make(&self.wanted.place)?;
        let rows = place.listen()?;
        let alerts = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .map_err(|error| format!("no port of the loopback is free for Falco's alerts: {error}"))?;
        let generation = &self.wanted.rules.generation;
        let mut key = [0; castellan_rows::KEY_BYTES];
        getrandom::fill(&mut key).map_err(|error| format!("the system gives no random numbers: {error}"))?;
        let identity = Identity {
            key,
            generation: Generation::parse(generation).ok_or("the rules have no generation")?,
        };
        let secret = Secret::random().map_err(|error| error.to_string())?;
        let (pid, engine, number) = (Arc::clone(&self.pid), self.engine, self.number);
        let setup = Setup {
            rows,
            alerts,
            identity,
            secret: secret.clone(),
            rules: self.wanted.rules.count,
            roll: self.wanted.rules.roll.clone(),
            admit: Box::new(move |stream| {
                let peer = peer_of(stream).map_err(|error| error.to_string())?;
                let own = *pid.lock().unwrap_or_else(PoisonError::into_inner);
                match peer.pid == own && peer.user == rustix::process::geteuid().as_raw() {
                    true => Ok(()),
                    false => Err(format!(
                        "process {} is not the Falco that castellan started, which is process {own}",
                        peer.pid
                    )),
                }
            }),
        };
        let remote = RemoteEngine::start(setup, move |event| heard(engine, number, event));
        let remote = Arc::new(remote.map_err(|error| format!("Falco's channel: {error}"))?);
        self.set(|inner| inner.remote = Some(Arc::clone(&remote)));
        let url = format!("http://{}{}", remote.address(), secret.path());
        Ok(Listening { place, url, secret, key: base16ct::lower::encode_string(&key) })
    }

    /// Looks after a Falco until it ends, hangs or is not wanted any more.
    fn watch(&self, mut process: Process, last: &LastLine) -> End {
        // Since when it is not connected.
        let mut away = Some(Instant::now());
        loop {
            if !self.lasts() {
                process.stop();
                return End::Unwanted;
            }
            if let Some(ended) = process.ended() {
                return End::Failed(format!("Falco has ended ({}){}", ended.status, said(last)));
            }
            let inner = self.engine.lock();
            let (is_connected, is_hanging) = (inner.is_connected, inner.late >= ENGINE_LATE_MAX);
            let (is_away, problem) = (inner.since.is_none(), inner.problem.clone());
            let remote = inner.remote.clone().filter(|_| is_connected && is_away);
            drop(inner);
            away = if is_away { away.or_else(|| Some(Instant::now())) } else { None };
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
            process.stop();
            return End::Failed(why);
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
        set(self.engine, self.number, change);
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

fn set(engine: &Engine, number: u64, change: impl FnOnce(&mut super::Inner)) {
    let mut inner = engine.lock();
    if inner.round == number {
        change(&mut inner);
    }
    drop(inner);
    engine.changed.notify_all();
}

/// Notes a change of the channel.
fn heard(engine: &Engine, number: u64, event: &SenderEvent) {
    match event {
        // It judges once it has shown that it tests all rules.
        SenderEvent::Connected(_) => set(engine, number, |inner| {
            inner.state = EngineState::Starting;
            inner.is_connected = true;
        }),
        SenderEvent::Closed(_) => set(engine, number, |inner| {
            if inner.state == EngineState::Judging {
                inner.state = EngineState::Starting;
            }
            inner.is_connected = false;
            inner.judged = time_since(inner.since.take());
            "Falco's connection has ended".clone_into(&mut inner.problem);
        }),
        SenderEvent::Refused(why) => {
            set(engine, number, |inner| {
                if inner.state != EngineState::Judging {
                    why.clone_into(&mut inner.problem);
                }
            });
            engine.tell(&format!("a process was not let in as Falco: {why}"));
        }
    }
}

/// Returns Falco's last line for a reason.
fn said(last: &LastLine) -> String {
    let line = last.get();
    if line.is_empty() { String::new() } else { format!("; its last line: {line}") }
}

/// What a Falco of this round is told.
struct Listening {
    place: Place,
    url: String,
    secret: Secret,
    key: String,
}

impl Listening {
    fn write(&self, wanted: &Wanted) -> Result<(), String> {
        let text = |path: std::path::PathBuf| {
            path.into_os_string().into_string().map_err(|path| format!("`{}` is not UTF-8", path.display()))
        };
        let (rules, socket) = (text(self.place.rules())?, text(self.place.socket())?);
        let config = alone(&EngineConfig {
            rules: &rules,
            library: &wanted.settings.plugin,
            socket: &socket,
            user: rustix::process::geteuid().as_raw(),
            key: &self.key,
            generation: &wanted.rules.generation,
            url: &self.url,
            user_agent: self.secret.agent(),
        });
        self.place.write(&config, &wanted.rules.yaml)
    }
}

/// The secrets end with the round.
impl Drop for Listening {
    fn drop(&mut self) {
        // The next start removes what stays.
        let _ = self.place.clear();
    }
}
