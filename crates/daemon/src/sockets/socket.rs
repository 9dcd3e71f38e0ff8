//! [`Socket`]: a listening socket at a path, with the connections that wait for a thread.

use std::collections::VecDeque;
use std::fs::{Metadata, Permissions, symlink_metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use castellan_wire::{bind, with_short_path};
use rustix::net::SocketAddrUnix;

use super::given::Given;
use super::pause::{Accepted, Pause};
use crate::platform::impatient_socket;

/// A socket that others connect to by a path.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(super) path: PathBuf,
    mode: u32,
    bound: RwLock<Bound>,
    is_closed: AtomicBool,
    /// Connections that another process has accepted and not served.
    waiting: Mutex<VecDeque<UnixStream>>,
    pause: Pause,
}

/// A listener and the file at its path when it was created. No other file gets this inode while the listener is open.
#[derive(Debug, Clone)]
struct Bound {
    listener: Arc<UnixListener>,
    place: Place,
}

/// Device and inode of a file.
pub(super) type Place = (u64, u64);

impl Socket {
    /// Listens at `path` with this file mode, and replaces an existing file: the caller holds the lock.
    pub(crate) fn listen(path: PathBuf, mode: u32) -> io::Result<Socket> {
        let bound = listen(&path, mode)?;
        Socket::new((path, mode), bound, Vec::new())
    }

    /// Serves a socket that another process has made.
    pub(crate) fn of_given(path: PathBuf, given: Given) -> io::Result<Socket> {
        let bound = Bound { listener: Arc::new(given.listener), place: place_of(&path)? };
        Socket::new((path, given.mode), bound, given.waiting)
    }

    fn new((path, mode): (PathBuf, u32), bound: Bound, waiting: Vec<UnixStream>) -> io::Result<Socket> {
        let (bound, waiting) = (RwLock::new(bound), Mutex::new(waiting.into()));
        Ok(Socket { path, mode, bound, is_closed: AtomicBool::new(false), waiting, pause: Pause::new()? })
    }

    /// Waits for the next connection. Returns `None` after [`Socket::pause`], and an error after [`Socket::close`].
    pub(crate) fn accept(&self) -> io::Result<Option<UnixStream>> {
        loop {
            if self.pause.is_on() {
                return Ok(None);
            }
            if let Some(stream) = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front() {
                return Ok(Some(stream));
            }
            let Bound { listener, .. } = self.bound();
            match listener.accept() {
                Ok((stream, _)) if self.pause.is_on() => return Ok(self.pause.pass(stream)),
                Ok((stream, _)) => return Ok(Some(stream)),
                // The socket was recreated meanwhile.
                Err(_) if !self.is_closed() && !Arc::ptr_eq(&listener, &self.bound().listener) => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::SeqCst)
    }

    /// Stops serving, for another process that serves the socket from now on. Clients notice nothing.
    pub(crate) fn pause(&self, accepted: Accepted) {
        self.pause.begin(accepted);
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.pause.is_on()
    }

    /// Wakes one caller of [`Socket::accept`] by a connection.
    pub(crate) fn knock(&self) {
        let _ = knock(&self.path);
    }

    /// Waits for the first byte of an accepted connection, or for its end. Returns false if [`Accepted::Kept`] comes first:
    /// the caller must then [`Socket::keep`] the connection.
    pub(crate) fn has_sent(&self, stream: &UnixStream, time: Duration) -> bool {
        self.pause.has_sent(stream, time)
    }

    /// Keeps a connection that has sent nothing for the other process.
    pub(crate) fn keep(&self, stream: UnixStream) {
        self.pause.keep(stream);
    }

    /// Returns the connections for the other process, after [`Socket::pause`] and the end of all threads.
    pub(crate) fn take_kept(&self) -> Vec<UnixStream> {
        let waiting = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        waiting.into_iter().chain(self.pause.take()).collect()
    }

    /// Returns the listener, for another process.
    pub(crate) fn listener(&self) -> Arc<UnixListener> {
        self.bound().listener
    }

    /// Takes no more connections. Leaves a file at the path that another process created.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        let bound = self.bound();
        if place_of(&self.path).is_ok_and(|place| place == bound.place) {
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// Wakes all callers of [`Socket::accept`].
    pub(crate) fn wake(&self) {
        let _ = rustix::net::shutdown(&self.bound().listener, rustix::net::Shutdown::Both);
    }

    /// Recreates the socket if the path leads elsewhere. Returns the problem; `None` if there was none.
    pub(super) fn mend(&self) -> io::Result<Option<&'static str>> {
        let before = self.bound();
        let wrong = match symlink_metadata(&self.path) {
            Ok(found) if place(&found) != before.place => "something else is in its place",
            Ok(found) if found.mode() & 0o777 != self.mode => {
                std::fs::set_permissions(&self.path, Permissions::from_mode(self.mode))?;
                return Ok(Some("its permissions were others"));
            }
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => "it is gone",
            Err(error) => return Err(error),
        };
        *self.bound.write().unwrap_or_else(PoisonError::into_inner) = listen(&self.path, self.mode)?;
        let _ = rustix::net::shutdown(&before.listener, rustix::net::Shutdown::Both);
        Ok(Some(wrong))
    }

    fn bound(&self) -> Bound {
        self.bound.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Listens at a path and replaces an existing file.
fn listen(path: &Path, mode: u32) -> io::Result<Bound> {
    clear(path)?;
    let listener = Arc::new(bind(path)?);
    std::fs::set_permissions(path, Permissions::from_mode(mode))?;
    let found = symlink_metadata(path)?;
    if !found.file_type().is_socket() {
        return Err(io::Error::other("somebody else puts files there all the time"));
    }
    Ok(Bound { listener, place: place(&found) })
}

/// Connects without waiting: on a full queue the threads have connections enough.
fn knock(path: &Path) -> io::Result<()> {
    let socket = impatient_socket()?;
    with_short_path(path, |short| Ok(rustix::net::connect(&socket, &SocketAddrUnix::new(short)?)?))
}

/// Removes the file at a path. Removes a folder only if it is empty, because castellan never made one there.
pub(super) fn clear(path: &Path) -> io::Result<()> {
    let removed = match symlink_metadata(path) {
        Ok(found) if found.is_dir() => std::fs::remove_dir(path),
        Ok(_) => std::fs::remove_file(path),
        Err(error) => Err(error),
    };
    removed.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

pub(super) fn place_of(path: &Path) -> io::Result<Place> {
    symlink_metadata(path).map(|found| place(&found))
}

pub(super) fn place(found: &Metadata) -> Place {
    (found.dev(), found.ino())
}
