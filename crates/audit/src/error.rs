//! [`AuditError`]: the reason why a record could not be written or read, and the remedy.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use castellan_files::explained;

/// A record could not be written or the log could not be read. The code that decides a call must deny on this error.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The file system returned an error.
    #[error("{}", of_system(action, path, error))]
    Io {
        /// The attempted action.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// Another process writes the same directory.
    #[error("another castellan daemon uses the log in `{}`: stop that daemon, or use another home", dir.display())]
    Locked {
        /// The log's directory.
        dir: PathBuf,
    },
    /// The log was closed, so that another process can write it.
    #[error("the log in `{}` was handed over to another castellan daemon", dir.display())]
    Closed {
        /// The log's directory.
        dir: PathBuf,
    },
    /// The record has more bytes than a line may have, although its values are cut.
    #[error("a record has {bytes} bytes, more than {max}: report this bug")]
    TooLong {
        /// Bytes of the line.
        bytes: usize,
        /// Bytes that a line may have.
        max: usize,
    },
    /// The record has no JSON form.
    #[error("a record cannot be written as JSON: {0}: report this bug")]
    Encode(serde_json::Error),
}

impl AuditError {
    /// Returns a function for `map_err` that adds the attempted action and the path.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> AuditError {
        move |error| AuditError::Io { action, path: path.to_owned(), error }
    }

    /// Reports whether the disk with the log is full.
    pub fn is_disk_full(&self) -> bool {
        match self {
            AuditError::Io { error, .. } => error.kind() == ErrorKind::StorageFull,
            AuditError::Locked { .. }
            | AuditError::Closed { .. }
            | AuditError::TooLong { .. }
            | AuditError::Encode(_) => false,
        }
    }
}

/// Returns the text of a system error. A full disk comes first, because a user can act on it at once.
fn of_system(action: &str, path: &Path, error: &io::Error) -> String {
    let path = path.display();
    if error.kind() == ErrorKind::StorageFull {
        return format!("the disk with castellan's log is full: free some space (cannot {action} `{path}`)");
    }
    format!("cannot {action} `{path}`: {}", explained(error))
}
