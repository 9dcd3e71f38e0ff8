//! [`Pause`]: stops the threads that serve a socket, without closing it for clients: another process serves it from then
//! on. Must not know which one.

use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::platform::peer_of;

/// The end of connections that were accepted and have sent nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accepted {
    /// This process serves them.
    Served,
    /// They are kept for the other process.
    Kept,
}

#[derive(Debug)]
pub(super) struct Pause {
    is_on: AtomicBool,
    keeps: AtomicBool,
    kept: Mutex<Vec<UnixStream>>,
    /// The first end becomes readable when the pause begins: the other one is shut down then.
    ends: (UnixStream, UnixStream),
}

impl Pause {
    pub(super) fn new() -> io::Result<Pause> {
        let (is_on, keeps) = (AtomicBool::new(false), AtomicBool::new(false));
        Ok(Pause { is_on, keeps, kept: Mutex::default(), ends: UnixStream::pair()? })
    }

    pub(super) fn is_on(&self) -> bool {
        self.is_on.load(Ordering::SeqCst)
    }

    /// Begins the pause. Wakes every [`Pause::has_sent`] if connections are kept.
    pub(super) fn begin(&self, accepted: Accepted) {
        self.is_on.store(true, Ordering::SeqCst);
        if accepted == Accepted::Kept {
            self.keeps.store(true, Ordering::SeqCst);
            let _ = self.ends.1.shutdown(Shutdown::Both);
        }
    }

    /// Returns a connection that was accepted during the pause, if this process serves it.
    pub(super) fn pass(&self, stream: UnixStream) -> Option<UnixStream> {
        if is_own(&stream) {
            return None;
        }
        if self.keeps.load(Ordering::SeqCst) {
            self.keep(stream);
            return None;
        }
        Some(stream)
    }

    /// Waits for the first byte of a connection, or for its end. Returns false if the pause begins before.
    pub(super) fn has_sent(&self, stream: &UnixStream, time: Duration) -> bool {
        let mut watched = [PollFd::new(stream, PollFlags::IN), PollFd::new(&self.ends.0, PollFlags::IN)];
        let limit = Timespec::try_from(time).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 });
        // After an error or the limit, the read reports what is wrong.
        let _ = poll(&mut watched, Some(&limit));
        let [sent, paused] = watched.map(|fd| !fd.revents().is_empty());
        sent || !paused
    }

    pub(super) fn keep(&self, stream: UnixStream) {
        self.kept().push(stream);
    }

    /// Returns the kept connections, in the order of their arrival.
    pub(super) fn take(&self) -> Vec<UnixStream> {
        std::mem::take(&mut *self.kept())
    }

    fn kept(&self) -> MutexGuard<'_, Vec<UnixStream>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reports whether a connection is one of this process, which only woke a thread.
pub(super) fn is_own(stream: &UnixStream) -> bool {
    peer_of(stream).is_ok_and(|peer| peer.pid == std::process::id())
}
