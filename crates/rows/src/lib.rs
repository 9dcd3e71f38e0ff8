//! L1: rows as bytes, and the channel that carries them from the daemon to an engine in another process, such as
//! Falco. Both ends use this crate: the daemon writes calls ([`encode`], [`Sender`]), the plugin reads them ([`CallRows`],
//! [`Receiver`]) and makes one event ([`Event`]) of each row.
//!
//! It knows rows and the field table. It must not know rules, verdicts, Falco's interface or where the socket is.

mod call;
mod channel;
mod engine_fields;
mod event;
mod limits;
mod nonce;
mod part;
#[cfg(feature = "plain")]
mod plain;
mod seen;

/// Begins a key and a generation in the settings of Falco's plugin. Falco hands a text that looks like a number to a plugin as
/// a number, in quotes, too.
pub const HEX: &str = "hex:";
/// Begins a user id there, for the same reason. A number above `i32::MAX` would arrive as a fraction.
pub const UID: &str = "uid:";

pub use call::{CallRows, EncodeError, encode};
pub use channel::{
    Admit, Identity, KEY_BYTES, PeerUser, ReceiveError, Receiver, SendError, Sender, SenderEvent,
};
pub use engine_fields::{EngineField, ROLL_CALL};
pub use event::Event;
pub use limits::{ALERT_BYTES_MAX, CALL_BYTES_MAX, NUMBER_MAX, ROWS_MAX};
pub use nonce::{Generation, Nonce};
pub use part::{Defect, Found, List};
#[cfg(feature = "plain")]
pub use plain::{PlainRow, plain_fields};
pub use seen::Seen;
