//! What is at a path, and what a file holds. Every path here is real: its symlinks are resolved.

use std::fs::File;
use std::path::Path;

use castellan_event::FileKind;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::files::at_most;
use crate::limits::CONTENTS_BYTES_MAX;

/// What is there.
pub(super) fn kind(real: &Path) -> FileKind {
    match rustix::fs::lstat(real) {
        Ok(stat) => kind_of(FileType::from_raw_mode(stat.st_mode)),
        Err(Errno::NOENT | Errno::NOTDIR) => FileKind::Missing,
        Err(_) => FileKind::Unreadable,
    }
}

fn kind_of(file_type: FileType) -> FileKind {
    match file_type {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::CharacterDevice | FileType::BlockDevice => FileKind::Device,
        FileType::Fifo => FileKind::Fifo,
        FileType::Socket => FileKind::Socket,
        // A symlink was put there since the path was resolved.
        FileType::Symlink | FileType::Unknown => FileKind::Unreadable,
    }
}

/// What a regular file of at most [`CONTENTS_BYTES_MAX`] bytes holds.
///
/// Opening a FIFO can block, and opening a device can do something: so nothing else is opened. What is put there between
/// the look and the opening is opened without waiting, and looked at again.
pub(super) fn contents(real: &Path) -> Option<Vec<u8>> {
    if kind(real) != FileKind::File {
        return None;
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::open(real, flags, Mode::empty()).ok()?;
    let stat = rustix::fs::fstat(&file).ok()?;
    let is_too_long = u64::try_from(stat.st_size).is_ok_and(|size| size > CONTENTS_BYTES_MAX);
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || is_too_long {
        return None;
    }
    at_most(File::from(file), CONTENTS_BYTES_MAX).ok().flatten()
}
