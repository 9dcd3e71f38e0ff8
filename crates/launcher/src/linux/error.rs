//! Failures: what the launcher did, on what, and the system's number.

use castellan_sandbox::{Bytes, Failed};
use rustix::io::Errno;

pub(crate) type Result<T> = std::result::Result<T, Failed>;

/// A failure of castellan's own: exit code 125.
pub(crate) fn failed(step: &str, what: impl Into<Bytes>, errno: Errno) -> Failed {
    Failed { code: 125, step: step.to_owned(), what: what.into(), errno: errno.raw_os_error() }
}
