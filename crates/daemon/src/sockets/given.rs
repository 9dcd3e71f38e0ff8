//! [`Given`]: listening sockets that another process has made: a service manager, or the daemon before. Nothing is taken
//! unless it is what this daemon would have made itself. Otherwise a process could pass sockets on which nobody calls, or
//! keep calls for itself.

use std::fs::{Permissions, symlink_metadata};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use castellan_wire::{Home, connect};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::Modes;
use super::pause::is_own;
use crate::limits::{GIVEN_WAITING_MAX, LISTEN_BACKLOG};
use crate::platform::listener_of;
use crate::process::has_ended;

/// The process that must have made the sockets listen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    Process(u32),
    /// This process, or a daemon before that has ended: it has called `listen` as this one will.
    Manager(u32),
    /// This process itself, or a successor of it that has failed.
    Own,
}

/// The reason why a socket is not taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GivenError {
    /// It is no listening Unix stream socket.
    #[error("it is no listening Unix stream socket")]
    Kind,
    /// Another process than the one that passes it can take its connections.
    #[error("process {0} listens on it, not process {1}, which passes it")]
    Owner(u32, u32),
    /// No socket of this user is at the path.
    #[error("no socket of this user is at its path")]
    NoSocket,
    /// Connections to the path arrive elsewhere.
    #[error("connections to its path do not arrive on it: something else is in its place")]
    Elsewhere,
    /// Too many connections wait.
    #[error("more than {GIVEN_WAITING_MAX} connections wait on it")]
    Waiting,
    /// A system call failed.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// A listening socket at a path.
#[derive(Debug)]
pub(crate) struct Given {
    pub(super) listener: UnixListener,
    /// The mode of its file.
    pub(super) mode: u32,
    /// Connections that arrived before. They are served first.
    pub(super) waiting: Vec<UnixStream>,
}

impl Given {
    /// Takes a socket that listens at `path`. It belongs to this process from now on: clients see this process as its peer.
    pub(crate) fn take(
        descriptor: OwnedFd,
        (path, mode): (&Path, u32),
        owner: Owner,
    ) -> Result<Given, GivenError> {
        check_kind(&descriptor, owner)?;
        let own = rustix::process::geteuid().as_raw();
        symlink_metadata(path)
            .ok()
            .filter(|found| found.file_type().is_socket() && found.uid() == own)
            .ok_or(GivenError::NoSocket)?;
        std::fs::set_permissions(path, Permissions::from_mode(mode))?;
        let listener = UnixListener::from(descriptor);
        listener.set_nonblocking(false)?;
        let mut given = Given { listener, mode, waiting: Vec::new() };
        given.check_place(path)?;
        // The kernel gives clients the process that has called this last.
        rustix::net::listen(&given.listener, LISTEN_BACKLOG).map_err(io::Error::from)?;
        Ok(given)
    }

    /// Adds a connection that another process has accepted and not served.
    pub(crate) fn add(&mut self, stream: UnixStream) {
        self.waiting.push(stream);
    }

    /// Checks that a connection to the path arrives on the socket.
    fn check_place(&mut self, path: &Path) -> Result<(), GivenError> {
        // First the connections that wait: `connect` would wait for ever on a full queue.
        while self.has_waiting()? {
            self.accept()?;
        }
        let probe = connect(path)?;
        while self.has_waiting()? {
            if self.accept()? {
                drop(probe);
                return Ok(());
            }
        }
        Err(GivenError::Elsewhere)
    }

    /// Accepts a connection and keeps it. Returns true, and does not keep it, if it is this process's own.
    fn accept(&mut self) -> Result<bool, GivenError> {
        let (stream, _) = self.listener.accept()?;
        if is_own(&stream) {
            return Ok(true);
        }
        if self.waiting.len() >= GIVEN_WAITING_MAX {
            return Err(GivenError::Waiting);
        }
        self.waiting.push(stream);
        Ok(false)
    }

    fn has_waiting(&self) -> io::Result<bool> {
        let mut watched = [PollFd::new(&self.listener, PollFlags::IN)];
        Ok(poll(&mut watched, Some(&Timespec::default()))? > 0)
    }
}

fn check_kind(descriptor: &OwnedFd, owner: Owner) -> Result<(), GivenError> {
    let listens = listener_of(descriptor)?.ok_or(GivenError::Kind)?;
    match owner {
        Owner::Process(expected) if listens != expected => Err(GivenError::Owner(listens, expected)),
        Owner::Manager(expected) if listens != expected && !has_ended(listens) => {
            Err(GivenError::Owner(listens, expected))
        }
        Owner::Process(_) | Owner::Manager(_) | Owner::Own => Ok(()),
    }
}

/// The two sockets of a home.
#[derive(Debug)]
pub(crate) struct GivenPair {
    pub(crate) hook: Given,
    pub(crate) control: Given,
}

impl GivenPair {
    /// Takes both sockets of a home. The error names the one that is not taken.
    pub(crate) fn take(
        home: &Home,
        [hook, control]: [OwnedFd; 2],
        owner: Owner,
    ) -> Result<GivenPair, (&'static str, GivenError)> {
        let mode = Modes::of(home).socket;
        let take = |descriptor, path: &Path| Given::take(descriptor, (path, mode), owner);
        let hook = take(hook, &home.hook_socket()).map_err(|error| ("hook", error))?;
        let control = take(control, &home.control_socket()).map_err(|error| ("control", error))?;
        Ok(GivenPair { hook, control })
    }
}
