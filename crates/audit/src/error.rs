//! [`AuditError`]: why a record could not be written or read, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

/// A record could not be written or the log not be read. Whoever decides a call must deny on it.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The file system refused.
    #[error("cannot {action} `{}`: {}", path.display(), castellan_files::explained(error))]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The answer of the system.
        error: io::Error,
    },
    /// Another process writes the same directory.
    #[error("the log in `{}` is in use by another castellan daemon; stop that one or use another home", dir.display())]
    Locked {
        /// The log's directory.
        dir: PathBuf,
    },
    /// The record has more bytes than a line may have, although its values are cut.
    #[error("a record of {bytes} bytes is over the limit of {max}; report this as a bug")]
    TooLong {
        /// Bytes of the line.
        bytes: usize,
        /// Bytes that a line may have.
        max: usize,
    },
    /// The record has no JSON form.
    #[error("a record cannot be written as JSON: {0}; report this as a bug")]
    Encode(serde_json::Error),
}

impl AuditError {
    /// Returns a function for `map_err` that adds what was tried on which path.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> AuditError {
        move |error| AuditError::Io { action, path: path.to_owned(), error }
    }
}
