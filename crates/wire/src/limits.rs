//! Limits of the wire.

/// Bytes of one hook payload. Agents send whole files in a Write call; 8 MiB is far above what a model can produce.
pub const PAYLOAD_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Bytes of one request frame's body: a payload that is one byte too long (so that the daemon can see, refuse and record
/// it), and room for the other fields.
pub const FRAME_BYTES_MAX: usize = PAYLOAD_BYTES_MAX + 1 + 64 * 1024;

/// Bytes of a body that are made room for before they come: most calls are read at once. More grows with what comes, as a
/// header that announces megabytes shall cost its sender as many bytes as us.
pub(crate) const BODY_BYTES_AHEAD: usize = 16 * 1024;

/// Bytes of one reply frame's body. Reasons are cut at 10,000 characters by the encoders; the rest is room to grow.
pub const REPLY_BYTES_MAX: usize = 256 * 1024;

/// Bytes of one control frame's body, either way. A status with every rule's name fits many times.
pub const CONTROL_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Bytes of the file of gaps: about 10,000 lines. A hook adds no more; the first ones tell the story.
pub const GAPS_BYTES_MAX: u64 = 1024 * 1024;

/// Milliseconds that one *hold until* may ask a hook to go on waiting. Below the timeout of 600 s under which the hooks are
/// registered, so that the hook, not the agent, ends the wait.
pub const HOLD_MS_MAX: u32 = 590_000;
