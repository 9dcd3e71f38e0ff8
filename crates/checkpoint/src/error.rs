//! [`RestoreError`]: the reasons why a checkpoint is not put back.

use std::path::PathBuf;

use rustix::io::Errno;
use thiserror::Error;

use crate::listing::{ListError, shown};
use crate::store::{StoreError, TakeError};

/// The reason why nothing was put back.
#[derive(Debug, Error)]
pub enum RestoreError {
    /// The checkpoint cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The directory cannot be listed.
    #[error(transparent)]
    List(#[from] ListError),
    /// The contents of a file are not what castellan copied.
    #[error("the copy of {} in the checkpoint was changed or is gone, so castellan puts nothing back", shown(.path))]
    Tampered {
        /// The file.
        path: PathBuf,
    },
    /// The state before the restore cannot be kept.
    #[error("castellan puts nothing back, because it cannot keep the present state first: {0}")]
    Before(TakeError),
    /// The disk is full.
    #[error("the disk is full: castellan put nothing back. Free some space")]
    DiskFull,
    /// A step failed, and the earlier steps were taken back.
    #[error("castellan put nothing back: {} cannot be written ({why})", shown(.path))]
    Step {
        /// The path.
        path: PathBuf,
        /// The error of the system.
        why: Errno,
    },
    /// A step failed, and taking the earlier steps back failed too.
    #[error(
        "castellan put back only a part: {} cannot be written ({why}). The entries that it moved are in {}", shown(.path), .staging.display()
    )]
    Half {
        /// The path.
        path: PathBuf,
        /// The error of the system.
        why: String,
        /// The folder with the entries that were moved away.
        staging: PathBuf,
    },
}
