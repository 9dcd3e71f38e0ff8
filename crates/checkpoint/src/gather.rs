//! The entries that a checkpoint is about, as they are now: those of a whole directory, or those at and below some paths. It
//! reads no contents.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::readlinkat;
use rustix::io::Errno;

use crate::beneath::Beneath;
use crate::left_out::{Leaves, is_left_out};
use crate::listing::{Entry, Limits, ListError, Listing, walk};
use crate::manifest::{Extent, Row, Was};
use crate::stat::{Kind, Stat};

/// Start of the name of a restore's own folder in the directory.
pub(crate) const STAGING: &str = ".castellan-undo-";

/// The entries, by path.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) rows: BTreeMap<Vec<u8>, Was>,
    /// Paths with a link above them. They name a file elsewhere.
    pub(crate) behind_links: Vec<PathBuf>,
    /// Folders that restores left, or that have such a name. They are in no checkpoint.
    pub(crate) left: Vec<PathBuf>,
}

impl Gathered {
    pub(crate) fn into_rows(self) -> Vec<Row> {
        self.rows.into_iter().map(|(path, was)| Row { path, was }).collect()
    }
}

/// Gathers the entries of `paths`, or all of them.
pub(crate) fn gather(
    root: &Beneath,
    paths: Option<&[Vec<u8>]>,
    leaves: Leaves,
    limits: &Limits,
) -> Result<Gathered, ListError> {
    let mut gathered = Gathered::default();
    let Some(paths) = paths else {
        gathered.add_tree(root, Path::new(""), leaves, limits)?;
        return Ok(gathered);
    };
    for path in paths {
        let path = Path::new(OsStr::from_bytes(path));
        if path.as_os_str().is_empty() {
            gathered.add_tree(root, path, leaves, limits)?;
        } else if gathered.add_above(root, path)? {
            gathered.add_named(root, path, leaves, limits)?;
        }
    }
    Ok(gathered)
}

/// Gathers the entries of a listing of everything, as [`gather`] would find them.
pub(crate) fn gather_listed(
    root: &Beneath,
    listing: &Listing,
    leaves: Leaves,
) -> Result<Gathered, ListError> {
    let mut gathered = Gathered::default();
    // Directories whose entries are left out. A directory comes before its entries.
    let mut closed: HashSet<&Path> = HashSet::new();
    for entry in &listing.entries {
        let above = entry.path.parent().unwrap_or(Path::new(""));
        let is_directory = entry.stat.kind == Kind::Directory;
        if closed.contains(above) {
            if is_directory {
                closed.insert(&entry.path);
            }
            continue;
        }
        let beside = |name: &OsStr| listing.has(&above.join(name));
        let is_closed =
            is_directory && entry.path.file_name().is_some_and(|name| is_left_out(leaves, name, beside));
        if is_closed {
            closed.insert(&entry.path);
        }
        gathered.add(root, Entry { is_listed: entry.is_listed && !is_closed, ..entry.clone() })?;
    }
    Ok(gathered)
}

impl Gathered {
    /// Adds the directories above a path. Returns whether its parent is there.
    fn add_above(&mut self, root: &Beneath, path: &Path) -> Result<bool, ListError> {
        let mut above: Vec<&Path> =
            path.ancestors().skip(1).filter(|one| !one.as_os_str().is_empty()).collect();
        above.reverse();
        let mut is_there = true;
        for one in above {
            let key = one.as_os_str().as_bytes().to_vec();
            if !is_there {
                self.rows.entry(key).or_insert(Was::AbsentAbove);
                continue;
            }
            match root.stat(one) {
                Ok(stat) if stat.kind == Kind::Directory => {
                    self.rows.entry(key).or_insert(Was::Directory { stat, extent: Extent::Above });
                }
                Ok(stat) => {
                    if stat.kind == Kind::Link {
                        self.behind_links.push(path.to_owned());
                    }
                    let was = self.state(root, one, stat)?;
                    self.rows.entry(key).or_insert(was);
                    return Ok(false);
                }
                Err(Errno::NOENT) => {
                    self.rows.entry(key).or_insert(Was::AbsentAbove);
                    is_there = false;
                }
                Err(why) => return Err(ListError::Unreadable { path: one.to_owned(), why }),
            }
        }
        if !is_there {
            self.rows.entry(path.as_os_str().as_bytes().to_vec()).or_insert(Was::Absent);
        }
        Ok(is_there)
    }

    /// Adds a named path, with everything below it.
    fn add_named(
        &mut self,
        root: &Beneath,
        path: &Path,
        leaves: Leaves,
        limits: &Limits,
    ) -> Result<(), ListError> {
        let key = path.as_os_str().as_bytes().to_vec();
        let stat = match root.stat(path) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => {
                self.rows.insert(key, Was::Absent);
                return Ok(());
            }
            Err(why) => return Err(ListError::Unreadable { path: path.to_owned(), why }),
        };
        let beside = |name: &OsStr| root.stat(&path.with_file_name(name)).is_ok();
        // A person who names the data of version control means it.
        let generated = if leaves == Leaves::Nothing { leaves } else { Leaves::Generated };
        let is_whole = stat.kind == Kind::Directory
            && !path.file_name().is_some_and(|name| is_left_out(generated, name, beside));
        if is_whole {
            self.add_tree(root, path, leaves, limits)?;
            self.rows.insert(key, Was::Directory { stat, extent: Extent::Whole });
        } else {
            let was = self.state(root, path, stat)?;
            self.rows.insert(key, was);
        }
        Ok(())
    }

    /// Adds everything below a directory, without the directory.
    fn add_tree(
        &mut self,
        root: &Beneath,
        from: &Path,
        leaves: Leaves,
        limits: &Limits,
    ) -> Result<(), ListError> {
        let left = limits.entries.saturating_sub(self.rows.len());
        let limits = Limits { entries: left, ..*limits };
        for entry in walk(root, from, &limits, leaves)? {
            self.add(root, entry)?;
        }
        Ok(())
    }

    fn add(&mut self, root: &Beneath, Entry { path, stat, is_listed }: Entry) -> Result<(), ListError> {
        // A restore that was killed left it. A call can use such a name, too.
        if path.as_os_str().as_bytes().starts_with(STAGING.as_bytes()) {
            if path.parent() == Some(Path::new("")) {
                self.left.push(path);
            }
            return Ok(());
        }
        let was = match is_listed {
            true => Was::Directory { stat, extent: Extent::Whole },
            false => self.state(root, &path, stat)?,
        };
        self.rows.insert(path.into_os_string().into_vec(), was);
        Ok(())
    }

    /// The state of one entry alone.
    fn state(&self, root: &Beneath, path: &Path, stat: Stat) -> Result<Was, ListError> {
        Ok(match stat.kind {
            Kind::File => Was::File { stat, content: None },
            Kind::Directory => Was::Directory { stat, extent: Extent::LeftOut },
            Kind::Link => {
                let target =
                    read_link(root, path).map_err(|_| ListError::Changing { path: path.to_owned() })?;
                Was::Link { stat, target }
            }
            Kind::Pipe | Kind::Socket | Kind::Device | Kind::Mount => Was::Other { stat },
        })
    }
}

fn read_link(root: &Beneath, path: &Path) -> rustix::io::Result<Vec<u8>> {
    let (dir, name) = root.parent(path)?;
    Ok(readlinkat(dir.as_fd(), name, Vec::new())?.into_bytes())
}
