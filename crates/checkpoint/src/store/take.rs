//! Takes a checkpoint: gathers the entries, makes room, has the contents copied, writes the description. If a step fails,
//! nothing remains.

use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;

use rustix::fs::fstatvfs;

use super::index::Removed;
use super::take_error::{TakeError, failure};
use super::taking::Taking;
use super::{Store, is_id, now_s};
use crate::beneath::Beneath;
use crate::gather::{Gathered, gather, gather_listed};
use crate::left_out::Leaves;
use crate::limits::{FREE_BYTES_MIN, PATHS_MAX};
use crate::listing::{ListError, Listing};
use crate::manifest::{Manifest, Row, Was};
use crate::stat::Stat;

/// The part of a directory that a checkpoint is about.
#[derive(Debug, Clone, Copy)]
pub enum Scope<'s> {
    /// Everything, without directories that tools make again, without the data of version control, and without the
    /// contents of large files.
    Workspace,
    /// As [`Scope::Workspace`], with the entries of a listing that was just read.
    Listed(&'s Listing),
    /// These paths below the directory, with everything below them. An empty path is the directory itself. A path that is
    /// not there is removed by a restore.
    Paths {
        /// The paths.
        paths: &'s [PathBuf],
        /// Also the data of version control below them, if it is within the budget.
        with_history: bool,
    },
}

/// A checkpoint that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Number of files whose contents the store has.
    pub files: usize,
    /// Files whose contents were written now. The store had the others.
    pub copied: usize,
    /// Bytes of these.
    pub copied_bytes: u64,
    /// Files below the directory whose contents were not copied: too large, unreadable, or they changed all the time.
    pub uncopied: Vec<PathBuf>,
    /// Ids of the checkpoints that went to make room.
    pub removed: Vec<String>,
    /// SHA-256 of the description, for the record of the call.
    pub hash: [u8; 32],
}

impl Store {
    /// Takes a checkpoint of `root`, an absolute path without links. `owner` is the session: one owner cannot displace the
    /// checkpoints of all others.
    pub fn take(
        &self,
        id: &str,
        owner: &str,
        root: &Path,
        scope: Scope<'_>,
    ) -> Result<Checkpoint, TakeError> {
        self.take_but(id, owner, root, scope, None)
    }

    /// Like [`Store::take`]; the checkpoint `but` does not go to make room.
    pub(crate) fn take_but(
        &self,
        id: &str,
        owner: &str,
        root: &Path,
        scope: Scope<'_>,
        but: Option<&str>,
    ) -> Result<Checkpoint, TakeError> {
        if !is_id(id) || self.has(id) {
            return Err(TakeError::Id(id.to_owned()));
        }
        let paths = match scope {
            Scope::Workspace | Scope::Listed(_) => None,
            Scope::Paths { paths, .. } => Some(checked(paths)?),
        };
        let opened = Beneath::open(root).map_err(|why| ListError::Root { root: root.to_owned(), why })?;
        let root_stat =
            Stat::of(opened.fd()).map_err(|why| ListError::Root { root: root.to_owned(), why })?;
        let (rows, leaves) = match scope {
            Scope::Listed(listing)
                if (listing.root.dev, listing.root.ino) != (root_stat.dev, root_stat.ino) =>
            {
                return Err(ListError::Changing { path: PathBuf::new() }.into());
            }
            Scope::Listed(listing) => self.listed_rows(&opened, listing)?,
            Scope::Workspace => self.rows(&opened, None, false)?,
            Scope::Paths { with_history, .. } => self.rows(&opened, paths.as_deref(), with_history)?,
        };
        let mut manifest = Manifest {
            id: id.to_owned(),
            owner: owner.to_owned(),
            root: root.as_os_str().as_bytes().to_vec(),
            root_stat,
            taken_s: now_s(),
            number: self.index().next(),
            paths,
            leaves,
            rows,
        };
        let removed = self.make_room((owner, but), &manifest)?;
        let mut taking = Taking::new(self);
        let uncopied = taking.copy_all(&opened, &mut manifest.rows, self.file_max(scope))?;
        taking.write_pack()?;
        let (bytes, hash) = self.write(&manifest).map_err(|error| failure(&error))?;
        self.index().add(&manifest, hash, (bytes, taking.copied_bytes));
        let files = manifest.rows.iter().filter(|row| row.was.content().is_some()).count();
        let (copied, copied_bytes) = (taking.copied, taking.copied_bytes);
        // The checkpoint itself uses the contents now.
        drop(taking);
        Ok(Checkpoint { files, copied, copied_bytes, uncopied, removed: removed.ids, hash })
    }

    fn file_max(&self, scope: Scope<'_>) -> u64 {
        match scope {
            Scope::Workspace | Scope::Listed(_) => self.budget.file_bytes,
            Scope::Paths { .. } => u64::MAX,
        }
    }

