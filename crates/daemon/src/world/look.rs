//! Kind and contents of a file. Every path here is real: its symlinks are resolved.

use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use castellan_event::{FileKind, HEAD_BYTES, Inode};
use rustix::fs::FileType;
use rustix::io::Errno;

use super::names::regular;
use crate::limits::CONTENTS_BYTES_MAX;
use crate::sight::{self, open_to_read};
use castellan_files::{Links, at_most};

pub(super) fn kind(real: &Path) -> FileKind {
    match sight::symlink_metadata(real) {
        Ok(found) => kind_of(FileType::from_raw_mode(found.mode())),
        Err(error) if is_missing(&error) => FileKind::Missing,
        Err(_) => FileKind::Unreadable,
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::NOENT | Errno::NOTDIR))
}

fn kind_of(file_type: FileType) -> FileKind {
    match file_type {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::CharacterDevice | FileType::BlockDevice => FileKind::Device,
        FileType::Fifo => FileKind::Fifo,
        FileType::Socket => FileKind::Socket,
        // The symlink was created since the path was resolved.
        FileType::Symlink | FileType::Unknown => FileKind::Unreadable,
    }
}

/// Returns the contents of a regular file of at most [`CONTENTS_BYTES_MAX`] bytes.
///
/// Opens only regular files, because opening a FIFO can block and opening a device can have effects. A file that
/// replaces it between the check and the opening is opened without blocking and checked again.
pub(super) fn contents(real: &Path) -> Option<Vec<u8>> {
    if kind(real) != FileKind::File {
        return None;
    }
    let file = open_to_read(real, Links::Refused).ok()?;
    let is_too_long = file.metadata().ok()?.len() > CONTENTS_BYTES_MAX;
    if is_too_long { None } else { at_most(file, CONTENTS_BYTES_MAX).ok().flatten() }
}

/// Returns the numbers of a regular file.
pub(super) fn inode(real: &Path) -> Option<Inode> {
    let file = regular(real)?;
    Some(Inode { links: file.nlink(), size: file.len() })
}

/// Reports whether a NUL is among the first bytes of a regular file.
pub(super) fn is_binary(real: &Path) -> Option<bool> {
    regular(real)?;
    let mut head = Vec::with_capacity(HEAD_BYTES);
    let file = open_to_read(real, Links::Refused).ok()?;
    file.take(HEAD_BYTES as u64).read_to_end(&mut head).ok()?;
    Some(head.contains(&0))
}
