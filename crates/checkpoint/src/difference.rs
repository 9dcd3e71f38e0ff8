//! The differences between a checkpoint and the present state of its directory.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::beneath::{Beneath, open_file};
use crate::copy::{self, hash_file};
use crate::error::RestoreError;
use crate::gather::gather;
use crate::listing::{Limits, ListError};
use crate::manifest::{Extent, Manifest, Row, Was};
use crate::stat::Kind;
use crate::store::Store;

/// A path that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The path below the directory.
    pub path: PathBuf,
    /// Its state at the checkpoint; `None`: nothing was there.
    pub was: Option<Side>,
    /// Its present state.
    pub now: Option<Side>,
}

/// One state of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// The kind.
    pub kind: Kind,
    /// Bytes of a file.
    pub size: u64,
    /// The permissions.
    pub mode: u32,
    /// The contents of a file can be read: the store has them, or the file is there.
    pub is_readable: bool,
}

/// A path whose state is another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) path: PathBuf,
    pub(crate) was: Was,
    pub(crate) now: Was,
    /// Only permissions or time differ.
    pub(crate) is_status: bool,
}

impl Store {
    /// Compares a checkpoint with its directory as it is now. Paths whose times alone differ are not among the results.
    pub fn diff(&self, id: &str) -> Result<Vec<Difference>, RestoreError> {
        let manifest = self.manifest(id)?;
        let root = Path::new(OsStr::from_bytes(&manifest.root));
        let pairs = match Beneath::open(root) {
            Ok(opened) => pairs(&opened, &manifest, self.limits())?,
            // The directory itself is gone.
            Err(rustix::io::Errno::NOENT) => manifest
                .rows
                .iter()
                .filter_map(|Row { path, was }| pair(path, was.clone(), Was::Absent, false))
                .collect(),
            Err(why) => return Err(ListError::Root { root: root.to_owned(), why }.into()),
        };
        let differences = pairs.into_iter().map(|pair| Difference {
            was: side(&pair.was, pair.was.content().is_some()),
            now: side(&pair.now, true),
            path: pair.path,
        });
        Ok(differences.filter(|one| one.was != one.now || is_content(one)).collect())
    }

    /// Returns the contents of a file at the checkpoint, if it was copied and has at most `max` bytes. They are checked.
    pub fn old_contents(&self, id: &str, path: &Path, max: u64) -> Result<Option<Vec<u8>>, RestoreError> {
        let manifest = self.manifest(id)?;
        let row = manifest.rows.iter().find(|row| row.path == path.as_os_str().as_bytes());
        let Some((hash, size)) = row.and_then(|row| row.was.content()).filter(|(_, size)| *size <= max)
        else {
            return Ok(None);
        };
        let tampered = || RestoreError::Tampered { path: path.to_owned() };
        let bytes = self.read_contents(&hash, size).map_err(|_| tampered())?;
        if copy::hash_of(&bytes) == hash { Ok(Some(bytes)) } else { Err(tampered()) }
    }

    /// Returns the present contents of a file, if it is a regular file of at most `max` bytes that no link leads to.
    pub fn new_contents(&self, id: &str, path: &Path, max: u64) -> Result<Option<Vec<u8>>, RestoreError> {
        let manifest = self.manifest(id)?;
        let read = || -> Option<Vec<u8>> {
            let root = Beneath::open(Path::new(OsStr::from_bytes(&manifest.root))).ok()?;
            let (dir, name) = root.parent(path).ok()?;
            let file = copy::file(open_file(dir.as_fd(), name).ok()?);
            copy::read(&file, max).ok().flatten()
        };
        Ok(read())
    }
}

/// Both are files, and the contents differ: a change of permissions shows in the sides.
fn is_content(one: &Difference) -> bool {
    let kind = |side: &Option<Side>| side.as_ref().map(|side| side.kind);
    matches!(kind(&one.was), Some(Kind::File | Kind::Link)) && kind(&one.was) == kind(&one.now)
}

fn side(of: &Was, is_readable: bool) -> Option<Side> {
    let stat = of.stat()?;
    let size = if stat.kind == Kind::File { stat.size } else { 0 };
    let is_readable = is_readable && stat.kind == Kind::File;
    let mode = if stat.kind == Kind::Link { 0o777 } else { stat.mode };
    Some(Side { kind: stat.kind, size, mode, is_readable })
}

