//! The channel: a Unix stream from the daemon, which listens, to the engine, which connects again after each failure.
//! Both prove that they know a key, then calls flow one way: `size u32, call`.

mod handshake;
mod receiver;
mod sender;

use std::io;
use std::os::unix::net::UnixStream;

pub use receiver::{ReceiveError, Receiver};
pub use sender::{SendError, Sender, SenderEvent};

use crate::nonce::Generation;

/// The length of the key in bytes.
pub const KEY_BYTES: usize = 32;

/// The common knowledge of both ends, from the configuration that castellan writes for the engine.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The secret of the two ends.
    pub key: [u8; KEY_BYTES],
    /// The rules that the engine has.
    pub generation: Generation,
}

/// A log never holds the key.
impl std::fmt::Debug for Identity {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Identity").field("generation", &self.generation).finish_non_exhaustive()
    }
}

/// Decides whether the process at the other end of a socket may be the engine. An error is the reason why not: the wrong
/// user, or a process that castellan did not start.
pub type Admit = Box<dyn Fn(&UnixStream) -> Result<(), String> + Send>;

/// Returns the user id of the process at the other end of a socket.
pub type PeerUser = fn(&UnixStream) -> io::Result<u32>;
