//! Directories that the launcher makes outside for the time of the run: mount points for protected paths that are missing.
//!
//! Several sandboxes can use one. Each holds a shared lock on it; the last one removes it.

use std::os::fd::OwnedFd;

use castellan_sandbox::{Bytes, PLACEHOLDER_MODE, Placeholder};
use rustix::fs::{
    AtFlags, FlockOperation, Mode, OFlags, ResolveFlags, chmodat, flock, fstat, mkdirat, openat2, statat,
    unlinkat,
};
use rustix::io::Errno;

use crate::error::{Result, failed};
use crate::mounts::open_path;

/// Tries, while other sandboxes remove theirs.
const TRIES: usize = 16;

/// A placeholder in use.
pub(crate) struct Held {
    above: OwnedFd,
    name: std::ffi::OsString,
    directory: OwnedFd,
}

pub(crate) fn make(all: &[Placeholder]) -> Result<Vec<Held>> {
    let mut held = Vec::new();
    for one in all {
        match make_one(&one.path) {
            Ok(one) => held.extend(one),
            Err(errno) => {
                remove(held);
                return Err(failed("reserve the missing protected path", one.path.clone(), errno));
            }
        }
    }
    Ok(held)
}

/// Makes a placeholder, or holds that of another sandbox. `None` if something else is there by now, which the plan protects.
fn make_one(path: &Bytes) -> std::result::Result<Option<Held>, Errno> {
    let (above, name) = path.path().parent().zip(path.path().file_name()).ok_or(Errno::INVAL)?;
    let above = open_path(&Bytes::from(above))?;
    for _ in 0..TRIES {
        match mkdirat(&above, name, Mode::RWXU) {
            Ok(()) => chmodat(&above, name, Mode::from_raw_mode(PLACEHOLDER_MODE), AtFlags::empty())?,
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = match openat2(&above, name, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
            Ok(directory) => directory,
            Err(Errno::NOENT) => continue,
            Err(Errno::NOTDIR | Errno::LOOP) => return Ok(None),
            Err(errno) => return Err(errno),
        };
        let found = fstat(&directory)?;
        if found.st_mode & 0o7777 != PLACEHOLDER_MODE {
            return Ok(None);
        }
        match flock(&directory, FlockOperation::NonBlockingLockShared) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => continue,
            Err(errno) => return Err(errno),
        }
        // Another sandbox may have removed it before the lock.
        match statat(&above, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(now) if now.st_ino == found.st_ino && now.st_dev == found.st_dev => {
                return Ok(Some(Held { above, name: name.to_owned(), directory }));
            }
            Ok(_) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno),
        }
    }
    Err(Errno::AGAIN)
}

/// Removes the placeholders that no other sandbox holds. One that is not empty stays.
pub(crate) fn remove(held: Vec<Held>) {
    for one in held {
        if flock(&one.directory, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let _ = unlinkat(&one.above, &one.name, AtFlags::REMOVEDIR);
        }
    }
}