/// Finds the paths whose state is not that of the checkpoint, by path.
pub(crate) fn pairs(root: &Beneath, manifest: &Manifest, limits: &Limits) -> Result<Vec<Pair>, ListError> {
    let mut now = gather(root, manifest.paths.as_deref(), manifest.leaves, limits)?.rows;
    let mut pairs = Vec::new();
    // Directories whose entries the checkpoint does not know.
    let mut unknown: HashSet<&[u8]> = HashSet::new();
    for Row { path, was } in &manifest.rows {
        let is_now = now.remove(path).unwrap_or_else(|| actual(root, path));
        if matches!(was, Was::Directory { extent: Extent::LeftOut, .. } | Was::Other { .. }) {
            unknown.insert(path);
        }
        let (is_same, is_status) = compare(root, path, was, &is_now);
        if !is_same {
            pairs.extend(pair(path, was.clone(), is_now, is_status));
        }
    }
    for (path, is_now) in now {
        let above = Path::new(OsStr::from_bytes(&path)).ancestors().skip(1);
        let is_known = above.into_iter().all(|above| !unknown.contains(above.as_os_str().as_bytes()));
        if is_known {
            pairs.extend(pair(&path, Was::Absent, is_now, false));
        }
    }
    pairs.sort_by(|one, other| one.path.as_os_str().as_bytes().cmp(other.path.as_os_str().as_bytes()));
    Ok(pairs)
}

/// The state of a path that a listing does not have: another name beside it may have made it one to leave out.
fn actual(root: &Beneath, path: &[u8]) -> Was {
    match root.stat(Path::new(OsStr::from_bytes(path))) {
        Ok(stat) => match stat.kind {
            Kind::File => Was::File { stat, content: None },
            Kind::Directory => Was::Directory { stat, extent: Extent::LeftOut },
            Kind::Link | Kind::Pipe | Kind::Socket | Kind::Device | Kind::Mount => Was::Other { stat },
        },
        Err(_) => Was::Absent,
    }
}

fn pair(path: &[u8], was: Was, now: Was, is_status: bool) -> Option<Pair> {
    (was.stat().is_some() || now.stat().is_some()).then(|| Pair {
        path: PathBuf::from(OsStr::from_bytes(path)),
        was,
        now,
        is_status,
    })
}

/// Compares two states of a path: whether they are the same, and whether only permissions or times differ.
fn compare(root: &Beneath, path: &[u8], was: &Was, now: &Was) -> (bool, bool) {
    match (was, now) {
        (Was::Absent | Was::AbsentAbove, Was::Absent | Was::AbsentAbove) => (true, false),
        (Was::File { stat: old, content }, Was::File { stat: new, .. }) => {
            let is_status = (old.mode, old.mtime) == (new.mode, new.mtime);
            if old.stamp() == new.stamp() {
                return (is_status, true);
            }
            let is_equal = old.size == new.size
                && match content {
                    Some(hash) => hash_at(root, path, new.size).is_some_and(|found| found == *hash),
                    None => old.mtime == new.mtime,
                };
            (is_equal && is_status, is_equal)
        }
        (Was::Directory { stat: old, extent }, Was::Directory { stat: new, .. }) => {
            // The call is not about the others.
            let is_other = *extent != Extent::Whole;
            (is_other || (old.mode, old.mtime) == (new.mode, new.mtime), true)
        }
        (Was::Link { target: old, .. }, Was::Link { target: new, .. }) => (old == new, false),
        (Was::Other { stat: old }, Was::Other { stat: new }) => (old.kind == new.kind, false),
        (
            Was::Absent
            | Was::AbsentAbove
            | Was::File { .. }
            | Was::Directory { .. }
            | Was::Link { .. }
            | Was::Other { .. },
            _,
        ) => (false, false),
    }
}

fn hash_at(root: &Beneath, path: &[u8], size: u64) -> Option<copy::Hash> {
    let (dir, name) = root.parent(Path::new(OsStr::from_bytes(path))).ok()?;
    hash_file(&copy::file(open_file(dir.as_fd(), name).ok()?), size).ok()
}
