//! [`Listing`]: every entry below a directory with its status. A walk holds one descriptor for each level, and opens each
//! directory from its parent, so that no link and no mount leads it elsewhere. It must not know contents.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::Dir;
use rustix::io::Errno;
use thiserror::Error;

use crate::beneath::{Beneath, open_dir};
use crate::left_out::{Leaves, is_left_out};
use crate::limits::{DEPTH_MAX, ENTRIES_MAX, NAME_BYTES_MAX};
use crate::stat::{Kind, Stat};

/// The limits of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Number of entries.
    pub entries: usize,
    /// Levels of directories.
    pub depth: usize,
    /// Bytes of all paths.
    pub name_bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { entries: ENTRIES_MAX, depth: DEPTH_MAX, name_bytes: NAME_BYTES_MAX }
    }
}

/// The reason why a directory cannot be listed. Paths are below the root; an empty path is the root.
#[derive(Debug, Error)]
pub enum ListError {
    /// The root is not there, or not a directory, or a link is in its path.
    #[error("{} cannot be opened as a directory: {why}", .root.display())]
    Root {
        /// The root.
        root: PathBuf,
        /// The error of the system.
        why: Errno,
    },
    /// There are more entries than the limit.
    #[error(
        "the directory has more than {0} entries: delete generated files, or work in a smaller directory"
    )]
    Entries(usize),
    /// Directories are nested more deeply than the limit.
    #[error("{} has more than {max} directories below each other: move it away", shown(.path))]
    Depth {
        /// The directory at the limit.
        path: PathBuf,
        /// The limit.
        max: usize,
    },
    /// All paths together are longer than the limit.
    #[error(
        "the paths in the directory have more than {0} bytes: delete generated files, or work in a smaller directory"
    )]
    NameBytes(usize),
    /// A directory of this user cannot be read. Its owner could make it readable, change a file in it, and make it
    /// unreadable again.
    #[error("{} cannot be read ({why}): make it readable for its owner", shown(.path))]
    Unreadable {
        /// The directory.
        path: PathBuf,
        /// The error of the system.
        why: Errno,
    },
    /// A directory was replaced while it was read.
    #[error("{} was replaced while castellan listed it: try again when nothing changes it", shown(.path))]
    Changing {
        /// The directory.
        path: PathBuf,
    },
}

/// Returns a path as text: control characters are escaped.
pub(crate) fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

/// An entry of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The path below the root.
    pub path: PathBuf,
    /// Its status.
    pub stat: Stat,
    /// It is a directory whose entries are in the listing. A directory of another user may be unreadable; a checkpoint
    /// leaves some directories out.
    pub is_listed: bool,
}

/// Every entry below a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// The status of the root.
    pub root: Stat,
    /// The entries by the bytes of their paths: a directory comes before its entries.
    pub entries: Vec<Entry>,
}

impl Listing {
    /// Lists all entries below `root`, an absolute path without links.
    pub fn read(root: &Path, limits: &Limits) -> Result<Listing, ListError> {
        let opened = Beneath::open(root).map_err(|why| ListError::Root { root: root.to_owned(), why })?;
        let stat = Stat::of(opened.fd()).map_err(|why| ListError::Root { root: root.to_owned(), why })?;
        let mut entries = walk(&opened, Path::new(""), limits, Leaves::Nothing)?;
        sort(&mut entries);
        Ok(Listing { root: stat, entries })
    }

    /// Reports whether a path below the root is in the listing.
    pub(crate) fn has(&self, path: &Path) -> bool {
        let path = path.as_os_str().as_bytes();
        self.entries.binary_search_by(|entry| entry.path.as_os_str().as_bytes().cmp(path)).is_ok()
    }
}

pub(crate) fn sort(entries: &mut [Entry]) {
    entries.sort_unstable_by(|one, other| {
        one.path.as_os_str().as_bytes().cmp(other.path.as_os_str().as_bytes())
    });
}

/// A directory of a walk whose subdirectories are still to be entered.
struct Level {
    dir: OwnedFd,
    path: PathBuf,
    /// Names and places in the list of entries.
    ahead: Vec<(OsString, usize)>,
}

