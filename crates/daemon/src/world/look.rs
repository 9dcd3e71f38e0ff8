//! What is at a path, and what a file holds. Every path here is real: its symlinks are resolved.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use castellan_event::FileKind;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

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

/// Bytes of most files that are read.
const READ_AT_ONCE: usize = 8 * 1024;

/// Everything that a reader gives. `None` when it is longer: a size that is told beforehand proves nothing, as files in
/// `/proc` tell 0 and others grow.
pub(super) fn at_most(reader: impl Read, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    // Files in `/proc` do not tell their size: grown from nothing, their text would take ten reads.
    let mut bytes = Vec::with_capacity(READ_AT_ONCE);
    let read = reader.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((read as u64 <= bytes_max).then_some(bytes))
}
