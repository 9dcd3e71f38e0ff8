//! [`Sender`]: the daemon's end of the channel. Its thread accepts an engine and notices its end; calls are written by
//! the threads that judge them, one after the other. An engine that does not read makes them wait until their deadline.

use std::io::{self, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{RecvFlags, recv};

use super::{Admit, Identity, handshake};
use crate::limits::{CALL_BYTES_MAX, HANDSHAKE_MS, LOOK_MS, WAITING_MAX};

/// The daemon's end of the channel. The end of it closes the channel.
#[derive(Debug)]
pub struct Sender {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// A change of the channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SenderEvent {
    /// An engine connected; the number of the connection.
    Connected(u64),
    /// A process that connected is not the engine, and the reason.
    Refused(String),
    /// The connection of this number ended: no row on it will be judged any more.
    Closed(u64),
}

/// The reason why a call did not go to the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// No engine is connected.
    #[error("no engine is connected")]
    Gone,
    /// The engine did not read in time.
    #[error("the engine does not keep up")]
    Slow,
    /// The call is longer than the channel takes.
    #[error("the call is too long for the engine")]
    Long,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    connection: Option<(u64, Arc<UnixStream>)>,
    /// The number of connections so far.
    count: u64,
    /// A thread writes.
    is_busy: bool,
    /// Threads that wait to write.
    waiting: usize,
    /// The channel ends.
    is_over: bool,
}

impl Sender {
    /// Starts to accept the engine that `admit` lets in and that has the identity. `on_event` is called on the thread of the
    /// channel. An error if the system gives no thread.
    pub fn start(
        listener: UnixListener,
        identity: Identity,
        admit: Admit,
        on_event: impl Fn(SenderEvent) + Send + 'static,
    ) -> io::Result<Sender> {
        listener.set_nonblocking(true)?;
        let state = State { connection: None, count: 0, is_busy: false, waiting: 0, is_over: false };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let acceptor = Acceptor { listener, identity, admit, shared: Arc::clone(&shared) };
        let run = move || acceptor.run(&on_event);
        let thread = std::thread::Builder::new().name("engine channel".to_owned()).spawn(run)?;
        Ok(Sender { shared, thread: Some(thread) })
    }

    /// Sends an encoded call before `deadline`. Returns the number of its connection.
    pub fn send(&self, call: &[u8], deadline: Instant) -> Result<u64, SendError> {
        let size = u32::try_from(call.len()).ok().filter(|_| call.len() <= CALL_BYTES_MAX);
        let size = size.ok_or(SendError::Long)?.to_le_bytes();
        let (number, stream) = self.shared.take(deadline)?;
        let written = write(&stream, &size, deadline).and_then(|()| write(&stream, call, deadline));
        let mut state = self.shared.lock();
        state.is_busy = false;
        if written.is_err() {
            // A part of the call may be written, so nothing can follow it.
            state.drop_connection(number);
        }
        drop(state);
        self.shared.changed.notify_all();
        match written {
            Ok(()) => Ok(number),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(SendError::Slow),
            Err(_) => Err(SendError::Gone),
        }
    }

    /// Waits until an engine is connected; reports whether one is.
    pub fn wait_for_engine(&self, deadline: Instant) -> bool {
        let mut state = self.shared.lock();
        loop {
            if state.connection.is_some() {
                return true;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || state.is_over {
                return false;
            }
            state = self.shared.wait(state, left);
        }
    }

    /// Returns the number of the connection, if an engine is connected.
    pub fn connection(&self) -> Option<u64> {
        self.shared.lock().connection.as_ref().map(|(number, _)| *number)
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.is_over = true;
        if let Some((number, _)) = state.connection {
            state.drop_connection(number);
        }
        drop(state);
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread is reported where it happens.
            thread.join().unwrap_or_default();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>, at_most: Duration) -> MutexGuard<'s, State> {
        self.changed.wait_timeout(state, at_most).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Waits for the turn to write. Returns the connection.
    fn take(&self, deadline: Instant) -> Result<(u64, Arc<UnixStream>), SendError> {
        let mut state = self.lock();
        if state.waiting >= WAITING_MAX {
            return Err(SendError::Slow);
        }
        state.waiting += 1;
        let taken = loop {
            let Some((number, stream)) = &state.connection else { break Err(SendError::Gone) };
            // A write that cannot even begin must not end the connection of all others.
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break Err(SendError::Slow);
            }
            if !state.is_busy {
                break Ok((*number, Arc::clone(stream)));
            }
            state = self.wait(state, left);
        };
        state.waiting -= 1;
        state.is_busy |= taken.is_ok();
        taken
    }
}

