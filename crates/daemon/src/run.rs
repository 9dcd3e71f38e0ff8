//! The life of the daemon, one for each home, from lock to last call.

mod source;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use castellan_audit::{AuditError, Copier, Log};
use castellan_files::explained;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use self::source::Source;
use crate::clock::wall;
use crate::config::Config;
use crate::configured::servers_before;
use crate::containment::Containment;
use crate::control_server::{Connections, ControlServer, Signal};
use crate::engine::Engine;
use crate::facts::own_paths;
use crate::gaps;
use crate::handover::{Gift, Predecessor, Successor, resume};
use crate::judge::{Judge, Terms, random};
use crate::layout::{Layout, LayoutError};
use crate::limits::{HOUSEKEEPING, RETENTION_ROUNDS, SHUTDOWN_TIME, WATCH};
use crate::lost;
use crate::memory::Memory;
use crate::monitor::Monitor;
use crate::newer::{self, Newer};
use crate::notification;
use crate::outside::Outside;
use crate::peers::Peers;
use crate::plans::Plans;
use crate::platform::close_memory;
use crate::policy_state::{PolicyState, has_records};
use crate::refusals::Refusals;
use crate::secret::Secrets;
use crate::server::Server;
use crate::sight;
use crate::sockets::{Accepted, Sockets};
use crate::system;
use crate::watch::Watch;

/// The reason why a daemon does not run.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// Another daemon serves this home and continues.
    #[error("a daemon already serves `{0}`: `castellan status` shows it")]
    AlreadyRunning(PathBuf),
    /// The home cannot be used.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The log cannot be opened. castellan could not record calls and so could not allow any.
    #[error(transparent)]
    Log(#[from] AuditError),
    /// This process may not serve a home of the system.
    #[error("{0}")]
    System(String),
    /// State or log are of a newer castellan.
    #[error(transparent)]
    Newer(#[from] Newer),
    /// The daemon before and this one could not agree on a handover.
    #[error("no handover: {0}")]
    HandOver(String),
    /// A file or socket could not be created.
    #[error("`{0}`: {why}", why = explained(.1))]
    Io(PathBuf, io::Error),
    /// The system gives no more threads or signal handlers.
    #[error(
        "a thread could not be started: {0}: end other programs, or raise the limit of processes (`ulimit -u`)"
    )]
    Thread(io::Error),
}

/// The way in which a daemon starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// Makes its sockets, or takes those that a service manager passes.
    New,
    /// Takes over from the daemon that is connected to standard input.
    TakeOver,
    /// Serves on after the next daemon has failed: the same process was the daemon before.
    Resume,
}

/// Serves the home `dir` until SIGTERM, a control request or a handover. Creates a missing home.
pub fn run(dir: &Path, start: Start) -> Result<(), DaemonError> {
    // First, because this process has one thread only now.
    let passed = castellan_inherit::passed().map_err(|wrong| wrong.to_string());
    // Starts a new session, so that the end of the starter's terminal does not end the daemon. The call fails in the
    // foreground, where the shell's job control made this process a group; that is right.
    let _ = rustix::process::setsid();
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    // Other processes of this user must not read the daemon's memory or attach to it.
    close_memory();
    let layout = Layout::read(dir)?;
    system::begin(layout.home()).map_err(DaemonError::System)?;
    newer::check(&layout)?;
    layout.create()?;
    let (lock, source, ready) = Source::begin(start, &layout, passed)?;
    layout.remove_leftovers();
    // Runs beside the slower loading of rules. If no thread can be started, opening the log prepares the patterns.
    let _ = spawn("patterns", castellan_audit::prepare);

    let engine = Arc::new(Engine::default());
    let (policy_state, config, terms) = PolicyState::start_with(&layout, ready, Arc::clone(&engine));
    let peers = Arc::new(Peers::default());
    let (judge, trouble) = judge(&layout, &config, terms, (&peers, &engine))?;
    let of_engine = Arc::downgrade(&judge);
    engine.record_by(move |line| {
        if let Some(judge) = of_engine.upgrade() {
            judge.record_problem("engine", line);
        }
    });
    let policy_state = Arc::new(policy_state);
    policy_state.record_start(&judge);
    // A daemon with a user of its own cannot write the user's files.
    if !sight::is_through_reader() {
        for problem in judge.undo().open(&layout.checkpoints()) {
            judge.record_problem("undo", &problem);
        }
    }
    if let Some(trouble) = trouble {
        judge.fail("state", &trouble);
        lost::restore(&judge);
    }
    // The organisation may have set a mode since.
    policy_state.end_forbidden_pause(&judge);
    gaps::collect(layout.home(), &judge);
    notification::serve_home(layout.home().dir());
    let (sockets, predecessor) = source.open(&layout, lock, &judge)?;
    serve(&layout, sockets, predecessor, (judge, peers, policy_state, engine))
}

