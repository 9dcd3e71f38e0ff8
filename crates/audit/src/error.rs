//! [`AuditError`]: the reason why a record could not be written or read, and the remedy.

use std::io;
use std::path::{Path, PathBuf};

/// A record could not be written or the log could not be read. The code that decides a call must deny on this error.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The file system returned an error.
    #[error("cannot {action} `{}`: {}", path.display(), castellan_files::explained(error))]
    Io {
        /// The attempted action.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The error of the system.
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
    /// Returns a function for `map_err` that adds the attempted action and the path.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> AuditError {
        move |error| AuditError::Io { action, path: path.to_owned(), error }
    }
}
