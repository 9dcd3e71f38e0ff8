//! [`Receiver`]: the engine's end of the channel. It has no thread: it connects and reads when it is asked, and never
//! waits longer than its caller says, apart from a handshake.

use std::io::{self, Read as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::handshake::{self, Failure};
use super::{Identity, PeerUser};
use crate::call::CallRows;
use crate::limits::{CALL_BYTES_MAX, HANDSHAKE_MS, READ_BYTES, RETRY_MS};
use crate::part::Defect;

/// The engine's end of the channel.
#[derive(Debug)]
pub struct Receiver {
    path: PathBuf,
    identity: Identity,
    user: u32,
    peer: PeerUser,
    connection: Option<Connection>,
    /// The time of the next attempt to connect.
    next: Option<Instant>,
}

#[derive(Debug)]
struct Connection {
    stream: UnixStream,
    /// Bytes that are no whole call yet.
    bytes: Vec<u8>,
}

/// The reason why the channel is not connected, or no longer.
#[derive(Debug, thiserror::Error)]
pub enum ReceiveError {
    /// Nobody listens, or the connection broke.
    #[error("no connection to castellan at {0}: {1}; is the daemon running with the engine `falco`?")]
    Io(String, io::Error),
    /// Another user listens.
    #[error("user {0} listens at {1}, not castellan's user {2}")]
    User(u32, String, u32),
    /// An end refused the other.
    #[error("{0}")]
    Refused(String),
    /// Bytes that are not a call. The connection is closed.
    #[error("castellan sent bytes that are not a call: {0}")]
    Defect(#[from] Defect),
}

impl Receiver {
    /// `path`: the daemon's socket. `user`: the user id of the daemon. Does not connect yet.
    pub fn new(path: PathBuf, identity: Identity, user: u32, peer: PeerUser) -> Receiver {
        Receiver { path, identity, user, peer, connection: None, next: None }
    }

    /// Returns the next call. `None`: none came within `wait`. After an error the receiver connects again by itself.
    pub fn receive(&mut self, wait: Duration) -> Result<Option<CallRows>, ReceiveError> {
        if self.connection.is_none() {
            if let Some(next) = self.next {
                let pause = next.saturating_duration_since(Instant::now());
                std::thread::sleep(pause.min(wait));
                if pause > wait {
                    return Ok(None);
                }
            }
            self.next = Some(Instant::now() + Duration::from_millis(RETRY_MS));
            self.connection = Some(self.connect()?);
        }
        let Some(connection) = &mut self.connection else { return Ok(None) };
        match connection.receive(wait) {
            Ok(found) => Ok(found),
            Err(error) => {
                self.connection = None;
                Err(match error {
                    Fault::Io(error) => ReceiveError::Io(self.path.display().to_string(), error),
                    Fault::Defect(defect) => ReceiveError::Defect(defect),
                })
            }
        }
    }

    /// Reports whether both ends have proved their key, and no failure followed.
    pub fn is_connected(&self) -> bool {
        self.connection.is_some()
    }

    fn connect(&self) -> Result<Connection, ReceiveError> {
        let path = || self.path.display().to_string();
        let io = |error| ReceiveError::Io(path(), error);
        let mut stream = UnixStream::connect(&self.path).map_err(io)?;
        let user = (self.peer)(&stream).map_err(io)?;
        if user != self.user {
            return Err(ReceiveError::User(user, path(), self.user));
        }
        let limit = Some(Duration::from_millis(HANDSHAKE_MS));
        stream.set_read_timeout(limit).and_then(|()| stream.set_write_timeout(limit)).map_err(io)?;
        handshake::connect(&mut stream, &self.identity).map_err(|failure| match failure {
            Failure::Io(error) => io(error),
            Failure::Refuse(reason) => ReceiveError::Refused(reason.to_owned()),
            Failure::Refused(_) => ReceiveError::Refused(failure.to_string()),
        })?;
        stream.set_nonblocking(true).map_err(io)?;
        Ok(Connection { stream, bytes: Vec::new() })
    }
}

enum Fault {
    Io(io::Error),
    Defect(Defect),
}

impl Connection {
    fn receive(&mut self, wait: Duration) -> Result<Option<CallRows>, Fault> {
        let until = Instant::now() + wait;
        loop {
            if let Some(call) = self.whole_call()? {
                return CallRows::read(call).map(Some).map_err(Fault::Defect);
            }
            let left = until.saturating_duration_since(Instant::now());
            if !self.is_readable(left).map_err(Fault::Io)? {
                return Ok(None);
            }
            self.read().map_err(Fault::Io)?;
        }
    }

    /// Takes the first call from the bytes, if it is there as a whole.
    fn whole_call(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        let Some(size) = self.bytes.first_chunk::<4>() else { return Ok(None) };
        let size = u32::from_le_bytes(*size) as usize;
        if size > CALL_BYTES_MAX {
            return Err(Fault::Defect(Defect("a call that is too long")));
        }
        if self.bytes.len() < 4 + size {
            return Ok(None);
        }
        let rest = self.bytes.split_off(4 + size);
        let mut call = std::mem::replace(&mut self.bytes, rest);
        call.drain(..4);
        Ok(Some(call))
    }

    fn is_readable(&self, wait: Duration) -> io::Result<bool> {
        let mut socket = [PollFd::new(&self.stream, PollFlags::IN)];
        let wait = Timespec::try_from(wait).map_err(io::Error::other)?;
        match poll(&mut socket, Some(&wait)) {
            Ok(ready) => Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn read(&mut self) -> io::Result<()> {
        let known = self.bytes.len();
        self.bytes.resize(known + READ_BYTES, 0);
        let read = self.stream.read(self.bytes.get_mut(known..).unwrap_or_default());
        self.bytes.truncate(known + read.as_ref().copied().unwrap_or_default());
        match read {
            Ok(0) => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "castellan closed the connection")),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                Ok(())
            }
            read => read.map(|_| ()),
        }
    }
}
