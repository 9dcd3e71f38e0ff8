//! [`Source`]: the origin of a daemon's sockets. It must not know what is served.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use castellan_inherit::Passed;

use super::{DaemonError, Start};
use crate::handover::{Predecessor, Taken, TakenSockets};
use crate::judge::Judge;
use crate::layout::Layout;
use crate::newer;
use crate::policy_state::Ready;
use crate::presence::is_own_within_agent;
use crate::process::Process;
use crate::shipped::write_shipped;
use crate::sockets::{GivenPair, Lock, Modes, Owner, Socket, Sockets};

/// Names of the sockets in a service manager's configuration.
const HOOK: &str = "hook";
const CONTROL: &str = "control";

/// The origin of the sockets.
#[derive(Debug)]
pub(super) enum Source {
    /// The daemon makes them.
    Own,
    /// A service manager passes them, and keeps them.
    Manager([OwnedFd; 2]),
    /// A service manager passes something that is not taken, for this reason.
    NotTaken(String),
    /// The daemon before gives them. The text says why this process serves on itself, or is empty.
    Daemon(TakenSockets, Predecessor, String),
}

impl Source {
    /// Gets the lock of the home and the origin of the sockets. From then on no other daemon serves. Also returns the
    /// rules, if they are loaded.
    pub(super) fn begin(
        start: Start,
        layout: &Layout,
        passed: Result<Vec<Passed>, String>,
    ) -> Result<(Lock, Source, Option<Ready>), DaemonError> {
        let (predecessor, ready) = match start {
            Start::New => {
                let lock = lock(layout)?;
                write(layout)?;
                return Ok((lock, Source::of_passed(passed), None));
            }
            Start::TakeOver => {
                // The daemon before serves while the slow part of a start is done, and serves on if it fails.
                castellan_audit::prepare();
                write(layout)?;
                let ready = newer::check_whole(layout).map_err(DaemonError::HandOver)?;
                (Predecessor::of_stdin(), ready)
            }
            Start::Resume => (Predecessor::of_self(), None),
        };
        let taken = predecessor.and_then(|predecessor| predecessor.take(layout.home()));
        let Taken { lock, sockets, predecessor, why } = taken.map_err(DaemonError::HandOver)?;
        Ok((lock, Source::Daemon(sockets, predecessor, why), ready))
    }

    fn of_passed(passed: Result<Vec<Passed>, String>) -> Source {
        let passed = match passed {
            Ok(passed) if passed.is_empty() => return Source::Own,
            Ok(passed) => passed,
            Err(why) => return Source::NotTaken(why),
        };
        let (mut hook, mut control) = (None, None);
        for Passed { name, descriptor } in passed {
            let place = match name.as_str() {
                HOOK => &mut hook,
                CONTROL => &mut control,
                other => {
                    let name = other.escape_debug();
                    return Source::NotTaken(format!(
                        "a socket has the name `{name}`, not `hook` or `control`"
                    ));
                }
            };
            if place.replace(descriptor).is_some() {
                return Source::NotTaken(format!("two sockets have the name `{name}`"));
            }
        }
        match (hook, control) {
            (Some(hook), Some(control)) => Source::Manager([hook, control]),
            _ => Source::NotTaken("both sockets are needed, with the names `hook` and `control`".to_owned()),
        }
    }

    /// Opens the sockets. The daemon before still exists, and ends after [`Predecessor::serving`].
    pub(super) fn open(
        self,
        layout: &Layout,
        lock: Lock,
        judge: &Judge,
    ) -> Result<(Sockets, Option<Predecessor>), DaemonError> {
        let home = layout.home();
        match self {
            Source::Own => Ok((own(layout, lock)?, None)),
            Source::Manager(listeners) => match of_manager(layout, listeners) {
                Ok(pair) => Ok((given(layout, lock, pair, true)?, None)),
                Err(why) => Source::NotTaken(why).open(layout, lock, judge),
            },
            Source::NotTaken(why) => {
                judge.fail("sockets", &format!(
                    "the sockets of the service manager are not used, castellan makes its own: {why}: castellan service restart"
                ));
                Ok((own(layout, lock)?, None))
            }
            Source::Daemon(sockets, predecessor, why) => {
                if !why.is_empty() {
                    let what = format!("the next daemon did not take over, so this one serves on: {why}");
                    judge.fail("handover", &what);
                }
                let pair = predecessor.check(home, sockets).map_err(DaemonError::HandOver)?;
                Ok((given(layout, lock, pair, false)?, Some(predecessor)))
            }
        }
    }
}

/// Checks the sockets of a service manager. That is the parent of this process, and has made them listen.
fn of_manager(layout: &Layout, listeners: [OwnedFd; 2]) -> Result<GivenPair, String> {
    if is_own_within_agent() {
        return Err("an agent has started this daemon".to_owned());
    }
    let own = Process::read(std::process::id()).ok_or("the parent of this process is unknown")?;
    let taken = GivenPair::take(layout.home(), listeners, Owner::Manager(own.parent));
    taken.map_err(|(name, error)| format!("the {name} socket: {error}"))
}

fn own(layout: &Layout, lock: Lock) -> Result<Sockets, DaemonError> {
    let mode = Modes::of(layout.home()).socket;
    let listen = |path: PathBuf| {
        Socket::listen(path.clone(), mode).map(Arc::new).map_err(|error| DaemonError::Io(path, error))
    };
    // The hook socket comes last, because every connection is served.
    let control = listen(layout.home().control_socket())?;
    let hook = listen(layout.home().hook_socket())?;
    Ok(Sockets::new(layout.home(), lock, [control, hook], false))
}

fn given(
    layout: &Layout,
    lock: Lock,
    GivenPair { hook, control }: GivenPair,
    is_managed: bool,
) -> Result<Sockets, DaemonError> {
    let home = layout.home();
    let socket = |path: PathBuf, given| {
        Socket::of_given(path.clone(), given).map(Arc::new).map_err(|error| DaemonError::Io(path, error))
    };
    let both = [socket(home.control_socket(), control)?, socket(home.hook_socket(), hook)?];
    Ok(Sockets::new(home, lock, both, is_managed))
}

/// Locks the home for this process's life.
fn lock(layout: &Layout) -> Result<Lock, DaemonError> {
    let path = layout.home().daemon_lock();
    let taken = Lock::take(path.clone()).map_err(|error| DaemonError::Io(path, error))?;
    taken.ok_or_else(|| DaemonError::AlreadyRunning(layout.home().dir().to_owned()))
}

fn write(layout: &Layout) -> Result<(), DaemonError> {
    let written = write_shipped(layout);
    written.map(drop).map_err(|error| DaemonError::Io(layout.rules_shipped(), error))
}