    /// Gathers the rows. If a named directory is too large with the data of version control in it, that is left out.
    fn rows(
        &self,
        root: &Beneath,
        paths: Option<&[Vec<u8>]>,
        with_history: bool,
    ) -> Result<(Vec<Row>, Leaves), TakeError> {
        let limits = &self.budget.limits;
        let max = if paths.is_none() { self.budget.file_bytes } else { u64::MAX };
        if with_history && let Ok(gathered) = gather(root, paths, Leaves::Generated, limits) {
            let rows = plain(gathered)?;
            if self.check_budget(&rows, max).is_ok() {
                return Ok((rows, Leaves::Generated));
            }
        }
        let rows = plain(gather(root, paths, Leaves::GeneratedAndHistory, limits)?)?;
        self.check_budget(&rows, max)?;
        Ok((rows, Leaves::GeneratedAndHistory))
    }

    fn listed_rows(&self, root: &Beneath, listing: &Listing) -> Result<(Vec<Row>, Leaves), TakeError> {
        let leaves = Leaves::GeneratedAndHistory;
        let rows = gather_listed(root, listing, leaves)?.into_rows();
        self.check_budget(&rows, self.budget.file_bytes)?;
        Ok((rows, leaves))
    }

    fn check_budget(&self, rows: &[Row], file_max: u64) -> Result<(), TakeError> {
        let sizes = rows.iter().filter_map(size_of).filter(|size| *size <= file_max);
        let (files, bytes) =
            sizes.fold((0, 0_u64), |(files, bytes), size| (files + 1, bytes.saturating_add(size)));
        if bytes > self.budget.checkpoint_bytes {
            return Err(TakeError::Bytes { bytes, max: self.budget.checkpoint_bytes });
        }
        if files > self.budget.checkpoint_files {
            return Err(TakeError::Files { files, max: self.budget.checkpoint_files });
        }
        Ok(())
    }

    /// Removes old checkpoints until the contents fit that the store may not have.
    fn make_room(&self, owner: (&str, Option<&str>), manifest: &Manifest) -> Result<Removed, TakeError> {
        let file_max = if manifest.paths.is_none() { self.budget.file_bytes } else { u64::MAX };
        let mut removed = Removed::default();
        let ceiling = self.ceiling.load(Relaxed);
        let oldest_s = now_s().saturating_sub(self.age_s.load(Relaxed));
        let (need, is_room) = {
            let mut index = self.index();
            index.remove_older(oldest_s, &mut removed);
            let is_new = |row: &&Row| {
                let known = row.was.stat().and_then(|stat| index.known(stat));
                !known.is_some_and(|hash| index.is_held(&hash))
            };
            let new =
                manifest.rows.iter().filter(is_new).filter_map(size_of).filter(|size| *size <= file_max);
            let names: usize = manifest.rows.iter().map(|row| row.path.len() + 100).sum();
            let need = new.fold(names as u64, u64::saturating_add);
            (need, index.make_room(owner, (need, ceiling), &mut removed))
        };
        self.delete(&removed);
        if !is_room {
            return Err(TakeError::Ceiling { need, ceiling });
        }
        let disk = fstatvfs(&self.descriptions).map_err(|why| failure(&why.into()))?;
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        if free < need.saturating_add(FREE_BYTES_MIN) { Err(TakeError::DiskFull) } else { Ok(removed) }
    }
}

/// The size of a file's contents.
fn size_of(row: &Row) -> Option<u64> {
    match &row.was {
        Was::File { stat, .. } => Some(stat.size),
        Was::Absent | Was::AbsentAbove | Was::Directory { .. } | Was::Link { .. } | Was::Other { .. } => None,
    }
}

fn plain(gathered: Gathered) -> Result<Vec<Row>, TakeError> {
    match gathered.behind_links.first() {
        Some(path) => Err(TakeError::Link(path.clone())),
        None => Ok(gathered.into_rows()),
    }
}

/// Checks the paths of a scope.
fn checked(paths: &[PathBuf]) -> Result<Vec<Vec<u8>>, TakeError> {
    if paths.len() > PATHS_MAX {
        return Err(TakeError::Paths);
    }
    let is_plain = |path: &&PathBuf| path.components().all(|part| matches!(part, Component::Normal(_)));
    let bad = paths.iter().find(|path| !is_plain(path) || path.as_os_str().as_bytes().contains(&0));
    match bad {
        Some(path) => Err(TakeError::Path(path.clone())),
        // Without `//` and a slash at the end.
        None => Ok(paths.iter().map(|path| tidy(path)).collect()),
    }
}

fn tidy(path: &Path) -> Vec<u8> {
    path.components().collect::<PathBuf>().as_os_str().as_bytes().to_vec()
}
