//! [`Stat`]: the status of a directory's entry. It must not know contents.

use std::ffi::OsStr;
use std::os::fd::BorrowedFd;

use rustix::fs::AtFlags;
use rustix::io;
use serde::{Deserialize, Serialize};

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A named pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A device.
    Device,
    /// Another file system or another mount. Nothing looks below it.
    Mount,
}

impl Kind {
    /// Returns the word for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::File => "file",
            Kind::Directory => "directory",
            Kind::Link => "link",
            Kind::Pipe => "pipe",
            Kind::Socket => "socket",
            Kind::Device => "device",
            Kind::Mount => "mount",
        }
    }
}

/// A time of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Time {
    /// Seconds since 1970.
    pub s: i64,
    /// Nanoseconds of the second.
    pub ns: u32,
}

impl Time {
    pub(crate) fn as_ns(self) -> i128 {
        i128::from(self.s) * 1_000_000_000 + i128::from(self.ns)
    }
}

/// The status of an entry, without its time of access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stat {
    /// Its kind.
    pub kind: Kind,
    /// The number of its file system.
    pub dev: u64,
    /// Its number there.
    pub ino: u64,
    /// Number of hard links.
    pub links: u64,
    /// Bytes.
    pub size: u64,
    /// The permissions, with the bits for set-user-id, set-group-id and sticky.
    pub mode: u32,
    /// The owner.
    pub uid: u32,
    /// The group.
    pub gid: u32,
    /// The last change of its contents. Each owner can set it.
    pub mtime: Time,
    /// The last change of its contents or status. Nobody can set it.
    pub ctime: Time,
}

impl Stat {
    /// Reads the status of `name` in a directory whose file system is `of`. Does not follow a link.
    pub(crate) fn at(dir: BorrowedFd<'_>, name: &OsStr, of: u64) -> io::Result<Stat> {
        system::stat(dir, name, AtFlags::SYMLINK_NOFOLLOW, Some(of))
    }

    /// Reads the status of an open file. It is never [`Kind::Mount`].
    pub(crate) fn of(file: BorrowedFd<'_>) -> io::Result<Stat> {
        system::stat(file, OsStr::new(""), AtFlags::empty(), None)
    }

    /// Reports whether both are the same file with the same contents, as far as its status shows.
    pub fn is_same(&self, other: &Stat) -> bool {
        self.stamp() == other.stamp() && (self.kind, self.mode) == (other.kind, other.mode)
    }

    /// The numbers that change when the contents do.
    pub(crate) fn stamp(&self) -> (u64, u64, u64, Time, Time) {
        (self.dev, self.ino, self.size, self.mtime, self.ctime)
    }
}

fn kind_of(mode: u32) -> Kind {
    use rustix::fs::FileType;
    match FileType::from_raw_mode(mode as rustix::fs::RawMode) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Link,
        FileType::Fifo => Kind::Pipe,
        FileType::Socket => Kind::Socket,
        FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => Kind::Device,
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::ffi::OsStr;
    use std::os::fd::BorrowedFd;

    use rustix::fs::{AtFlags, StatxAttributes, StatxFlags, StatxTimestamp, makedev, statx};
    use rustix::io;

    use super::{Kind, Stat, Time, kind_of};

    /// An empty name is `dir` itself.
    pub(super) fn stat(
        dir: BorrowedFd<'_>,
        name: &OsStr,
        flags: AtFlags,
        parent: Option<u64>,
    ) -> io::Result<Stat> {
        let flags = if name.is_empty() { flags | AtFlags::EMPTY_PATH } else { flags };
        let found = statx(dir, name, flags | AtFlags::NO_AUTOMOUNT, StatxFlags::BASIC_STATS)?;
        let mode = u32::from(found.stx_mode);
        let dev = makedev(found.stx_dev_major, found.stx_dev_minor);
        let kind = kind_of(mode);
        // Files of an overlay may have the number of another file system than their directory.
        let is_other = kind == Kind::Directory && parent.is_some_and(|parent| parent != dev);
        let is_mount =
            parent.is_some() && (is_other || found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT));
        Ok(Stat {
            kind: if is_mount { Kind::Mount } else { kind },
            dev,
            ino: found.stx_ino,
            links: u64::from(found.stx_nlink),
            size: found.stx_size,
            mode: mode & 0o7777,
            uid: found.stx_uid,
            gid: found.stx_gid,
            mtime: time(found.stx_mtime),
            ctime: time(found.stx_ctime),
        })
    }

    fn time(of: StatxTimestamp) -> Time {
        Time { s: of.tv_sec, ns: of.tv_nsec }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::ffi::OsStr;
    use std::os::fd::BorrowedFd;

    use rustix::fs::{AtFlags, fstat, statat};
    use rustix::io;

    use super::{Kind, Stat, Time, kind_of};

    /// An empty name is `dir` itself.
    pub(super) fn stat(
        dir: BorrowedFd<'_>,
        name: &OsStr,
        flags: AtFlags,
        parent: Option<u64>,
    ) -> io::Result<Stat> {
        let found = if name.is_empty() { fstat(dir)? } else { statat(dir, name, flags)? };
        let (mode, dev) = (u32::from(found.st_mode), found.st_dev as u64);
        let kind = if parent.is_some_and(|parent| parent != dev) { Kind::Mount } else { kind_of(mode) };
        Ok(Stat {
            kind,
            dev,
            ino: found.st_ino as u64,
            links: found.st_nlink as u64,
            size: found.st_size as u64,
            mode: mode & 0o7777,
            uid: found.st_uid,
            gid: found.st_gid,
            mtime: Time { s: found.st_mtime as i64, ns: found.st_mtime_nsec as u32 },
            ctime: Time { s: found.st_ctime as i64, ns: found.st_ctime_nsec as u32 },
        })
    }
}
