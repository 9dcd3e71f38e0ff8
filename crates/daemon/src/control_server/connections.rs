//! [`Connections`]: the open control connections. Silent and slow ones never keep a halt out. It must not know what a
//! request does.

use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::limits::{CONTROL_CONNECTIONS_MAX, CONTROL_REQUESTS_MAX, OWN_FILES_REQUESTS_MAX};

/// The open connections.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    inner: Mutex<Inner>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    next: u64,
    /// Connections without a request so far, the oldest first.
    silent: Vec<(u64, UnixStream)>,
    /// Requests that are carried out.
    requests: usize,
    /// Requests that are carried out beyond the limit.
    urgent: usize,
    /// Requests for copies of files, among those that are carried out: those of programs, and those of persons' commands.
    copies: [usize; 2],
}

/// The requester of copies of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CopiedBy {
    /// A program without a person, such as an agent's code.
    Program,
    /// A person's command at a terminal.
    Person,
}

impl CopiedBy {
    /// Returns the number of requests of this kind.
    fn count(self, [of_programs, of_persons]: &mut [usize; 2]) -> &mut usize {
        match self {
            CopiedBy::Program => of_programs,
            CopiedBy::Person => of_persons,
        }
    }
}

/// A request for copies of files. Dropping it makes room.
#[derive(Debug)]
pub(crate) struct Copying<'c> {
    connections: &'c Connections,
    by: CopiedBy,
}

/// A connection without a request so far. Dropping it makes room.
#[derive(Debug)]
pub(crate) struct Silent<'c> {
    connections: &'c Connections,
    id: u64,
}

/// A request that is carried out. Dropping it makes room.
#[derive(Debug)]
pub(crate) struct Work<'c> {
    connections: &'c Connections,
    is_urgent: bool,
}

impl Connections {
    /// Admits a connection. If there are too many, closes the oldest one that has sent no request; `None` if each has.
    pub(crate) fn admit(&self, stream: &UnixStream) -> Option<Silent<'_>> {
        let kept = stream.try_clone().ok()?;
        let mut inner = self.lock();
        if inner.silent.len() + inner.requests + inner.urgent >= CONTROL_CONNECTIONS_MAX {
            if inner.silent.is_empty() {
                return None;
            }
            // Its thread ends when the read fails.
            let _ = inner.silent.remove(0).1.shutdown(Shutdown::Both);
        }
        let id = inner.next;
        inner.next = inner.next.wrapping_add(1);
        inner.silent.push((id, kept));
        Some(Silent { connections: self, id })
    }

    /// Begins a request for copies of files; `None` if too many of the same kind are carried out.
    pub(crate) fn begin_copies(&self, by: CopiedBy) -> Option<Copying<'_>> {
        let mut inner = self.lock();
        let copies = by.count(&mut inner.copies);
        let is_free = *copies < OWN_FILES_REQUESTS_MAX;
        *copies += usize::from(is_free);
        is_free.then(|| Copying { connections: self, by })
    }

    /// Waits until no request is read or carried out. Returns false if it takes longer than `time`.
    pub(crate) fn await_none(&self, time: Duration) -> bool {
        let is_busy = |inner: &mut Inner| !inner.silent.is_empty() || inner.requests + inner.urgent > 0;
        let waited = self.ended.wait_timeout_while(self.lock(), time, is_busy);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'c> Silent<'c> {
    /// Begins the work on the request of this connection. An urgent one always begins; `None` for another one if too
    /// many are carried out.
    pub(crate) fn begin(self, is_urgent: bool) -> Option<Work<'c>> {
        let connections = self.connections;
        let mut inner = connections.lock();
        match is_urgent {
            true => inner.urgent += 1,
            false if inner.requests >= CONTROL_REQUESTS_MAX => return None,
            false => inner.requests += 1,
        }
        Some(Work { connections, is_urgent })
    }
}

impl Drop for Silent<'_> {
    fn drop(&mut self) {
        self.connections.lock().silent.retain(|(id, _)| *id != self.id);
        self.connections.ended.notify_all();
    }
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        let mut inner = self.connections.lock();
        let count = if self.is_urgent { &mut inner.urgent } else { &mut inner.requests };
        *count = count.saturating_sub(1);
        drop(inner);
        self.connections.ended.notify_all();
    }
}

impl Drop for Copying<'_> {
    fn drop(&mut self) {
        let mut inner = self.connections.lock();
        let copies = self.by.count(&mut inner.copies);
        *copies = copies.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn the_oldest_silent_connection_makes_room_for_a_new_one() {
        let connections = Connections::default();
        let mut pairs: Vec<_> = (0..=CONTROL_CONNECTIONS_MAX).map(|_| UnixStream::pair().unwrap()).collect();
        let silent: Vec<_> = pairs.iter().map(|(ours, _)| connections.admit(ours).unwrap()).collect();
        let (_, oldest) = pairs.first_mut().unwrap();
        assert_eq!(oldest.read(&mut [0]).unwrap(), 0, "it is closed");
        assert_eq!(connections.lock().silent.len(), CONTROL_CONNECTIONS_MAX);
        drop(silent);
        assert_eq!(connections.lock().silent.len(), 0);
    }

    #[test]
    fn an_urgent_request_begins_beside_any_number_of_others() {
        let connections = Connections::default();
        let (stream, _other) = UnixStream::pair().unwrap();
        let admit = || connections.admit(&stream).unwrap();
        let mut work: Vec<_> = (0..CONTROL_REQUESTS_MAX).map(|_| admit().begin(false).unwrap()).collect();
        assert!(admit().begin(false).is_none());
        work.push(admit().begin(true).unwrap());
        let _silent: Vec<_> = (work.len()..CONTROL_CONNECTIONS_MAX).map(|_| admit()).collect();
        assert!(connections.admit(&stream).is_some());
        drop(work);
        assert!(admit().begin(false).is_some());
    }

    #[test]
    fn requests_for_copies_leave_room_for_others_and_for_persons() {
        let connections = Connections::default();
        let begin = |by| (0..OWN_FILES_REQUESTS_MAX).map(|_| connections.begin_copies(by).unwrap()).collect();
        let of_programs: Vec<_> = begin(CopiedBy::Program);
        assert!(connections.begin_copies(CopiedBy::Program).is_none());
        let of_persons: Vec<_> = begin(CopiedBy::Person);
        assert!(connections.begin_copies(CopiedBy::Person).is_none());
        const { assert!(2 * OWN_FILES_REQUESTS_MAX < CONTROL_REQUESTS_MAX) };
        drop(of_programs);
        assert!(connections.begin_copies(CopiedBy::Person).is_none(), "the other room is not theirs");
        assert!(connections.begin_copies(CopiedBy::Program).is_some());
        drop(of_persons);
        assert!(connections.begin_copies(CopiedBy::Person).is_some());
    }
}
