//! What the planner must know of the file system: the only part of a plan that looks at it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs::Metadata;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use crate::capabilities::Capabilities;
use crate::error::PolicyError;
use crate::limits::{PATHS_MAX, SIBLINGS_MAX};
use crate::policy::{Policy, Read};

/// Paths of the system that plans use.
const SYSTEM: &[&str] = &[
    "/tmp",
    "/run",
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/etc/resolv.conf",
    "/sys/kernel/debug",
    "/sys/kernel/tracing",
    "/sys/firmware",
];

/// The paths of one policy, and the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survey {
    /// Effective user.
    pub uid: u32,
    /// Effective group.
    pub gid: u32,
    /// A free name for a directory outside, for a private `/tmp` without namespaces.
    pub scratch: PathBuf,
    /// The paths of the policy and of the system.
    pub paths: BTreeMap<PathBuf, Seen>,
    /// `/` and directories above secrets, with their entries; `None` if too many. Empty where mounts hide secrets.
    pub siblings: BTreeMap<PathBuf, Option<Vec<(OsString, Kind)>>>,
}

/// One path as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The path with its directories resolved; its last part is not followed. Of a missing path, the first missing part.
    pub place: PathBuf,
    /// The path with every symlink followed; `place` if nothing is there.
    pub real: PathBuf,
    /// What is at `real`.
    pub kind: Kind,
    /// `place` is a symlink.
    pub link: bool,
    /// The text of the symlink; empty if it is none.
    pub text: PathBuf,
    /// Names of the file; more than one is a hard link elsewhere.
    pub names: u64,
    /// A sandbox made it: [`PLACEHOLDER_MODE`].
    pub placeholder: bool,
}

/// Mode of a [`crate::Placeholder`], which marks it: no other program makes a directory with this mode.
pub const PLACEHOLDER_MODE: u32 = 0o1555;

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A directory.
    Directory,
    /// A file, socket, pipe or device.
    File,
    /// A symlink; only among siblings.
    Link,
    /// Nothing, or a symlink to nothing.
    Missing,
}

