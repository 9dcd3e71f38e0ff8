//! Limits of the rows and the channel, each with its reason.

/// Bytes of one call on the channel. A payload has at most 8 MiB; the text of a file and the whole input repeat it, and
/// a row for each of many files repeats the other fields.
pub const CALL_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Rows of one call: the budget of facts ends long before, and each row costs the engine one evaluation.
pub const ROWS_MAX: usize = 10_000;

/// Bytes of one alert that an engine may send back: a rule's output may repeat a whole input.
pub const ALERT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The greatest number of a rule in a generation. 100,000 rules take Falco minutes to load.
pub const NUMBER_MAX: u64 = 100_000;

/// Milliseconds that the other end has for each step of the handshake. Both ends are on one machine and answer at once.
pub(crate) const HANDSHAKE_MS: u64 = 500;

/// Milliseconds between two attempts of the engine to connect.
pub(crate) const RETRY_MS: u64 = 250;

/// Bytes that one read of the channel takes.
pub(crate) const READ_BYTES: usize = 256 * 1024;

/// Milliseconds after which the sender looks whether it has to end.
pub(crate) const LOOK_MS: u64 = 100;

/// Calls that wait for the channel. More than the daemon's threads never wait; a call beyond that is denied at once.
pub(crate) const WAITING_MAX: usize = 64;
