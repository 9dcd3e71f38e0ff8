//! Messages between the caller and the launcher, on the socket that is the launcher's standard input.
//!
//! Caller to launcher: one frame with the plan; its first byte carries the descriptor of the command's standard input.
//! Launcher to caller: frames of [`Message`]; the frame `Listeners` carries the descriptors.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::bytes::Bytes;
use crate::limits::MESSAGE_BYTES_MAX;

/// A message of the launcher.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Message {
    /// Listening sockets of the inside follow as descriptors, in the order of the plan.
    Listeners,
    /// Every part of the plan is applied; the command starts now.
    Started,
    /// A part of the plan, or the start of the command, failed. Nothing runs.
    Failed(Failed),
    /// The command has ended. In its own network, that many of its packets had no way to their destination.
    Unreachable(u64),
    /// Everything in the sandbox has ended.
    Ended {
        /// Exit code of the command, or 128 and the number of the signal that ended it.
        code: u8,
        /// The time limit ended it.
        out_of_time: bool,
        /// Processes that could not be ended.
        left: bool,
    },
}

/// The step that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// The exit code for it: 125, 126 or 127.
    pub code: u8,
    /// What the launcher did.
    pub step: String,
    /// The path or value; may be empty.
    pub what: Bytes,
    /// The system's error number; 0 is none.
    pub errno: i32,
}

/// Returns the frame of a message: its length in four bytes, little-endian, and its text.
#[must_use]
pub fn encode<T: Serialize>(message: &T) -> Option<Vec<u8>> {
    let text = postcard::to_allocvec(message).ok()?;
    let length = u32::try_from(text.len()).ok().filter(|_| text.len() <= MESSAGE_BYTES_MAX)?;
    let mut frame = length.to_le_bytes().to_vec();
    frame.extend(text);
    Some(frame)
}

/// Returns the first message of received bytes, and the bytes that it took. `Ok(None)` needs more bytes.
///
/// # Errors
/// The bytes are no message of this version, or longer than the limit.
pub fn decode<T: DeserializeOwned>(received: &[u8]) -> Result<Option<(T, usize)>, &'static str> {
    let Some((length, rest)) = received.split_first_chunk::<4>() else { return Ok(None) };
    let length = u32::from_le_bytes(*length) as usize;
    if length > MESSAGE_BYTES_MAX {
        return Err("the message is longer than the limit");
    }
    let Some(text) = rest.get(..length) else { return Ok(None) };
    let message = postcard::from_bytes(text).map_err(|_| "the message has another form")?;
    Ok(Some((message, length.saturating_add(4))))
}