/// Looks at the paths of a policy, as far as a plan with these capabilities needs them.
///
/// # Errors
/// A path that is relative, holds a NUL, or cannot be examined; too many paths.
pub fn survey(policy: &Policy, can: &Capabilities) -> Result<Survey, PolicyError> {
    let (mut paths, mut real) = (BTreeMap::new(), Real::default());
    let listed = listed(policy);
    if listed.len() > PATHS_MAX {
        return Err(PolicyError::TooMany { what: "paths", found: listed.len(), most: PATHS_MAX });
    }
    for (field, path) in listed {
        if path.as_os_str().as_bytes().contains(&0) {
            return Err(PolicyError::Nul { field });
        }
        if !path.is_absolute() {
            return Err(PolicyError::Relative { field, path: path.to_owned() });
        }
        let seen = real.look(path).map_err(|error| PolicyError::Unreadable {
            field,
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
        paths.insert(path.to_owned(), seen);
    }
    for path in SYSTEM.iter().map(PathBuf::from) {
        if let Ok(seen) = real.look(&path) {
            paths.insert(path, seen);
        }
    }
    let hidden = policy.files.secret.iter().chain(&policy.files.sockets);
    // Only rules without mounts need them.
    let siblings = if can.namespaces || can.bubblewrap.is_some() {
        BTreeMap::new()
    } else {
        siblings(hidden.filter_map(|path| paths.get(path)))
    };
    let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    Ok(Survey { uid, gid, scratch: scratch()?, paths, siblings })
}

fn listed(policy: &Policy) -> Vec<(&'static str, &Path)> {
    let files = &policy.files;
    let only: &[PathBuf] = match &files.read {
        Read::Everything => &[],
        Read::Only(paths) => paths,
    };
    let lists = [
        ("readable", only),
        ("writable", &files.writable),
        ("protected", &files.protected),
        ("secret", &files.secret),
        ("sockets", &files.sockets),
        ("directory", std::slice::from_ref(&policy.directory)),
    ];
    lists
        .into_iter()
        .flat_map(|(field, paths)| paths.iter().map(move |path| (field, path.as_path())))
        .collect()
}

/// Directories with every symlink followed. Many paths of a policy share a directory.
#[derive(Debug, Default)]
struct Real(HashMap<PathBuf, PathBuf>);

impl Real {
    fn directory(&mut self, path: &Path) -> std::io::Result<PathBuf> {
        if let Some(known) = self.0.get(path) {
            return Ok(known.clone());
        }
        let real = std::fs::canonicalize(path)?;
        self.0.insert(path.to_owned(), real.clone());
        Ok(real)
    }

    fn look(&mut self, path: &Path) -> std::io::Result<Seen> {
        if path.components().any(|part| part == Component::ParentDir) {
            // `..` after a symlink is another place than before it: only the file system knows.
            let real = std::fs::canonicalize(path)?;
            return self.look(&real);
        }
        let Some((parent, name)) = path.parent().zip(path.file_name()) else {
            return Ok(Seen {
                place: path.to_owned(),
                real: path.to_owned(),
                kind: Kind::Directory,
                link: false,
                text: PathBuf::new(),
                names: 1,
                placeholder: false,
            });
        };
        let parent = match self.directory(parent) {
            Ok(parent) => parent,
            Err(error) if is_absent(&error) => {
                return self.look(parent).map(|seen| Seen { kind: Kind::Missing, ..seen });
            }
            Err(error) => return Err(error),
        };
        let place = parent.join(name);
        let found = match std::fs::symlink_metadata(&place) {
            Ok(found) => found,
            Err(error) if is_absent(&error) => return Ok(missing(place, false, PathBuf::new())),
            Err(error) => return Err(error),
        };
        if !found.is_symlink() {
            return Ok(Seen::of(place.clone(), place, &found));
        }
        let text = std::fs::read_link(&place)?;
        match std::fs::canonicalize(&place).and_then(|real| Ok((std::fs::symlink_metadata(&real)?, real))) {
            Ok((found, real)) => Ok(Seen { link: true, text, ..Seen::of(place, real, &found) }),
            Err(error) if is_absent(&error) => Ok(missing(place, true, text)),
            Err(error) => Err(error),
        }
    }
}

/// A path below a file, or a symlink in a circle, leads to nothing as well.
fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
        || error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

fn missing(place: PathBuf, link: bool, text: PathBuf) -> Seen {
    Seen { real: place.clone(), place, kind: Kind::Missing, link, text, names: 0, placeholder: false }
}

impl Seen {
    fn of(place: PathBuf, real: PathBuf, found: &Metadata) -> Seen {
        let kind = if found.is_dir() { Kind::Directory } else { Kind::File };
        let placeholder = found.is_dir() && found.mode() & 0o7777 == PLACEHOLDER_MODE;
        Seen { place, real, kind, link: false, text: PathBuf::new(), names: names(found), placeholder }
    }
}

fn names(found: &Metadata) -> u64 {
    // Directories count their subdirectories, sockets are reached by their one name.
    if found.is_dir() || found.file_type().is_socket() { 1 } else { found.nlink() }
}

fn siblings<'a>(hidden: impl Iterator<Item = &'a Seen>) -> BTreeMap<PathBuf, Option<Vec<(OsString, Kind)>>> {
    let present = hidden.filter(|seen| seen.kind != Kind::Missing);
    let mut above: BTreeSet<PathBuf> =
        present.flat_map(|seen| seen.real.ancestors().skip(1).map(Path::to_owned)).collect();
    // `/dev` is hidden too where Landlock is alone.
    above.insert(PathBuf::from("/"));
    above
        .into_iter()
        .map(|directory| {
            let entries = entries(&directory);
            (directory, entries)
        })
        .collect()
}

/// Returns the entries of a directory, sorted; `None` if it cannot be read or has too many.
fn entries(directory: &Path) -> Option<Vec<(OsString, Kind)>> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(directory).ok()?.take(SIBLINGS_MAX.saturating_add(1)) {
        let entry = entry.ok()?;
        let kind = match entry.file_type().ok()? {
            kind if kind.is_symlink() => Kind::Link,
            kind if kind.is_dir() => Kind::Directory,
            _ => Kind::File,
        };
        entries.push((entry.file_name(), kind));
    }
    entries.sort_by(|one, other| one.0.cmp(&other.0));
    (entries.len() <= SIBLINGS_MAX).then_some(entries)
}

/// A name that nobody can guess, so that nobody else makes it first.
fn scratch() -> Result<PathBuf, PolicyError> {
    let number = getrandom::u64()
        .map_err(|error| PolicyError::Scratch { path: "/tmp".into(), reason: error.to_string() })?;
    Ok(PathBuf::from(format!("/tmp/castellan-sandbox-{number:016x}")))
}
