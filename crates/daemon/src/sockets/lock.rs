//! [`Lock`]: at most one daemon serves a home.

use std::fs::{File, OpenOptions, TryLockError, symlink_metadata};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use castellan_files::{Links, open_with};

use super::LOCK_MODE;
use super::socket::{clear, place, place_of};

/// The lock of the daemon that serves the home, held until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    pub(super) path: PathBuf,
    file: File,
}

impl Lock {
    /// Takes the lock; `None` if another process has it.
    pub(crate) fn take(path: PathBuf) -> io::Result<Option<Lock>> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(LOCK_MODE);
        let file = open_with(&mut options, &path, Links::Refused)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock { path, file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Takes the lock that another process passes: a descriptor of the locked file at `path`.
    pub(crate) fn of_given(path: PathBuf, descriptor: OwnedFd) -> io::Result<Lock> {
        let file = File::from(descriptor);
        let is_there =
            place_of(&path).is_ok_and(|found| file.metadata().is_ok_and(|own| place(&own) == found));
        if !is_there {
            return Err(io::Error::other("another file is there"));
        }
        // The passed descriptor has the lock already. Another one could not take it.
        if Lock::take(path.clone())?.is_some() {
            return Err(io::Error::other("the process that passes it does not hold it"));
        }
        match file.try_lock() {
            Ok(()) => Ok(Lock { path, file }),
            Err(TryLockError::WouldBlock) => Err(io::Error::other("another process holds it")),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Returns the file, for another process.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Takes the lock again if another file is at its path, where a starting daemon looks. Returns whether it did.
    pub(super) fn mend(&mut self) -> io::Result<bool> {
        let own = place(&self.file.metadata()?);
        if place_of(&self.path).is_ok_and(|found| found == own) {
            return Ok(false);
        }
        if symlink_metadata(&self.path).is_ok_and(|found| !found.is_file()) {
            clear(&self.path)?;
        }
        match Lock::take(self.path.clone())? {
            Some(lock) => *self = lock,
            // Another daemon is starting; it ends when it finds the log locked.
            None => return Err(io::Error::other("another process holds it")),
        }
        Ok(true)
    }
}
