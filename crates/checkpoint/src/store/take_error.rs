//! [`TakeError`]: the reasons why a checkpoint is not taken. It must not know how one is taken.

use std::io;
use std::path::PathBuf;

use rustix::io::Errno;
use thiserror::Error;

use crate::limits::PATHS_MAX;
use crate::listing::{ListError, shown};

/// The reason why a checkpoint was not taken.
#[derive(Debug, Error)]
pub enum TakeError {
    /// The directory cannot be listed.
    #[error(transparent)]
    List(#[from] ListError),
    /// The id has other characters than letters, digits and `-`, or it is used.
    #[error("`{0}` cannot be the id of a new checkpoint")]
    Id(String),
    /// A path is not below the directory.
    #[error("{} is not below the directory of the checkpoint", shown(.0))]
    Path(PathBuf),
    /// A link is above a path, so the path is elsewhere.
    #[error("{} passes a link: no checkpoint follows links", shown(.0))]
    Link(PathBuf),
    /// The scope names more paths than the limit.
    #[error("the call names more than {PATHS_MAX} paths")]
    Paths,
    /// The files are larger than the budget of one checkpoint.
    #[error("the files have {bytes} bytes, more than a checkpoint may have ({max})")]
    Bytes {
        /// Bytes of the files.
        bytes: u64,
        /// The limit.
        max: u64,
    },
    /// There are more files than the budget of one checkpoint.
    #[error("there are {files} files, more than a checkpoint may have ({max})")]
    Files {
        /// Number of files.
        files: usize,
        /// The limit.
        max: usize,
    },
    /// The checkpoint does not fit beneath the ceiling of all checkpoints.
    #[error(
        "the checkpoint needs {need} bytes, and all checkpoints may have {ceiling}: raise `undo.ceiling`"
    )]
    Ceiling {
        /// Bytes of the checkpoint.
        need: u64,
        /// The limit.
        ceiling: u64,
    },
    /// The disk of the store is nearly full.
    #[error("the disk of the checkpoints is nearly full: free some space")]
    DiskFull,
    /// The store cannot be written.
    #[error("the store of checkpoints cannot be written: {0}")]
    Store(String),
}

pub(super) fn failure(error: &io::Error) -> TakeError {
    match Errno::from_io_error(error) {
        Some(Errno::NOSPC | Errno::DQUOT) => TakeError::DiskFull,
        _ => TakeError::Store(castellan_files::explained(error)),
    }
}
