//! Single changes below the directory: each goes through the descriptor of the directory that it changes.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, Gid, Mode, OFlags, RenameFlags, Timespec, Timestamps, UTIME_OMIT, Uid, fchmod, fchown, futimens,
    openat, renameat, renameat_with, utimensat,
};
use rustix::io::{self, Errno};

use crate::beneath::Beneath;
use crate::stat::{Kind, Stat, Time};

/// Renames an entry to a name that nothing has.
pub(super) fn rename_new(from: (BorrowedFd<'_>, &OsStr), to: (BorrowedFd<'_>, &OsStr)) -> io::Result<()> {
    match renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE) {
        // This file system cannot check and rename in one step.
        Err(Errno::INVAL | Errno::NOSYS) => match Stat::at(to.0, to.1, 0) {
            Err(Errno::NOENT) => renameat(from.0, from.1, to.0, to.1),
            Err(why) => Err(why),
            Ok(_) => Err(Errno::EXIST),
        },
        done => done,
    }
}

/// Gives an open file owner, permissions and time. Without the owner, it gets no bit that runs it as its owner.
pub(super) fn give_status(file: BorrowedFd<'_>, stat: &Stat) -> io::Result<()> {
    let own = Stat::of(file)?;
    let mut mode = stat.mode;
    if (own.uid, own.gid) != (stat.uid, stat.gid)
        && fchown(file, Some(Uid::from_raw(stat.uid)), Some(Gid::from_raw(stat.gid))).is_err()
    {
        mode &= 0o1777;
    }
    fchmod(file, bits(mode))?;
    futimens(file, &times(stat.mtime))
}

/// Gives an entry permissions and time. It must be of the same kind.
pub(super) fn give_status_at(root: &Beneath, path: &Path, stat: &Stat) -> io::Result<()> {
    chmod(root, path, stat.kind, stat.mode)?;
    let (dir, name) = root.parent(path)?;
    utimensat(&dir, name, &times(stat.mtime), AtFlags::SYMLINK_NOFOLLOW)
}

/// Gives the directory itself permissions and time. Its entries are in place whether this works or not.
pub(super) fn give_root_status(root: &Beneath, stat: &Stat) {
    let _ = fchmod(root.fd(), bits(stat.mode));
    let _ = futimens(root.fd(), &times(stat.mtime));
}

/// Changes the permissions of a file or directory, which this user need not be able to read. Does not follow a link.
#[cfg(target_os = "linux")]
pub(super) fn chmod(root: &Beneath, path: &Path, kind: Kind, mode: u32) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    if path.as_os_str().is_empty() {
        return fchmod(root.fd(), bits(mode));
    }
    let (dir, name) = root.parent(path)?;
    let file = openat(&dir, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    if Stat::of(file.as_fd())?.kind != kind {
        return Err(Errno::AGAIN);
    }
    // `fchmod` needs a file that was opened to read. This name leads to the same open file, whatever its path is now.
    rustix::fs::chmod(format!("/proc/self/fd/{}", file.as_raw_fd()), bits(mode))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn chmod(root: &Beneath, path: &Path, kind: Kind, mode: u32) -> io::Result<()> {
    if path.as_os_str().is_empty() {
        return fchmod(root.fd(), bits(mode));
    }
    let (dir, name) = root.parent(path)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(&dir, name, flags, Mode::empty())?;
    if Stat::of(file.as_fd())?.kind != kind {
        return Err(Errno::AGAIN);
    }
    fchmod(&file, bits(mode))
}

pub(super) fn bits(mode: u32) -> Mode {
    Mode::from_raw_mode(mode as rustix::fs::RawMode)
}

pub(super) fn times(mtime: Time) -> Timestamps {
    Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        last_modification: Timespec { tv_sec: mtime.s, tv_nsec: mtime.ns.into() },
    }
}