/// Opens state and log. Returns the problem if the state was lost.
fn judge(
    layout: &Layout,
    config: &Config,
    terms: Terms,
    (peers, engine): (&Arc<Peers>, &Arc<Engine>),
) -> Result<(Arc<Judge>, Option<String>), DaemonError> {
    let is_first = !has_records(layout);
    let outside = Arc::new(Outside::new(config.copies_log));
    let receiver = Arc::clone(&outside);
    let copier = Copier::new(move |copied| receiver.send(copied));
    let log = Log::open_copied(&layout.log(), config.log.clone(), copier, wall());
    let log = log.map_err(|error| match error {
        // The daemon's lock was taken away and is not restored yet.
        AuditError::Locked { .. } => DaemonError::AlreadyRunning(layout.home().dir().to_owned()),
        other @ (AuditError::Io { .. }
        | AuditError::Closed { .. }
        | AuditError::TooLong { .. }
        | AuditError::Encode(_)) => other.into(),
    })?;
    let memory = Memory::open(layout.journal(), is_first, random());
    let (mut memory, trouble) = memory.map_err(|error| DaemonError::Io(layout.journal(), error))?;
    // Without the reader, the next start reads them.
    if memory.wants_servers() && sight::check().is_ok() {
        memory.know_servers(servers_before(layout));
        memory.save().map_err(|error| DaemonError::Io(layout.journal(), error))?;
    }
    peers.guard_again(memory.processes());
    let plans = Plans::new(layout.state());
    let judge = Judge::new(terms, log, own_paths(layout), memory, plans, Arc::clone(peers));
    let judge = Arc::new(judge.with_engine(Arc::clone(engine)));
    if !sight::is_through_reader() {
        judge.contain_with(Containment::new(layout.clone()));
    }
    judge.copy_to(outside);
    Ok((judge, trouble))
}

/// Serves until the daemon ends.
fn serve(
    layout: &Layout,
    mut sockets: Sockets,
    predecessor: Option<Predecessor>,
    (judge, peers, policy_state, engine): (Arc<Judge>, Arc<Peers>, Arc<PolicyState>, Arc<Engine>),
) -> Result<(), DaemonError> {
    let (signals, received) = channel();
    watch_signals(&signals).map_err(DaemonError::Thread)?;
    let control = Arc::new(ControlServer {
        layout: layout.clone(),
        judge: Arc::clone(&judge),
        peers: Arc::clone(&peers),
        policy: Arc::clone(&policy_state),
        secrets: Secrets::new(layout.secrets()),
        signals,
        started: Instant::now(),
        connections: Connections::default(),
        strangers: Refusals::default(),
        deciding: Mutex::default(),
        mode_changes: Mutex::default(),
        plan_changes: Mutex::default(),
        is_managed: sockets.is_managed(),
        handing_over: AtomicBool::new(false),
    });
    let [control_socket, hook_socket] = sockets.both().map(Arc::clone);
    let of_control = Arc::clone(&control);
    spawn("control", move || of_control.serve(&control_socket))?;
    let monitor = Monitor::new(Arc::clone(&judge));
    spawn("monitor", move || monitor.run())?;
    let (of_recent, last) = (Arc::clone(&judge), judge.log().status().last_seq);
    // Before the first call. The status says that the counts are not whole until then.
    spawn("recent", move || count_before(&of_recent, last))?;
    let server = Server::start(hook_socket, Arc::clone(&judge), peers).map_err(DaemonError::Thread)?;
    if let Some(predecessor) = predecessor
        && let Err(why) = predecessor.serving()
    {
        judge.record_problem("handover", &format!("the daemon before has ended by itself: {why}"));
    }
    match keep_house(&received, layout, &judge, &policy_state, &mut sockets) {
        Over::End => {
            sockets.close();
            server.stop();
            engine.end();
            Ok(())
        }
        Over::HandOver(successor) => {
            hand_over(&successor, layout, &mut sockets, (&control, &server, &judge, &engine))
        }
    }
}

