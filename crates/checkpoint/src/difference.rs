//! The differences between a checkpoint and the present state of its directory.

use std::collections::{BTreeMap, BTreeSet, HashSet};
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
use crate::stat::{Kind, Stat};
use crate::store::Store;

/// A checkpoint beside the present state of its directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The paths that are not as they were.
    pub differences: Vec<Difference>,
    /// Places that were not compared: the checkpoint does not have them or has them without contents, or they are left out
    /// now. An empty path is the whole directory.
    pub unknown: Vec<PathBuf>,
}

/// A path that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The path below the directory.
    pub path: PathBuf,
    /// Its state at the checkpoint; `None`: nothing was there.
    pub was: Option<Side>,
    /// Its present state.
    pub now: Option<Side>,
    /// Its present status, which differs after each further change.
    pub stat: Option<Stat>,
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
    /// The target of a link. Other bytes than UTF-8 are replaced.
    pub target: Option<String>,
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

/// The paths whose state is another one, and the places that were not compared; see [`Comparison::unknown`].
#[derive(Debug)]
pub(crate) struct Compared {
    pub(crate) pairs: Vec<Pair>,
    pub(crate) unknown: Vec<PathBuf>,
}

impl Store {
    /// Compares a checkpoint with its directory as it is now. Paths whose times alone differ are not among the results.
    pub fn compare(&self, id: &str) -> Result<Comparison, RestoreError> {
        let manifest = self.manifest(id)?;
        let root = Path::new(OsStr::from_bytes(&manifest.root));
        let Compared { pairs, unknown } = match Beneath::open(root) {
            Ok(opened) => compared(&opened, &manifest, self.limits())?,
            // The directory itself is gone.
            Err(rustix::io::Errno::NOENT) => Compared {
                pairs: manifest
                    .rows
                    .iter()
                    .filter_map(|Row { path, was }| pair(path, was.clone(), Was::Absent, false))
                    .collect(),
                unknown: Vec::new(),
            },
            Err(why) => return Err(ListError::Root { root: root.to_owned(), why }.into()),
        };
        let differences = pairs.into_iter().map(|pair| Difference {
            was: side(&pair.was, pair.was.content().is_some()),
            now: side(&pair.now, true),
            stat: pair.now.stat().copied(),
            path: pair.path,
        });
        let differences = differences.filter(|one| one.was != one.now || is_content(one)).collect();
        Ok(Comparison { differences, unknown })
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
    let target = match of {
        Was::Link { target, .. } => Some(String::from_utf8_lossy(target).into_owned()),
        Was::Absent | Was::AbsentAbove | Was::File { .. } | Was::Directory { .. } | Was::Other { .. } => None,
    };
    Some(Side { kind: stat.kind, size, mode, is_readable, target })
}

/// Finds the paths whose state is not that of the checkpoint, by path.
pub(crate) fn compared(root: &Beneath, manifest: &Manifest, limits: &Limits) -> Result<Compared, ListError> {
    let gathered = gather(root, manifest.paths.as_deref(), manifest.leaves, limits)?;
    let mut now = gathered.rows;
    let mut not_compared = places_unknown(manifest, &now);
    not_compared.extend(gathered.left);
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
    Ok(Compared { pairs, unknown: not_compared })
}

/// The places about which a comparison says nothing. A new file beside a directory may have made it one to leave out.
fn places_unknown(manifest: &Manifest, now: &BTreeMap<Vec<u8>, Was>) -> Vec<PathBuf> {
    let is_left_out =
        |was: &Was| matches!(was, Was::Directory { extent: Extent::LeftOut, .. } | Was::Other { .. });
    let is_unknown = |was: &Was| is_left_out(was) || matches!(was, Was::File { content: None, .. });
    let of_then = manifest.rows.iter().filter(|row| is_unknown(&row.was)).map(|row| &row.path);
    let of_now = now.iter().filter(|(_, was)| is_left_out(was)).map(|(path, _)| path);
    let places: BTreeSet<&Vec<u8>> = of_then.chain(of_now).collect();
    let whole = (!manifest.is_whole()).then(PathBuf::new);
    places.into_iter().map(|path| PathBuf::from(OsStr::from_bytes(path))).chain(whole).collect()
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
