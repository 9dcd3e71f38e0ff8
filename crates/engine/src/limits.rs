//! Limits of the engine, each with its reason.

/// Bytes of a request's head. Falco sends about 200.
pub(crate) const HEAD_BYTES_MAX: usize = 8 * 1024;

/// Header fields of a request. Falco sends six.
pub(crate) const FIELDS_MAX: usize = 32;

/// Connections for alerts at the same time. Falco holds one open; all others come from strangers, and end first.
pub(crate) const CONNECTIONS_MAX: usize = 32;

/// Milliseconds in which the first head of a connection must arrive. A stranger holds a connection no longer.
pub(crate) const HEAD_MS: u64 = 2_000;

/// Milliseconds in which a body must arrive. Falco writes it at once.
pub(crate) const BODY_MS: u64 = 5_000;

/// Milliseconds that a connection of Falco may be idle. Falco connects again when it needs to.
pub(crate) const IDLE_MS: u64 = 600_000;

/// Rows that wait for a report, of all calls. More calls than threads never wait.
pub(crate) const WAITING_MAX: usize = 200_000;