/// Lists the entries below the directory `from`, unsorted. Directories of `leaves` are entries, and not entered.
pub(crate) fn walk(
    root: &Beneath,
    from: &Path,
    limits: &Limits,
    leaves: Leaves,
) -> Result<Vec<Entry>, ListError> {
    let mut walk = Walk { root, limits, leaves, entries: Vec::new(), name_bytes: 0 };
    let unreadable = |why| ListError::Unreadable { path: from.to_owned(), why };
    let first = root.dir(from).map_err(unreadable)?;
    let mut levels = vec![walk.read(first, from.to_owned())?];
    while let Some(level) = levels.last_mut() {
        let Some((name, place)) = level.ahead.pop() else {
            levels.pop();
            continue;
        };
        let path = level.path.join(&name);
        let Some(dir) = walk.enter(level.dir.as_fd(), &name, &path, place)? else { continue };
        if levels.len() >= limits.depth {
            return Err(ListError::Depth { path, max: limits.depth });
        }
        levels.push(walk.read(dir, path)?);
    }
    Ok(walk.entries)
}

struct Walk<'w> {
    root: &'w Beneath,
    limits: &'w Limits,
    leaves: Leaves,
    entries: Vec<Entry>,
    name_bytes: usize,
}

impl Walk<'_> {
    /// Opens a directory that was listed. `None`: it belongs to another user, and this one cannot read it.
    fn enter(
        &mut self,
        parent: std::os::fd::BorrowedFd<'_>,
        name: &OsStr,
        path: &Path,
        place: usize,
    ) -> Result<Option<OwnedFd>, ListError> {
        let Some(entry) = self.entries.get_mut(place) else { return Ok(None) };
        let changing = || ListError::Changing { path: path.to_owned() };
        match open_dir(parent, name) {
            Ok(dir) => {
                let now = Stat::of(dir.as_fd()).map_err(|_| changing())?;
                if (now.dev, now.ino) != (entry.stat.dev, entry.stat.ino) {
                    return Err(changing());
                }
                entry.is_listed = true;
                Ok(Some(dir))
            }
            Err(Errno::ACCESS | Errno::PERM) if entry.stat.uid != rustix::process::geteuid().as_raw() => {
                Ok(None)
            }
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Err(changing()),
            Err(why) => Err(ListError::Unreadable { path: path.to_owned(), why }),
        }
    }

    /// Reads the entries of an open directory.
    fn read(&mut self, dir: OwnedFd, path: PathBuf) -> Result<Level, ListError> {
        let names = self.names(&dir, &path)?;
        let beside: HashSet<&OsStr> = match self.leaves {
            Leaves::Nothing => HashSet::new(),
            Leaves::Generated | Leaves::GeneratedAndHistory => {
                names.iter().map(OsString::as_os_str).collect()
            }
        };
        let mut ahead = Vec::new();
        for name in &names {
            let stat = match Stat::at(dir.as_fd(), name, self.root.dev()) {
                Ok(stat) => stat,
                // Removed since its name was read.
                Err(Errno::NOENT) => continue,
                Err(why) => return Err(ListError::Unreadable { path: path.join(name), why }),
            };
            let is_ahead = stat.kind == Kind::Directory
                && !is_left_out(self.leaves, name, |other| beside.contains(other));
            if is_ahead {
                ahead.push((name.clone(), self.entries.len()));
            }
            let path = path.join(name);
            self.name_bytes += path.as_os_str().len();
            self.entries.push(Entry { path, stat, is_listed: false });
        }
        if self.name_bytes > self.limits.name_bytes {
            return Err(ListError::NameBytes(self.limits.name_bytes));
        }
        Ok(Level { dir, path, ahead })
    }

    fn names(&self, dir: &OwnedFd, path: &Path) -> Result<Vec<OsString>, ListError> {
        let unreadable = |why| ListError::Unreadable { path: path.to_owned(), why };
        let mut names = Vec::new();
        for entry in Dir::read_from(dir).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            names.push(OsString::from_vec(name.to_owned()));
            if self.entries.len() + names.len() > self.limits.entries {
                return Err(ListError::Entries(self.limits.entries));
            }
        }
        Ok(names)
    }
}
