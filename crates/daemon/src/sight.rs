//! The daemon's sight of the guarded user's files and processes: each question about them goes through this module. The
//! functions mirror those of `std::fs` and `castellan_files`.
//!
//! A daemon that serves its own user looks by itself. The daemon of a system-wide installation has a user of its own. It
//! looks through the reader of the one guarded user, with the rights of that user alone. The reader is set once, at the
//! start. castellan's own files never go through this module, and it must not know the use of an answer.
//!
//! On a FUSE mount without `allow_other` the kernel permits only the user who mounted it, also with a descriptor that the
//! reader has opened. There the daemon's look at the descriptor fails with EACCES: the file is there and cannot be read, so
//! its code is unread.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use castellan_files::{Guard, Links};
use castellan_reader::{Gone, Reader, Sort};
use rustix::fs::{Access, AtFlags, CWD, Dir};

/// The reader of the guarded user, and that user's id. Unset: the daemon serves its own user.
static THROUGH: OnceLock<(Reader, u32)> = OnceLock::new();

/// Looks through this reader of the user from now on. Only for the start of a daemon. The first reader stays.
pub(crate) fn look_through(reader: Reader, user: u32) {
    let _ = THROUGH.set((reader, user));
}

fn reader() -> Option<&'static Reader> {
    THROUGH.get().map(|(reader, _)| reader)
}

/// Returns the id of the guarded user.
pub(crate) fn user() -> u32 {
    THROUGH.get().map_or_else(|| rustix::process::geteuid().as_raw(), |(_, user)| *user)
}

/// Reports whether the daemon has a user of its own.
pub(crate) fn is_through_reader() -> bool {
    THROUGH.get().is_some()
}

/// Checks that the daemon can look at the user's files now.
pub(crate) fn check() -> Result<(), Gone> {
    reader().map_or(Ok(()), Reader::check)
}

/// Returns the number of questions without an answer. If it has grown meanwhile, an error about a file may have another
/// reason, and no decision may rest on it.
pub(crate) fn failures() -> u64 {
    reader().map_or(0, Reader::failures)
}

/// As [`std::fs::metadata`].
pub(crate) fn metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    match reader() {
        None => std::fs::metadata(path),
        Some(reader) => File::from(reader.open(Sort::Look, path.as_ref())?).metadata(),
    }
}

/// As [`std::fs::symlink_metadata`].
pub(crate) fn symlink_metadata(path: impl AsRef<Path>) -> io::Result<Metadata> {
    match reader() {
        None => std::fs::symlink_metadata(path),
        Some(reader) => File::from(reader.open(Sort::LookNoLink, path.as_ref())?).metadata(),
    }
}

/// As [`Path::exists`].
pub(crate) fn exists(path: impl AsRef<Path>) -> bool {
    metadata(path).is_ok()
}

/// As [`Path::is_dir`].
pub(crate) fn is_dir(path: impl AsRef<Path>) -> bool {
    metadata(path).is_ok_and(|found| found.is_dir())
}

/// As [`std::fs::read_link`].
pub(crate) fn read_link(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    match reader() {
        None => std::fs::read_link(path),
        Some(reader) => reader.path(Sort::Link, path.as_ref()),
    }
}

/// As [`std::fs::canonicalize`]. A relative path is an error for a reader, whose directory is another.
pub(crate) fn canonicalize(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    match reader() {
        None => std::fs::canonicalize(path),
        Some(reader) => reader.path(Sort::Real, path.as_ref()),
    }
}

/// Checks that the user may execute a file.
pub(crate) fn can_execute(path: &Path) -> io::Result<()> {
    match reader() {
        None => Ok(rustix::fs::accessat(CWD, path, Access::EXEC_OK, AtFlags::EACCESS)?),
        Some(reader) => reader.can_execute(path),
    }
}

/// As [`castellan_files::open_to_read`].
pub(crate) fn open_to_read(path: &Path, links: Links) -> io::Result<File> {
    let Some(reader) = reader() else { return castellan_files::open_to_read(path, links) };
    let sort = match links {
        Links::Followed => Sort::Read,
        Links::Refused => Sort::ReadNoLink,
    };
    let file = File::from(reader.open(sort, path)?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a regular file")) }
}

/// As [`castellan_files::read_text`].
pub(crate) fn read_text(path: &Path, max: u64) -> io::Result<String> {
    read_guarded(path, max, Guard::Any)
}

/// As [`castellan_files::read_guarded`]; the guarded user is the one who may have written the file.
pub(crate) fn read_guarded(path: &Path, max: u64, guard: Guard) -> io::Result<String> {
    castellan_files::text(read_bytes(path, max, guard)?)
}

/// As [`castellan_files::read_bytes`]; the guarded user is the one who may have written the file.
pub(crate) fn read_bytes(path: &Path, max: u64, guard: Guard) -> io::Result<Vec<u8>> {
    castellan_files::read_opened(open_to_read(path, guard.links())?, max, guard, user())
}

/// As [`castellan_files::of_system`].
pub(crate) fn of_system(path: &str, max: u64) -> Option<Vec<u8>> {
    castellan_files::at_most(open_to_read(Path::new(path), Links::Followed).ok()?, max).ok().flatten()
}

/// As [`std::fs::read_dir`]. The entries come without `.` and `..`.
pub(crate) fn read_dir(path: impl AsRef<Path>) -> io::Result<Entries> {
    let path = path.as_ref();
    let listed = match reader() {
        None => Listed::Here(std::fs::read_dir(path)?),
        Some(reader) => Listed::There(Dir::new(reader.open(Sort::List, path)?)?),
    };
    Ok(Entries { listed, folder: path.to_owned() })
}

/// The entries of a folder.
#[derive(Debug)]
pub(crate) struct Entries {
    listed: Listed,
    folder: PathBuf,
}

#[derive(Debug)]
enum Listed {
    Here(std::fs::ReadDir),
    There(Dir),
}

/// An entry of a folder.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The path, below the listed folder.
    pub(crate) path: PathBuf,
    /// The name.
    pub(crate) name: OsString,
}

impl Iterator for Entries {
    type Item = io::Result<Entry>;

    fn next(&mut self) -> Option<io::Result<Entry>> {
        let name = match &mut self.listed {
            Listed::Here(entries) => entries.next()?.map(|entry| entry.file_name()),
            Listed::There(entries) => loop {
                let entry = match entries.next()? {
                    Ok(entry) => entry,
                    Err(error) => break Err(error.into()),
                };
                let name = entry.file_name().to_bytes();
                if name != b"." && name != b".." {
                    break Ok(OsString::from_vec(name.to_owned()));
                }
            },
        };
        Some(name.map(|name| Entry { path: self.folder.join(&name), name }))
    }
}

impl Entry {
    /// As [`std::fs::DirEntry::metadata`]: a symlink is not followed.
    pub(crate) fn metadata(&self) -> io::Result<Metadata> {
        symlink_metadata(&self.path)
    }
}