/// Counts the calls of the daemons before: those in the log up to the number `last`.
fn count_before(judge: &Judge, last: u64) {
    if let Err(error) = judge.recent().fill(judge.log().dir(), last, wall()) {
        judge.record_problem("log", &format!("the calls of today before the start are not counted: {error}"));
    }
}

/// The reason why a daemon serves no more.
enum Over {
    End,
    HandOver(Box<Successor>),
}

/// Answers the calls and requests in hand, and gives everything to the next daemon. Serves on if that fails.
fn hand_over(
    successor: &Successor,
    layout: &Layout,
    sockets: &mut Sockets,
    (control, server, judge, engine): (&ControlServer, &Server, &Judge, &Engine),
) -> Result<(), DaemonError> {
    // The paths must lead to the sockets: the threads are woken by connections.
    for line in sockets.mend() {
        judge.fail("home", &line);
    }
    let [control_socket, hook_socket] = sockets.both();
    for socket in [hook_socket, control_socket] {
        socket.pause(Accepted::Kept);
    }
    control_socket.knock();
    server.stop();
    control.connections.await_none(SHUTDOWN_TIME);
    // The next daemon starts its own.
    engine.end();
    let gift = Gift {
        hook: hook_socket.listener(),
        control: control_socket.listener(),
        lock: sockets.lock().descriptor(),
        hook_kept: hook_socket.take_kept(),
        control_kept: control_socket.take_kept(),
    };
    let Err(why) = judge.close().and_then(|()| successor.give(&gift)) else { return Ok(()) };
    let error = resume(layout.home().dir(), &gift, &why);
    Err(DaemonError::HandOver(format!("{why}; this daemon cannot serve on: {error}")))
}

/// Maintains the sockets, rule files, the organisation's files, gaps, state and log until the daemon ends.
fn keep_house(
    received: &Receiver<Signal>,
    layout: &Layout,
    judge: &Judge,
    policy_state: &PolicyState,
    sockets: &mut Sockets,
) -> Over {
    let (mut watch, mut organisation) = (Watch::default(), Watch::default());
    let mut rounds: u32 = 0;
    let mut next_round = Instant::now();
    loop {
        let watches = policy_state.watches();
        let changed = match received.recv_timeout(if watches { WATCH } else { HOUSEKEEPING }) {
            Ok(Signal::End) | Err(RecvTimeoutError::Disconnected) => return Over::End,
            Ok(Signal::HandOver(successor)) => return Over::HandOver(successor),
            // Loads nothing if files are applied by a person: `castellan status` reads the files itself.
            Ok(Signal::Reload) => true,
            Err(RecvTimeoutError::Timeout) => watches && watch.has_changed(layout),
        };
        if (changed || policy_state.is_reload_due())
            && let Err(why) = policy_state.reload(judge)
        {
            let what = format!("the rule files do not load, the last good ones stay: {why}");
            judge.record_problem("policy", &what);
        }
        if Instant::now() < next_round {
            continue;
        }
        next_round = Instant::now() + HOUSEKEEPING;
        for line in sockets.mend() {
            judge.fail("home", &line);
        }
        judge.mend_state();
        judge.end_runs();
        judge.end_due_pause();
        policy_state.end_forbidden_pause(judge);
        judge.keep_contained();
        judge.retry_outside();
        if let Ok(store) = judge.undo().store() {
            store.prune();
        }
        if organisation.has_organisation_changed(layout) || policy_state.is_organisation_due() {
            policy_state.reload_organisation(judge);
        }
        if let Err(why) = policy_state.end_due_trial(judge) {
            judge.fail("policy", &format!("rules stay on trial whose time is over: {why}"));
        }
        gaps::collect(layout.home(), judge);
        rounds = rounds.wrapping_add(1);
        if rounds.is_multiple_of(RETENTION_ROUNDS)
            && let Err(error) = judge.log().maintain(wall())
        {
            judge.fail("log", &format!("the log could not be maintained: {error}"));
        }
    }
}

fn watch_signals(signals: &Sender<Signal>) -> io::Result<()> {
    let mut caught = signal_hook::iterator::Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    let signals = signals.clone();
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        for number in caught.forever() {
            let signal = if number == SIGHUP { Signal::Reload } else { Signal::End };
            if signals.send(signal).is_err() {
                return;
            }
        }
    })?;
    Ok(())
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), DaemonError> {
    let spawned = std::thread::Builder::new().name(name.into()).spawn(work);
    spawned.map(drop).map_err(DaemonError::Thread)
}