impl State {
    /// Closes a connection. The thread of the channel notices the end and reports it.
    fn drop_connection(&mut self, number: u64) {
        if let Some((_, stream)) = self.connection.take_if(|(known, _)| *known == number) {
            // A socket that is closed already needs no end.
            stream.shutdown(std::net::Shutdown::Both).unwrap_or_default();
        }
    }
}

struct Acceptor {
    listener: UnixListener,
    identity: Identity,
    admit: Admit,
    shared: Arc<Shared>,
}

impl Acceptor {
    fn run(&self, on_event: &dyn Fn(SenderEvent)) {
        // The connection that was reported, and not its end yet.
        let mut open: Option<(u64, Arc<UnixStream>)> = None;
        while !self.shared.lock().is_over {
            let is_waiting = match self.look(open.as_ref().map(|(_, stream)| &**stream)) {
                Ok(is_waiting) => is_waiting,
                Err(_) => continue,
            };
            if let Some((number, stream)) = &open
                && has_ended(stream)
            {
                let number = *number;
                self.shared.lock().drop_connection(number);
                self.shared.changed.notify_all();
                on_event(SenderEvent::Closed(number));
                open = None;
            }
            if is_waiting {
                match self.accept(open.is_some()) {
                    Ok((number, stream)) => {
                        open = Some((number, stream));
                        self.shared.changed.notify_all();
                        on_event(SenderEvent::Connected(number));
                    }
                    Err(reason) => on_event(SenderEvent::Refused(reason)),
                }
            }
        }
        if let Some((number, _)) = open {
            on_event(SenderEvent::Closed(number));
        }
    }

    /// Waits for a change. Reports whether a process waits for its acceptance.
    fn look(&self, open: Option<&UnixStream>) -> io::Result<bool> {
        let wait = Timespec::try_from(Duration::from_millis(LOOK_MS)).map_err(io::Error::other)?;
        let mut sockets = vec![PollFd::new(&self.listener, PollFlags::IN)];
        sockets.extend(open.map(|stream| PollFd::new(stream, PollFlags::IN)));
        poll(&mut sockets, Some(&wait))?;
        Ok(sockets.first().is_some_and(|listener| !listener.revents().is_empty()))
    }

    fn accept(&self, is_taken: bool) -> Result<(u64, Arc<UnixStream>), String> {
        let io = |error: io::Error| format!("the channel failed: {error}");
        let (mut stream, _) = self.listener.accept().map_err(io)?;
        (self.admit)(&stream)?;
        let limit = Some(Duration::from_millis(HANDSHAKE_MS));
        stream.set_nonblocking(false).map_err(io)?;
        stream.set_read_timeout(limit).and_then(|()| stream.set_write_timeout(limit)).map_err(io)?;
        handshake::accept(&mut stream, &self.identity, is_taken).map_err(|failure| failure.to_string())?;
        let mut state = self.shared.lock();
        if state.is_over {
            return Err("the channel ended during the handshake".to_owned());
        }
        state.count += 1;
        let connection = (state.count, Arc::new(stream));
        state.connection = Some(connection.clone());
        Ok(connection)
    }
}

/// Reports whether the engine has closed its end. It never sends anything after the handshake.
fn has_ended(stream: &UnixStream) -> bool {
    let mut byte = [0];
    match recv(stream, &mut byte, RecvFlags::PEEK | RecvFlags::DONTWAIT) {
        Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => false,
        Ok(_) | Err(_) => true,
    }
}

/// Writes all bytes before the deadline, or fails with [`io::ErrorKind::TimedOut`].
fn write(mut stream: &UnixStream, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left))?;
        match stream.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
