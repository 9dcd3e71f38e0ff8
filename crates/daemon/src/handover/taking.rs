//! The next daemon: [`Predecessor`] checks who gives, and takes the descriptors.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use castellan_wire::Home;
use rustix::fs::{Mode, OFlags};

use super::{Message, VERSION, descriptors};
use crate::control::check_listener;
use crate::limits::HANDOVER_GIVE_TIME;
use crate::platform::peer_of;
use crate::presence::{is_own_within_agent, is_within_agent};
use crate::sockets::{GivenPair, Lock, Owner};

/// The daemon before, at the other end of standard input.
#[derive(Debug)]
pub(crate) struct Predecessor {
    stream: UnixStream,
    owner: Owner,
}

/// What the daemon before has given.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) lock: Lock,
    pub(crate) sockets: TakenSockets,
    pub(crate) predecessor: Predecessor,
    /// The reason why this process serves on, for the log; empty if another daemon served before.
    pub(crate) why: String,
}

/// Sockets that are not checked yet.
#[derive(Debug)]
pub(crate) struct TakenSockets {
    listeners: [OwnedFd; 2],
    /// Connections to the hook socket, then to the control socket.
    kept: [Vec<UnixStream>; 2],
}

impl Predecessor {
    /// Takes standard input as the connection to a running daemon. The error says why it is not castellan's.
    pub(crate) fn of_stdin() -> Result<Predecessor, String> {
        let stream = stdin()?;
        // A program that an agent has put there gets no say in where hooks ask.
        check_listener(&stream)?;
        let pid = peer(&stream)?;
        if is_within_agent(pid, |_, _| false) {
            return Err(format!("process {pid}, which listens on castellan's socket, runs within an agent"));
        }
        Ok(Predecessor { stream, owner: Owner::Process(pid) })
    }

    /// Takes standard input as the connection that this process has left for itself.
    pub(crate) fn of_self() -> Result<Predecessor, String> {
        let stream = stdin()?;
        if peer(&stream)? != std::process::id() {
            return Err("another process has made standard input".to_owned());
        }
        if is_own_within_agent() {
            return Err("an agent has started this daemon".to_owned());
        }
        Ok(Predecessor { stream, owner: Owner::Own })
    }

    /// Asks for everything, and receives it. From then on the daemon before serves nothing.
    pub(crate) fn take(self, home: &Home) -> Result<Taken, String> {
        if self.owner != Owner::Own {
            let take = Message::Take { version: VERSION, pid: std::process::id() };
            take.send(&self.stream).map_err(|error| error.to_string())?;
        }
        let given = Message::receive(&self.stream, HANDOVER_GIVE_TIME).map_err(|error| error.to_string())?;
        let Message::Given { hook, control, why } = given else {
            return Err("it has sent another message".to_owned());
        };
        let count = hook.saturating_add(control).saturating_add(3);
        let received = descriptors::receive(&self.stream, count).map_err(|error| error.to_string())?;
        let mut received = received.into_iter();
        let (Some(hook_socket), Some(control_socket), Some(lock)) =
            (received.next(), received.next(), received.next())
        else {
            return Err("it has sent no sockets".to_owned());
        };
        let lock = Lock::of_given(home.daemon_lock(), lock)
            .map_err(|error| format!("`{}`: {error}", home.daemon_lock().display()))?;
        let hook_kept = received.by_ref().take(hook).map(UnixStream::from).collect();
        let kept = [hook_kept, received.map(UnixStream::from).collect()];
        let sockets = TakenSockets { listeners: [hook_socket, control_socket], kept };
        Ok(Taken { lock, sockets, predecessor: self, why })
    }

    /// Checks the sockets. Only now calls are accepted, so that none is lost if this daemon fails before.
    pub(crate) fn check(&self, home: &Home, sockets: TakenSockets) -> Result<GivenPair, String> {
        let TakenSockets { listeners, kept: [hook, control] } = sockets;
        let mut pair = GivenPair::take(home, listeners, self.owner)
            .map_err(|(name, error)| format!("the {name} socket: {error}"))?;
        hook.into_iter().for_each(|stream| pair.hook.add(stream));
        control.into_iter().for_each(|stream| pair.control.add(stream));
        Ok(pair)
    }

    /// Lets the daemon before end.
    pub(crate) fn serving(self) -> Result<(), String> {
        if self.owner == Owner::Own {
            return Ok(());
        }
        Message::Serving.send(&self.stream).map_err(|error| error.to_string())
    }
}

/// Takes the socket at standard input, which is the null device from then on: a program that the daemon starts must not
/// hold the connection open.
fn stdin() -> Result<UnixStream, String> {
    let taken = || -> std::io::Result<UnixStream> {
        let stream = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
        let null = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        rustix::stdio::dup2_stdin(null)?;
        Ok(stream)
    };
    taken().map_err(|error| format!("standard input: {error}"))
}

fn peer(stream: &UnixStream) -> Result<u32, String> {
    let peer = peer_of(stream).map_err(|error| format!("standard input is no socket: {error}"))?;
    Ok(peer.pid)
}
