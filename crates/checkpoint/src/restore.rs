//! Puts a checkpoint back. First all contents are written into a folder of its own in the directory and checked. Then
//! renames put them in place, and what was there goes into that folder. If a step fails, the steps before it are taken
//! back. At the end the folder is removed.
//!
//! No step follows a link or crosses a mount, and none replaces what appeared meanwhile.

mod apply;
mod place;
mod plan;
mod remove;
mod stage;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use self::apply::{Applied, Journal};
use self::plan::Plan;
use crate::beneath::Beneath;
use crate::difference::{Compared, compared};
use crate::error::RestoreError;
use crate::left_out::Leaves;
use crate::listing::ListError;
use crate::manifest::Manifest;
use crate::store::{Checkpoint, Scope, Store, TakeError};

/// The result of a restore.
#[derive(Debug, Default)]
pub struct Restored {
    /// Files, links and directories that were written again.
    pub written: Vec<PathBuf>,
    /// Entries that were removed, because they were not there. Those below a removed directory are not listed.
    pub removed: Vec<PathBuf>,
    /// Entries that got their permissions or times again.
    pub adjusted: Vec<PathBuf>,
    /// Entries that could not be put back, with the reason.
    pub left: Vec<(PathBuf, String)>,
    /// Places that were not compared, or could not be put back; see [`crate::Comparison::unknown`].
    pub unknown: Vec<PathBuf>,
    /// The checkpoint of the state before, if one was wanted.
    pub before: Option<Checkpoint>,
}

impl Store {
    /// Puts a checkpoint back. `before` is the id and the owner of a checkpoint of the state that it replaces.
    pub fn restore(&self, id: &str, before: Option<(&str, &str)>) -> Result<Restored, RestoreError> {
        let manifest = self.manifest(id)?;
        let root = Path::new(OsStr::from_bytes(&manifest.root));
        let (opened, made) =
            Beneath::open_or_make(root).map_err(|why| ListError::Root { root: root.to_owned(), why })?;
        let mut journal = Journal::of(&opened);
        let done = self.restore_into(&opened, &manifest, before, &mut journal);
        match done {
            Ok(restored) => {
                if made > 0 || manifest.is_whole() {
                    place::give_root_status(&opened, &manifest.root_stat);
                }
                Ok(restored)
            }
            Err((path, error)) => {
                let taken_back = journal.take_back();
                for made in root.ancestors().take(made) {
                    let _ = std::fs::remove_dir(made);
                }
                Err(match taken_back {
                    Err(staging) => {
                        RestoreError::Half { path, why: error.to_string(), staging: root.join(staging) }
                    }
                    Ok(()) => error,
                })
            }
        }
    }

    fn restore_into(
        &self,
        root: &Beneath,
        manifest: &Manifest,
        before: Option<(&str, &str)>,
        journal: &mut Journal<'_>,
    ) -> Result<Restored, (PathBuf, RestoreError)> {
        let whole = |error: RestoreError| (PathBuf::new(), error);
        journal.open_up(manifest).map_err(step)?;
        let before = match before {
            Some((id, owner)) => {
                Some(self.before(manifest, id, owner).map_err(|error| whole(RestoreError::Before(error)))?)
            }
            None => None,
        };
        let Compared { pairs, unknown } =
            compared(root, manifest, self.limits()).map_err(|error| whole(error.into()))?;
        let plan = Plan::of(pairs);
        journal.stage(&manifest.id).map_err(step)?;
        let staged = stage::write(self, journal, &plan)?;
        journal.apply(&plan, &staged).map_err(step)?;
        journal.finish(manifest);
        let Applied { left } = journal.clean_up();
        let Plan { out, written, adjusted, left: planned, .. } = plan;
        let removed = out.into_iter().filter(|path| written.binary_search(path).is_err()).collect();
        let left = [planned, left].concat();
        let unknown = unknown.into_iter().chain(left.iter().map(|(path, _)| path.clone())).collect();
        Ok(Restored { written, removed, adjusted, left, unknown, before })
    }

    /// Takes a checkpoint of the state that a restore replaces.
    fn before(&self, manifest: &Manifest, id: &str, owner: &str) -> Result<Checkpoint, TakeError> {
        let paths: Option<Vec<PathBuf>> = manifest
            .paths
            .as_ref()
            .map(|paths| paths.iter().map(|path| PathBuf::from(OsStr::from_bytes(path))).collect());
        let with_history = manifest.leaves != Leaves::GeneratedAndHistory;
        let scope = match &paths {
            None => Scope::Workspace,
            Some(paths) => Scope::Paths { paths, with_history },
        };
        let root = Path::new(OsStr::from_bytes(&manifest.root));
        self.take_but(id, owner, root, scope, Some(&manifest.id))
    }
}

/// The error of a step at a path.
fn step((path, why): (PathBuf, Errno)) -> (PathBuf, RestoreError) {
    let error = match why {
        Errno::NOSPC | Errno::DQUOT => RestoreError::DiskFull,
        why => RestoreError::Step { path: path.clone(), why },
    };
    (path, error)
}
