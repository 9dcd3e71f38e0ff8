//! [`Beneath`]: a directory, and safe ways to what is below it. No component of a path may be a link or a mount. The agent
//! may swap a directory for a link at any moment, so each component is opened from the one before.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use rustix::io::{self, Errno};

use crate::stat::{Kind, Stat};

/// Opens a directory and nothing else, not through a link.
const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Opens a directory on the way to another: this user may pass through it, and need not be able to read it.
#[cfg(target_os = "linux")]
const ON_THE_WAY: OFlags =
    OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const ON_THE_WAY: OFlags = DIRECTORY;

/// A directory that was reached without a link.
#[derive(Debug)]
pub(crate) struct Beneath {
    root: OwnedFd,
    /// Number of its file system.
    dev: u64,
}

impl Beneath {
    /// Opens an absolute path without `.` and `..`. A link in it is the error `LOOP` or `NOTDIR`.
    pub(crate) fn open(root: &Path) -> io::Result<Beneath> {
        let mut dir = open_top(root)?;
        for name in names(strip_top(root)?) {
            dir = openat(&dir, name?, ON_THE_WAY, Mode::empty())?;
        }
        Beneath::of(openat(&dir, ".", DIRECTORY, Mode::empty())?)
    }

    /// Like [`Beneath::open`], but makes the directories that are not there, for this user alone. Returns how many of the
    /// last components it made.
    pub(crate) fn open_or_make(root: &Path) -> io::Result<(Beneath, usize)> {
        let mut dir = open_top(root)?;
        let mut made = 0;
        for name in names(strip_top(root)?) {
            let name = name?;
            dir = match openat(&dir, name, ON_THE_WAY, Mode::empty()) {
                Err(Errno::NOENT) => {
                    mkdirat(&dir, name, Mode::RWXU)?;
                    made += 1;
                    openat(&dir, name, ON_THE_WAY, Mode::empty())?
                }
                opened => opened?,
            };
        }
        Ok((Beneath::of(openat(&dir, ".", DIRECTORY, Mode::empty())?)?, made))
    }

    fn of(root: OwnedFd) -> io::Result<Beneath> {
        let dev = Stat::of(root.as_fd())?.dev;
        Ok(Beneath { root, dev })
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    /// Number of the file system.
    pub(crate) fn dev(&self) -> u64 {
        self.dev
    }

    /// Opens a directory by its path below the root; an empty path is the root.
    pub(crate) fn dir(&self, path: &Path) -> io::Result<OwnedFd> {
        let mut dir =
            self.root.try_clone().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        for name in names(path) {
            let name = name?;
            dir = self.enter(dir.as_fd(), name)?;
        }
        Ok(dir)
    }

    /// Opens a directory of an open one. A mount is the error `XDEV`.
    pub(crate) fn enter(&self, dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
        if Stat::at(dir, name, self.dev)?.kind == Kind::Mount {
            return Err(Errno::XDEV);
        }
        let opened = open_dir(dir, name)?;
        // Something may have been mounted since.
        if Stat::of(opened.as_fd())?.dev != self.dev { Err(Errno::XDEV) } else { Ok(opened) }
    }

    /// Opens the directory that holds the last component of a path, and returns that component.
    pub(crate) fn parent<'p>(&self, path: &'p Path) -> io::Result<(OwnedFd, &'p OsStr)> {
        let name = path.file_name().ok_or(Errno::INVAL)?;
        Ok((self.dir(path.parent().unwrap_or(Path::new("")))?, name))
    }

    /// Reads the status of a path below the root.
    pub(crate) fn stat(&self, path: &Path) -> io::Result<Stat> {
        if path.as_os_str().is_empty() {
            return Stat::of(self.fd());
        }
        let (dir, name) = self.parent(path)?;
        Stat::at(dir.as_fd(), name, self.dev)
    }
}

pub(crate) fn open_dir(dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
    openat(dir, name, DIRECTORY, Mode::empty())
}

/// Opens an entry to read it, if it is a regular file. Does not wait.
pub(crate) fn open_file(dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = openat(dir, name, flags, Mode::empty())?;
    if Stat::of(opened.as_fd())?.kind == Kind::File { Ok(opened) } else { Err(Errno::INVAL) }
}

fn open_top(root: &Path) -> io::Result<OwnedFd> {
    if root.is_absolute() { openat(CWD, "/", ON_THE_WAY, Mode::empty()) } else { Err(Errno::INVAL) }
}

fn strip_top(root: &Path) -> io::Result<&Path> {
    root.strip_prefix("/").map_err(|_| Errno::INVAL)
}

/// The components of a path below a directory. `..`, and a NUL, are an error.
fn names(path: &Path) -> impl Iterator<Item = io::Result<&OsStr>> {
    path.components().map(|component| match component {
        Component::Normal(name) if !name.as_bytes().contains(&0) => Ok(name),
        Component::Normal(_)
        | Component::Prefix(_)
        | Component::RootDir
        | Component::CurDir
        | Component::ParentDir => Err(Errno::INVAL),
    })
}
