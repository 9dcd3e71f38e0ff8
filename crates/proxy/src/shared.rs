//! The parts of a proxy that its connections share: settings, events, and the open sockets.

use std::collections::HashMap;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::event::{Event, Refusal};
use crate::limits::{CONNECTIONS_MAX, STOP_TIME};
use crate::settings::Settings;

/// The parts that all connections of a proxy share.
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    events: Box<dyn Fn(Event) + Send + Sync>,
    open: Mutex<Open>,
    ended: Condvar,
    is_stopped: AtomicBool,
}

/// The open connections, with their sockets of both sides.
#[derive(Default)]
struct Open {
    last: u64,
    sockets: HashMap<u64, Vec<TcpStream>>,
}

impl Shared {
    pub(crate) fn new(settings: Settings, events: impl Fn(Event) + Send + Sync + 'static) -> Shared {
        let is_stopped = AtomicBool::new(false);
        Shared {
            settings,
            events: Box::new(events),
            open: Mutex::default(),
            ended: Condvar::new(),
            is_stopped,
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::SeqCst)
    }

    /// Makes the proxy accept no more connections.
    pub(crate) fn stop(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
    }

    /// Ends all connections, and waits for [`STOP_TIME`] at most. Returns the number of those that are left.
    pub(crate) fn end_all(&self) -> usize {
        let deadline = Instant::now() + STOP_TIME;
        let mut open = self.open();
        for socket in open.sockets.values().flatten() {
            // An error means that the socket is closed already.
            drop(socket.shutdown(Shutdown::Both));
        }
        while !open.sockets.is_empty() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.ended.wait_timeout(open, left);
            open = waited.map_or_else(|poisoned| poisoned.into_inner().0, |(open, _)| open);
        }
        open.sockets.len()
    }

    /// Gives an event to the caller. If the caller's function panics, the connection ends.
    pub(crate) fn tell(&self, event: Event) {
        (self.events)(event);
    }

    /// Gives an event at the end of a connection. A panic of the caller's function has no further effect.
    pub(crate) fn tell_last(&self, event: Event) {
        drop(catch_unwind(AssertUnwindSafe(|| self.tell(event))));
    }

    /// The number of the last connection.
    pub(crate) fn last(&self) -> u64 {
        self.open().last
    }

    /// Keeps a socket of a connection, so that `stop` can end it.
    pub(crate) fn keep(&self, connection: u64, socket: &TcpStream) -> io::Result<()> {
        let socket = socket.try_clone()?;
        let mut open = self.open();
        if self.is_stopped() {
            return Err(io::Error::other("the proxy was stopped"));
        }
        open.sockets.entry(connection).or_default().push(socket);
        Ok(())
    }

    /// Forgets the sockets of a connection but the first: those towards hosts.
    pub(crate) fn forget_servers(&self, connection: u64) {
        if let Some(sockets) = self.open().sockets.get_mut(&connection) {
            sockets.truncate(1);
        }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a connection, and keeps its socket.
    pub(crate) fn begin(&self, client: &TcpStream) -> Result<u64, Refusal> {
        let mut open = self.open();
        open.last += 1;
        let connection = open.last;
        let is_full = open.sockets.len() >= CONNECTIONS_MAX;
        let socket = client.try_clone().ok().filter(|_| !is_full).ok_or(Refusal::Connections)?;
        open.sockets.insert(connection, vec![socket]);
        Ok(connection)
    }

    pub(crate) fn end(&self, connection: u64) {
        self.open().sockets.remove(&connection);
        self.ended.notify_all();
    }
}
