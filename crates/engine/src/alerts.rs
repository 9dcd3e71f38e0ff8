//! [`Alerts`]: the listener on the loopback to which Falco's `http_output` posts alerts.

use std::io::{self, BufReader, Read, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use castellan_rows::Seen;

use crate::limits::{BODY_MS, CONNECTIONS_MAX, HEAD_MS, IDLE_MS};
use crate::request;
use crate::secret::Secret;

const DONE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// The listener. The end of it closes all connections.
#[derive(Debug)]
pub(crate) struct Alerts {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    secret: Secret,
    on_report: Box<dyn Fn(Seen) + Send + Sync>,
    is_over: AtomicBool,
    /// Open connections, the oldest first.
    open: Mutex<Vec<Open>>,
}

struct Open {
    number: u64,
    stream: TcpStream,
    /// The sender has shown the secret.
    is_known: bool,
}

impl Alerts {
    pub(crate) fn start(
        listener: TcpListener,
        secret: Secret,
        on_report: impl Fn(Seen) + Send + Sync + 'static,
    ) -> io::Result<Alerts> {
        let address = listener.local_addr()?;
        if !address.ip().is_loopback() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "alerts must come over the loopback"));
        }
        let shared = Arc::new(Shared {
            secret,
            on_report: Box::new(on_report),
            is_over: AtomicBool::new(false),
            open: Mutex::default(),
        });
        let run = {
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        };
        let thread = std::thread::Builder::new().name("alerts".to_owned()).spawn(run)?;
        Ok(Alerts { address, shared, thread: Some(thread) })
    }

    /// Returns the address of the listener.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Alerts {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        for open in self.shared.open().iter() {
            open.stream.shutdown(Shutdown::Both).unwrap_or_default();
        }
        // A connection wakes the thread that accepts.
        drop(TcpStream::connect_timeout(&self.address, Duration::from_millis(HEAD_MS)));
        if let Some(thread) = self.thread.take() {
            // A panic of the thread is reported where it happens.
            thread.join().unwrap_or_default();
        }
    }
}

impl Shared {
    fn open(&self) -> std::sync::MutexGuard<'_, Vec<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection. At the limit, the oldest one whose sender has not shown the secret ends: a stranger who opens
    /// many takes no place of Falco's. Returns false if there is no such one.
    fn begin(&self, number: u64, stream: TcpStream) -> bool {
        let mut open = self.open();
        if open.len() >= CONNECTIONS_MAX {
            let Some(at) = open.iter().position(|one| !one.is_known) else { return false };
            open.remove(at).stream.shutdown(Shutdown::Both).unwrap_or_default();
        }
        open.push(Open { number, stream, is_known: false });
        true
    }

    fn know(&self, number: u64) {
        self.open().iter_mut().filter(|one| one.number == number).for_each(|one| one.is_known = true);
    }

    fn end(&self, number: u64) {
        self.open().retain(|one| one.number != number);
    }

    fn serve(&self, number: u64, stream: &TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(Timed { stream, until: within(HEAD_MS) });
        let mut writer = stream;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(Duration::from_millis(BODY_MS)))?;
        while let Some(head) = request::head(&mut reader, &self.secret)? {
            self.know(number);
            reader.get_mut().until = within(BODY_MS);
            let report = request::report(&mut reader, &mut writer, &head)?;
            writer.write_all(DONE)?;
            if let Some(report) = report {
                (self.on_report)(report);
            }
            if head.is_last || self.is_over.load(Ordering::SeqCst) {
                break;
            }
            reader.get_mut().until = within(IDLE_MS);
        }
        Ok(())
    }
}

/// Reads until a time, so that a stranger who sends a byte now and then holds no connection.
struct Timed<'s> {
    stream: &'s TcpStream,
    until: Instant,
}

impl Read for Timed<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(bytes)
    }
}

fn within(ms: u64) -> Instant {
    Instant::now() + Duration::from_millis(ms)
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for number in 0.. {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            // The process has no free descriptor, or the peer is gone already. Without a descriptor no connection wakes
            // this thread, so the end is also seen here.
            Err(_) if shared.is_over.load(Ordering::SeqCst) => return,
            Err(_) => {
                std::thread::sleep(Duration::from_millis(10));
                continue;
            }
        };
        if shared.is_over.load(Ordering::SeqCst) {
            return;
        }
        let Ok(own) = stream.try_clone() else { continue };
        if !shared.begin(number, own) {
            continue;
        }
        let of_connection = Arc::clone(shared);
        let serve = move || {
            // An error ends the connection: a stranger learns no reason, and Falco has no use for one.
            of_connection.serve(number, &stream).unwrap_or_default();
            of_connection.end(number);
        };
        if std::thread::Builder::new().name("alert".to_owned()).spawn(serve).is_err() {
            shared.end(number);
        }
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Shared").field("is_over", &self.is_over).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At the limit of descriptors each accept fails, and no connection wakes the thread.
    #[test]
    fn the_thread_ends_though_it_accepts_nothing() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        // Each accept fails.
        listener.set_nonblocking(true).unwrap();
        let shared = Arc::new(Shared {
            secret: Secret::random().unwrap(),
            on_report: Box::new(|_| {}),
            is_over: AtomicBool::new(false),
            open: Mutex::default(),
        });
        let (send, ended) = std::sync::mpsc::channel();
        let of_thread = Arc::clone(&shared);
        std::thread::spawn(move || {
            accept(&listener, &of_thread);
            send.send(()).unwrap();
        });
        shared.is_over.store(true, Ordering::SeqCst);
        ended.recv_timeout(Duration::from_secs(20)).expect("it does not end");
    }
}
