//! Limits of the wire.

/// Bytes of one hook payload. Agents send whole files in a Write call; 8 MiB is far above what a model can produce.
pub const PAYLOAD_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Bytes of one request frame's body: a payload that is one byte too long (the daemon rejects and records it), and room
/// for the other fields.
pub const FRAME_BYTES_MAX: usize = PAYLOAD_BYTES_MAX + 1 + 64 * 1024;

/// Bytes that are reserved for a body before it arrives. Most calls fit. The buffer grows only with received bytes: a
/// header that announces megabytes must cost its sender as much as the daemon.
pub(crate) const BODY_BYTES_AHEAD: usize = 16 * 1024;

/// Bytes of one reply frame's body. The encoders cut reasons at 10,000 characters; the rest is room to grow.
pub const REPLY_BYTES_MAX: usize = 256 * 1024;

/// Bytes of one control frame's body, in both directions. A status with every rule's name fits many times.
pub const CONTROL_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Bytes of the file of gaps: about 10,000 lines. A hook adds no more; the first lines are enough to find the cause.
pub const GAPS_BYTES_MAX: u64 = 1024 * 1024;

/// Milliseconds that one *hold until* may ask a hook to wait. It is below the timeout of 600 s with which the hooks are
/// registered, so that the hook ends the wait, not the agent.
pub const HOLD_MS_MAX: u32 = 590_000;
