//! The daemon before: [`Successor`] gives it everything, and [`resume`] takes the home back.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use castellan_wire::DAEMON_ENVIRONMENT;
use rustix::process::{Pid, Signal, kill_process};

use super::{Message, MessageError, VERSION, descriptors};
use crate::limits::{HANDOVER_START_TIME, HANDOVER_TIME, KILL_POLL, KILL_TIME};
use crate::platform;
use crate::process::{Process, has_ended};

/// The next daemon, connected, and ready to take over.
#[derive(Debug)]
pub(crate) struct Successor {
    stream: UnixStream,
    process: Process,
}

/// Everything that the next daemon gets.
#[derive(Debug)]
pub(crate) struct Gift<'l> {
    pub(crate) hook: Arc<UnixListener>,
    pub(crate) control: Arc<UnixListener>,
    pub(crate) lock: BorrowedFd<'l>,
    /// Connections to the hook socket that have sent nothing.
    pub(crate) hook_kept: Vec<UnixStream>,
    /// Connections to the control socket that have sent nothing.
    pub(crate) control_kept: Vec<UnixStream>,
}

impl Successor {
    /// Waits until the process at the other end of a permitted connection is ready.
    pub(crate) fn wait(stream: UnixStream) -> Result<Successor, String> {
        let shown = |error: MessageError| error.to_string();
        let Message::Take { version, pid } = Message::receive(&stream, HANDOVER_START_TIME).map_err(shown)?
        else {
            return Err(MessageError::Kind.to_string());
        };
        if version != VERSION {
            return Err(format!("it speaks version {version} of the handover, this daemon {VERSION}"));
        }
        // The requesting process has started it. Only such a process is ended if it hangs.
        let peer = platform::peer_of(&stream).map_err(|error| error.to_string())?.pid;
        let process = Process::read(pid).filter(|process| process.parent == peer);
        let process = process.ok_or("it is no child of the process that has asked")?;
        Ok(Successor { stream, process })
    }

    /// Gives everything, and waits until the next daemon serves. After an error, it runs no more.
    pub(crate) fn give(&self, gift: &Gift<'_>) -> Result<(), String> {
        let given = send(&self.stream, gift, "").and_then(|()| Message::receive(&self.stream, HANDOVER_TIME));
        let why = match given {
            Ok(Message::Serving) => return Ok(()),
            Ok(Message::Take { .. } | Message::Given { .. }) => MessageError::Kind.to_string(),
            Err(error) => error.to_string(),
        };
        self.end();
        Err(why)
    }

    /// Ends the process, so that two daemons never serve at once.
    fn end(&self) {
        let is_it = || Process::read(self.process.pid).is_some_and(|now| now.started == self.process.started);
        let pid = i32::try_from(self.process.pid).ok().and_then(Pid::from_raw);
        let until = Instant::now() + KILL_TIME;
        while is_it() && !has_ended(self.process.pid) && Instant::now() < until {
            let _ = pid.map(|pid| kill_process(pid, Signal::KILL));
            std::thread::sleep(KILL_POLL);
        }
    }
}

fn send(stream: &UnixStream, gift: &Gift<'_>, why: &str) -> Result<(), MessageError> {
    let Gift { hook, control, lock, hook_kept, control_kept } = gift;
    let why = why.to_owned();
    Message::Given { hook: hook_kept.len(), control: control_kept.len(), why }.send(stream)?;
    let mut all = vec![hook.as_fd(), control.as_fd(), *lock];
    all.extend(hook_kept.iter().chain(control_kept).map(AsFd::as_fd));
    Ok(descriptors::send(stream, &all).map_err(castellan_wire::WireError::from)?)
}

/// The option by which [`resume`] starts this program.
pub(crate) const RESUME: &str = "--resume";

/// Replaces this process by a new start of the same program, which takes everything and records `why`. Returns only after an
/// error.
pub(crate) fn resume(home: &Path, gift: &Gift<'_>, why: &str) -> io::Error {
    let start = || -> io::Result<io::Error> {
        let (ours, theirs) = UnixStream::pair()?;
        send(&ours, gift, why).map_err(io::Error::other)?;
        // Linux's path leads to the running program, even after an update has replaced its file.
        let mut command = Command::new(platform::own_executable_file()?);
        command.args(["daemon", RESUME, "--home"]).arg(home);
        command.env_clear().envs(DAEMON_ENVIRONMENT).stdin(Stdio::from(OwnedFd::from(theirs)));
        Ok(command.exec())
    };
    start().unwrap_or_else(|error| error)
}
