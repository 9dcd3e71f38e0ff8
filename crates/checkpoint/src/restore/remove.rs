//! Removes a tree through descriptors. Does not follow a link, and does not enter a mount.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{AtFlags, Mode, fchmod, unlinkat};
use rustix::io::{self, Errno};

use crate::beneath::open_dir;
use crate::limits::DEPTH_MAX;
use crate::stat::{Kind, Stat};

/// Removes an entry with everything below it.
pub(super) fn remove(dir: BorrowedFd<'_>, name: &OsStr, dev: u64) -> io::Result<()> {
    remove_at(dir, name, dev, 0)
}

fn remove_at(dir: BorrowedFd<'_>, name: &OsStr, dev: u64, depth: usize) -> io::Result<()> {
    match Stat::at(dir, name, dev)?.kind {
        Kind::Mount => return Err(Errno::BUSY),
        Kind::File | Kind::Link | Kind::Pipe | Kind::Socket | Kind::Device => {
            return unlinkat(dir, name, AtFlags::empty());
        }
        Kind::Directory => {}
    }
    if unlinkat(dir, name, AtFlags::REMOVEDIR).is_ok() {
        return Ok(());
    }
    // Its own folder, and the folder itself, are above the deepest listed directory.
    if depth > DEPTH_MAX + 2 {
        return Err(Errno::NAMETOOLONG);
    }
    let opened = open_dir(dir, name)?;
    if Stat::of(opened.as_fd())?.dev != dev {
        return Err(Errno::BUSY);
    }
    // A directory that its owner may not write in.
    let _ = fchmod(&opened, Mode::RWXU);
    for entry in rustix::fs::Dir::read_from(&opened)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            remove_at(opened.as_fd(), std::os::unix::ffi::OsStrExt::from_bytes(name), dev, depth + 1)?;
        }
    }
    unlinkat(dir, name, AtFlags::REMOVEDIR)
}
