//! Directories that are made outside for the time of a run: mount points for protected paths that are missing. The launcher
//! makes them; for bubblewrap, whose launcher runs inside, the caller does.
//!
//! Several sandboxes can use one. Each holds a shared lock on it; the last one removes it.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;

use rustix::fs::{
    AtFlags, CWD, FlockOperation, Mode, OFlags, ResolveFlags, chmodat, flock, fstat, mkdirat, openat2,
    statat, unlinkat,
};
use rustix::io::Errno;

use crate::bytes::Bytes;
use crate::message::Failed;
use crate::plan::Placeholder;
use crate::survey::PLACEHOLDER_MODE;

/// Tries, while other sandboxes remove theirs.
const TRIES: usize = 16;

/// Placeholders in use. Dropped, each is removed if no other sandbox holds it; one that is not empty stays.
#[derive(Debug, Default)]
pub struct Placeholders(Vec<Held>);

#[derive(Debug)]
struct Held {
    above: OwnedFd,
    name: std::ffi::OsString,
    directory: OwnedFd,
}

impl Placeholders {
    /// Makes those of a plan.
    ///
    /// # Errors
    /// A directory cannot be made. None is left.
    pub fn make(all: &[Placeholder]) -> Result<Placeholders, Failed> {
        let mut held = Placeholders::default();
        for one in all {
            let made = make_one(&one.path).map_err(|errno| Failed {
                code: 125,
                step: "reserve the missing protected path".to_owned(),
                what: one.path.clone(),
                errno: errno.raw_os_error(),
            })?;
            held.0.extend(made);
        }
        Ok(held)
    }
}

impl Drop for Placeholders {
    fn drop(&mut self) {
        for one in &self.0 {
            if flock(&one.directory, FlockOperation::NonBlockingLockExclusive).is_ok() {
                let _ = unlinkat(&one.above, &one.name, AtFlags::REMOVEDIR);
            }
        }
    }
}

/// Makes a placeholder, or holds that of another sandbox. `None` if something else is there by now, which the plan protects.
fn make_one(path: &Bytes) -> Result<Option<Held>, Errno> {
    let (above, name) = path.path().parent().zip(path.path().file_name()).ok_or(Errno::INVAL)?;
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let above = openat2(CWD, above, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
    for _ in 0..TRIES {
        let made = match mkdirat(&above, name, Mode::RWXU) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(errno) => return Err(errno),
        };
        match hold(&above, name, made) {
            Ok(Tried::Again) => {}
            Ok(Tried::Held(directory)) => {
                return Ok(Some(Held { above, name: name.to_owned(), directory }));
            }
            Ok(Tried::Other) => return Ok(None),
            Err(errno) => {
                // No descriptor was free, for example. Only an empty directory is removed.
                if made {
                    let _ = unlinkat(&above, name, AtFlags::REMOVEDIR);
                }
                return Err(errno);
            }
        }
    }
    Err(Errno::AGAIN)
}

/// The result of one try to hold a placeholder.
enum Tried {
    Held(OwnedFd),
    /// Another sandbox removes it.
    Again,
    /// Something else is there.
    Other,
}

/// Opens and locks a placeholder that was made, or was there.
fn hold(above: &OwnedFd, name: &OsStr, made: bool) -> Result<Tried, Errno> {
    if made {
        chmodat(above, name, Mode::from_raw_mode(PLACEHOLDER_MODE), AtFlags::empty())?;
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = match openat2(above, name, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(directory) => directory,
        Err(Errno::NOENT) => return Ok(Tried::Again),
        Err(Errno::NOTDIR | Errno::LOOP) => return Ok(Tried::Other),
        Err(errno) => return Err(errno),
    };
    let found = fstat(&directory)?;
    if found.st_mode & 0o7777 != PLACEHOLDER_MODE {
        return Ok(Tried::Other);
    }
    match flock(&directory, FlockOperation::NonBlockingLockShared) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => return Ok(Tried::Again),
        Err(errno) => return Err(errno),
    }
    // Another sandbox may have removed it before the lock.
    match statat(above, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(now) if now.st_ino == found.st_ino && now.st_dev == found.st_dev => Ok(Tried::Held(directory)),
        Ok(_) | Err(Errno::NOENT) => Ok(Tried::Again),
        Err(errno) => Err(errno),
    }
}
