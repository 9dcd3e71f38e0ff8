//! The handover of a home from a running daemon to the next one: listening sockets, lock, and connections that have sent
//! nothing yet. No client sees a closed socket: connections wait in the kernel's queue meanwhile.
//!
//! ```text
//! castellan restart      daemon before                 next daemon
//!   HandOver ------------> checks that a person asks
//!   <---------------- Done
//!   starts the next daemon, with the connection as its standard input
//!                          <--------------------- Take   its settings load
//!                          answers the calls in its hands, closes state and log
//!                          Given, descriptors ---------> opens state and log, checks the sockets
//!                          ends <-------------- Serving   serves
//! ```
//!
//! If the connection ends before `Serving`, the daemon before executes itself again and serves on. Must not know calls.

mod descriptors;
mod giving;
mod taking;

use std::os::unix::net::UnixStream;
use std::time::Duration;

use castellan_wire::{CONTROL_BYTES_MAX, Kind, WireError, read_frame, write_frame};
use serde::{Deserialize, Serialize};

pub(crate) use self::giving::{Gift, Successor, resume};
pub(crate) use self::taking::{Predecessor, Taken, TakenSockets};
use crate::limits::FRAME_TIME;
use crate::timed::Timed;

/// Version of these messages. A daemon takes over only from one that knows its version.
const VERSION: u32 = 1;

/// A message, as JSON in a control frame.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Message {
    /// The next daemon is ready to take over.
    Take {
        version: u32,
        /// Its process.
        pid: u32,
    },
    /// The daemon before has ended its work. These descriptors follow: the hook socket, the control socket, the lock, and
    /// so many connections to either socket.
    Given {
        hook: usize,
        control: usize,
        /// The reason why this daemon serves on itself; empty for the next one.
        why: String,
    },
    /// The next daemon serves.
    Serving,
}

/// The reason why a message is missing.
#[derive(Debug, thiserror::Error)]
enum MessageError {
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error("a message cannot be read: {0}")]
    Json(#[from] serde_json::Error),
    #[error("a message of another kind came")]
    Kind,
}

impl Message {
    fn send(&self, stream: &UnixStream) -> Result<(), MessageError> {
        stream.set_write_timeout(Some(FRAME_TIME)).map_err(WireError::from)?;
        Ok(write_frame(&mut &*stream, Kind::Control, &serde_json::to_vec(self)?)?)
    }

    fn receive(stream: &UnixStream, time: Duration) -> Result<Message, MessageError> {
        let frame = read_frame(&mut Timed::new(stream, time), CONTROL_BYTES_MAX)?;
        match frame.kind {
            Kind::Control => Ok(serde_json::from_slice(&frame.body)?),
            Kind::Request | Kind::Reply | Kind::Hold => Err(MessageError::Kind),
        }
    }
}
