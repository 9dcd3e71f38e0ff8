//! Limits of the reader, each with its reason.

use std::time::Duration;

/// Bytes of a path in a question and in an answer: the kernel's `PATH_MAX` without the final NUL.
pub(crate) const PATH_BYTES_MAX: usize = 4095;

/// Bytes of the text of an error. castellan's own texts about files are shorter.
pub(crate) const ERROR_BYTES_MAX: usize = 512;

/// Bytes of an answer after its head: a path, or the text of an error.
pub(crate) const ANSWER_BYTES_MAX: usize = PATH_BYTES_MAX;

/// Connections that the reader serves at once. The daemon keeps one for each call in flight, and decides up to 64.
pub(crate) const CONNECTIONS_MAX: usize = 96;

/// Idle connections that the daemon keeps. More calls at once are rare, and a new connection takes microseconds.
pub(crate) const IDLE_MAX: usize = 16;

/// The time for one answer. A local file system answers in microseconds. A hook denies after some seconds, and a call needs
/// several answers, so a stopped reader must be noticed before.
pub(crate) const ANSWER_TIME: Duration = Duration::from_secs(1);

/// Bytes of the stack of a thread that serves one connection. It holds a path and an answer.
pub(crate) const STACK_BYTES: usize = 128 * 1024;

/// Bytes of the list of users: ten thousand users.
pub(crate) const USERS_BYTES_MAX: u64 = 1024 * 1024;
