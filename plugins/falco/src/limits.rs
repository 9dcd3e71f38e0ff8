//! Limits of the plugin, each with its reason.

/// Milliseconds that one request for events waits for a call. Falco stops, reloads and reports between two requests.
pub(crate) const WAIT_MS: u64 = 50;

/// Events of one batch. Falco judges a batch before it looks at anything else.
pub(crate) const BATCH_EVENTS_MAX: usize = 256;

/// Bytes after which a batch ends: the memory that events need at the same time, apart from one large event.
pub(crate) const BATCH_BYTES_MAX: usize = 4 * 1024 * 1024;
