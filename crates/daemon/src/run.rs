//! The daemon's life: one for each home, from lock to last call.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use castellan_audit::{AuditError, Log};
use castellan_files::explained;
use rustix::process::DumpableBehavior;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::clock::wall;
use crate::configured::servers_before;
use crate::control_server::ControlServer;
use crate::facts::own_paths;
use crate::gaps;
use crate::judge::{Judge, random};
use crate::layout::{Layout, LayoutError};
use crate::limits::{HOUSEKEEPING, RETENTION_ROUNDS, WATCH};
use crate::lookout::Lookout;
use crate::memory::Memory;
use crate::peers::Peers;
use crate::policy_state::{PolicyState, has_records};
use crate::secret::Secrets;
use crate::server::Server;
use crate::shipped::write_shipped;
use crate::sockets::{Lock, Socket, Sockets};
use crate::watch::Watch;

/// Why a daemon does not run.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// Another daemon serves this home; it is left alone.
    #[error("a daemon already serves `{0}`")]
    AlreadyRunning(PathBuf),
    /// The home cannot be used.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The log cannot be opened. Calls could not be recorded, so none could be let through.
    #[error(transparent)]
    Log(#[from] AuditError),
    /// A file or socket could not be made.
    #[error("`{0}`: {why}", why = explained(.1))]
    Io(PathBuf, io::Error),
    /// The system gives no more threads or signal handlers.
    #[error(
        "a thread could not be started: {0}: end other programs, or raise the limit of processes (`ulimit -u`)"
    )]
    Thread(io::Error),
}

/// What can happen to a running daemon from outside a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Finish calls in flight and end.
    End,
    /// Look at the rule files at once, where they are watched.
    Reload,
}

/// Serves the home `dir` until SIGTERM or a control request. Makes the home if it does not exist.
pub fn run(dir: &Path) -> Result<(), DaemonError> {
    // A session of its own, so that nothing that ends the starter's terminal ends the daemon. Refused, rightly, where a
    // shell's job control made this process a group: in the foreground.
    let _ = rustix::process::setsid();
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    // Other processes of this user must not read the daemon's memory or attach to it.
    let _ = rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let layout = Layout::read(dir)?;
    layout.create()?;
    let lock = lock(&layout)?;
    layout.remove_leftovers();
    // Beside the rules, which take longer. Where no thread can be started, opening the log does it.
    let _ = spawn("patterns", castellan_audit::prepare);
    write_shipped(&layout).map_err(|error| DaemonError::Io(layout.rules_shipped(), error))?;

    let (policy_state, config, terms) = PolicyState::start(&layout);
    let is_first = !has_records(&layout);
    let log = Log::open(&layout.log(), config.log, wall()).map_err(|error| match error {
        // Its lock was taken from it, and is not yet made again.
        AuditError::Locked { .. } => DaemonError::AlreadyRunning(layout.home().dir().to_owned()),
        other @ (AuditError::Io { .. } | AuditError::TooLong { .. } | AuditError::Encode(_)) => other.into(),
    })?;
    let memory = Memory::open(layout.journal(), is_first, random());
    let (mut memory, trouble) = memory.map_err(|error| DaemonError::Io(layout.journal(), error))?;
    if memory.wants_servers() {
        memory.know_servers(servers_before(&layout));
        memory.save().map_err(|error| DaemonError::Io(layout.journal(), error))?;
    }
    let peers = Arc::new(Peers::default());
    peers.guard_again(memory.processes());
    let judge = Arc::new(Judge::new(terms, log, own_paths(&layout), memory));
    let policy_state = Arc::new(policy_state);
    policy_state.record_start(&judge);
    if let Some(trouble) = trouble {
        judge.fail("state", &trouble);
    }
    gaps::collect(layout.home(), &judge);

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
        connections: AtomicUsize::new(0),
        deciding: Mutex::default(),
        mode_changes: Mutex::default(),
    });
    let control_socket = listen(layout.home().control_socket())?;
    let of_control = Arc::clone(&control_socket);
    spawn("control", move || control.serve(&of_control))?;
    let lookout = Lookout::new(Arc::clone(&judge));
    spawn("lookout", move || lookout.run())?;
    // The hook socket comes last: who can connect is served.
    let hook_socket = listen(layout.home().hook_socket())?;
    let server = Server::start(Arc::clone(&hook_socket), Arc::clone(&judge), peers);
    let server = server.map_err(DaemonError::Thread)?;
    let mut sockets = Sockets::new(layout.home(), lock, control_socket, hook_socket);
    keep_house(&received, &layout, &judge, &policy_state, &mut sockets);
    sockets.close();
    server.stop();
    Ok(())
}

/// Looks after the sockets, rule files and the organisation's, gaps, state and log until the daemon is to end.
fn keep_house(
    received: &Receiver<Signal>,
    layout: &Layout,
    judge: &Judge,
    policy_state: &PolicyState,
    sockets: &mut Sockets,
) {
    let (mut watch, mut organisation) = (Watch::default(), Watch::default());
    let mut rounds: u32 = 0;
    let mut next_round = Instant::now();
    loop {
        let watches = policy_state.watches();
        let changed = match received.recv_timeout(if watches { WATCH } else { HOUSEKEEPING }) {
            Ok(Signal::End) | Err(RecvTimeoutError::Disconnected) => return,
            // Where files wait to be applied, a signal loads nothing: `castellan status` looks for itself.
            Ok(Signal::Reload) => true,
            Err(RecvTimeoutError::Timeout) => watches && watch.has_changed(layout),
        };
        if changed && let Err(why) = policy_state.reload(judge) {
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
        if organisation.has_organisation_changed(layout) {
            policy_state.reload_organisation(judge);
        }
        if let Err(why) = policy_state.end_trial(judge, false, (0, 0)) {
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

/// Locks the home for this process's life.
fn lock(layout: &Layout) -> Result<Lock, DaemonError> {
    let path = layout.home().daemon_lock();
    let taken = Lock::take(path.clone()).map_err(|error| DaemonError::Io(path, error))?;
    taken.ok_or_else(|| DaemonError::AlreadyRunning(layout.home().dir().to_owned()))
}

/// Listens, in the place of a socket that a dead daemon left behind: the lock says that it is dead.
fn listen(path: PathBuf) -> Result<Arc<Socket>, DaemonError> {
    Socket::listen(path.clone()).map(Arc::new).map_err(|error| DaemonError::Io(path, error))
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
