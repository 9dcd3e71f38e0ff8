//! Opening: never waits, and opens nothing but a regular file.

use std::fs::{File, FileType, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

/// The treatment of a symbolic link in a file's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// The target is opened.
    Followed,
    /// The link is an error.
    Refused,
}

/// Opens a regular file for reading.
pub fn open_to_read(file: &Path, links: Links) -> io::Result<File> {
    open_with(OpenOptions::new().read(true), file, links)
}

/// Opens a regular file with `options`, whose custom flags are replaced. The error names any other kind of file.
pub fn open_with(options: &mut OpenOptions, file: &Path, links: Links) -> io::Result<File> {
    let links = match links {
        Links::Followed => OFlags::empty(),
        Links::Refused => OFlags::NOFOLLOW,
    };
    // The kind is checked after the opening, because another process may put a pipe or a device there at any moment.
    // With O_NONBLOCK, a pipe opens at once for reading, and fails for writing.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY | links).bits().cast_signed();
    #[expect(clippy::disallowed_methods, reason = "the one place that opens files")]
    let opened = options.custom_flags(flags).open(file).map_err(|error| explained(error, file))?;
    let kind = opened.metadata()?.file_type();
    if kind.is_file() { Ok(opened) } else { Err(not_regular(kind)) }
}

/// Replaces the kernel's error by the kind of the file, which the kernel's error does not show.
fn explained(error: io::Error, file: &Path) -> io::Error {
    match Errno::from_io_error(&error) {
        Some(Errno::LOOP) => io::Error::other(
            "it is a symbolic link, which castellan does not follow here: replace it by a file",
        ),
        Some(Errno::NXIO | Errno::ISDIR) => {
            std::fs::metadata(file).map_or(error, |found| not_regular(found.file_type()))
        }
        _ => error,
    }
}

fn not_regular(kind: FileType) -> io::Error {
    let kinds: [(&str, bool); 5] = [
        ("folder", kind.is_dir()),
        ("pipe", kind.is_fifo()),
        ("socket", kind.is_socket()),
        ("device", kind.is_char_device() || kind.is_block_device()),
        ("file of an unknown kind", true),
    ];
    let name = kinds.iter().find(|(_, is)| *is).map_or("", |(name, _)| *name);
    io::Error::other(format!("it is a {name}, not a regular file: move it away"))
}
