//! The proxy as the caller sees it: it accepts connections on a listener, each with a thread, until it is stopped.

use std::fmt;
use std::io::{self, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::connection;
use crate::event::{Event, Refusal, Way, What};
use crate::limits::STACK_BYTES;
use crate::response;
use crate::settings::Settings;
use crate::shared::Shared;

/// A running proxy. It stops when it is dropped.
pub struct Proxy {
    shared: Arc<Shared>,
    address: SocketAddr,
    /// Closed to wake the accepting thread.
    wake: Option<OwnedFd>,
    accepting: Option<JoinHandle<()>>,
}

impl Proxy {
    /// Starts to accept connections. `listener`: from inside the sandbox's network namespace, for example. `events` is
    /// called from the threads of connections, several at once; it must not wait for the proxy.
    ///
    /// # Errors
    ///
    /// If the system gives no thread or pipe.
    pub fn start(
        listener: TcpListener,
        settings: Settings,
        events: impl Fn(Event) + Send + Sync + 'static,
    ) -> io::Result<Proxy> {
        let address = listener.local_addr()?;
        listener.set_nonblocking(true)?;
        let (woken, wake) = io::pipe()?;
        let (woken, wake) = (OwnedFd::from(woken), OwnedFd::from(wake));
        let shared = Arc::new(Shared::new(settings, events));
        let of_thread = Arc::clone(&shared);
        let accepting = thread::Builder::new()
            .name("sandbox-proxy".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || accept(&of_thread, &listener, &woken))?;
        Ok(Proxy { shared, address, wake: Some(wake), accepting: Some(accepting) })
    }

    /// The address of the listener.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends all connections, and waits a few seconds until their events were given. Returns the number of connections
    /// that have not ended by then: each waits for the system's resolver or for a host, and ends after that.
    pub fn stop(&mut self) -> usize {
        self.shared.stop();
        drop(self.wake.take());
        if let Some(accepting) = self.accepting.take() {
            // A panic of that thread has ended it.
            drop(accepting.join());
        }
        self.shared.end_all()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stop();
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Time until the next attempt to accept a connection after a failure.
const ACCEPT_PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Accepts connections until the other end of `woken` is closed.
fn accept(shared: &Arc<Shared>, listener: &TcpListener, woken: &OwnedFd) {
    while !shared.is_stopped() {
        let mut ready = [PollFd::new(listener, PollFlags::IN), PollFd::new(woken, PollFlags::IN)];
        if poll(&mut ready, None).is_err() {
            continue;
        }
        let client = match listener.accept() {
            Ok((client, _)) => client,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
            // Without descriptors the connection stays in the queue, and the listener ready: wait for some to be closed.
            Err(_) => {
                let _ = poll(&mut [PollFd::new(woken, PollFlags::IN)], Some(&ACCEPT_PAUSE));
                continue;
            }
        };
        if let Err(refusal) = begin(shared, &client) {
            refuse_at_once(shared, client, refusal);
        }
    }
}

/// Starts the thread of a connection.
fn begin(shared: &Arc<Shared>, client: &TcpStream) -> Result<(), Refusal> {
    let number = shared.begin(client)?;
    let of_thread = Arc::clone(shared);
    let started = client.try_clone().and_then(|client| {
        let run = move || {
            let served = catch_unwind(AssertUnwindSafe(|| connection::serve(&of_thread, number, client)));
            if served.is_err() {
                of_thread.tell_last(unknown(number, Refusal::Defect));
            }
            of_thread.end(number);
        };
        thread::Builder::new().name("sandbox-connection".to_owned()).stack_size(STACK_BYTES).spawn(run)
    });
    started.map(drop).map_err(|_| {
        shared.end(number);
        Refusal::Connections
    })
}

/// Answers a connection for which there is no thread, without waiting for its request.
fn refuse_at_once(shared: &Shared, mut client: TcpStream, refusal: Refusal) {
    let text = response::refusal("this connection", &refusal);
    // The client may be gone, or read nothing: the connection ends either way.
    drop(client.set_nonblocking(true).and_then(|()| client.write_all(&text)));
    shared.tell_last(unknown(shared.last(), refusal));
}

fn unknown(connection: u64, refusal: Refusal) -> Event {
    let host = String::new();
    Event { connection, way: Way::Unknown, host, port: 0, request: None, what: What::Refused(refusal) }
}
