//! [`Journal`]: the steps of a restore as they are made, so that they can be taken back.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, mkdirat, unlinkat, utimensat};
use rustix::io::Errno;

use super::place::{chmod, give_status_at, rename_new, times};
use super::plan::Plan;
use super::plan::Staged;
use super::remove::remove;
use crate::beneath::{Beneath, open_dir};
use crate::gather::STAGING;
use crate::manifest::{Extent, Manifest, Row, Was};
use crate::stat::{Kind, Stat};

/// A step that was made.
enum Step {
    /// An entry was moved into the folder of the restore.
    Out { path: PathBuf, name: String },
    /// An entry was moved to its place.
    In { path: PathBuf },
    /// A directory was made.
    Made { path: PathBuf },
    /// Permissions and time of an entry were changed.
    Status { path: PathBuf, old: Stat },
}

/// The folder of a restore, in the directory.
struct Folder {
    dir: OwnedFd,
    name: String,
    next: usize,
}

/// The steps of a restore.
pub(super) struct Journal<'r> {
    root: &'r Beneath,
    folder: Option<Folder>,
    steps: Vec<Step>,
}

/// The end of a restore.
pub(super) struct Applied {
    /// Entries that could not be removed.
    pub(super) left: Vec<(PathBuf, String)>,
}

/// The path of a step that failed, and the error.
type Failed = (PathBuf, Errno);

impl<'r> Journal<'r> {
    pub(super) fn of(root: &'r Beneath) -> Journal<'r> {
        Journal { root, folder: None, steps: Vec::new() }
    }

    /// Makes the directories of a checkpoint readable that their owner cannot read any more.
    pub(super) fn open_up(&mut self, manifest: &Manifest) -> Result<(), Failed> {
        self.unlock(Path::new(""), 0o700)?;
        for Row { path, was } in &manifest.rows {
            if matches!(was, Was::Directory { .. }) {
                self.unlock(Path::new(OsStr::from_bytes(path)), 0o500)?;
            }
        }
        Ok(())
    }

    /// Gives this user rights in a directory of its own.
    fn unlock(&mut self, path: &Path, rights: u32) -> Result<(), Failed> {
        let Ok(old) = self.root.stat(path) else { return Ok(()) };
        let is_own = old.uid == rustix::process::geteuid().as_raw();
        if old.kind != Kind::Directory || !is_own || old.mode & rights == rights {
            return Ok(());
        }
        chmod(self.root, path, Kind::Directory, old.mode | 0o700).map_err(|why| (path.to_owned(), why))?;
        self.steps.push(Step::Status { path: path.to_owned(), old });
        Ok(())
    }

    /// Makes the folder of the restore.
    pub(super) fn stage(&mut self, id: &str) -> Result<(), Failed> {
        let name = format!("{STAGING}{id}-{}", std::process::id());
        let at = |why| (PathBuf::from(&name), why);
        mkdirat(self.root.fd(), &name, Mode::RWXU).map_err(at)?;
        let dir = open_dir(self.root.fd(), name.as_ref()).map_err(at)?;
        self.folder = Some(Folder { dir, name, next: 0 });
        Ok(())
    }

    /// Returns a new name in the folder, and the folder.
    pub(super) fn new_name(&mut self) -> (String, BorrowedFd<'_>) {
        match &mut self.folder {
            Some(folder) => {
                folder.next += 1;
                (folder.next.to_string(), folder.dir.as_fd())
            }
            // No folder was made: nothing has this name in the directory.
            None => (format!("{STAGING}none"), self.root.fd()),
        }
    }

    /// Makes the steps of a plan, whose contents are staged.
    pub(super) fn apply(&mut self, plan: &Plan, staged: &Staged) -> Result<(), Failed> {
        let changed = plan.out.iter().chain(&plan.written).chain(&plan.empty);
        for path in changed {
            self.unlock(path.parent().unwrap_or(Path::new("")), 0o700)?;
        }
        for path in &plan.out {
            self.move_out(path)?;
        }
        for (path, _) in &plan.directories {
            let made = self.root.parent(path).and_then(|(dir, name)| mkdirat(&dir, name, Mode::RWXU));
            made.map_err(|why| (path.clone(), why))?;
            self.steps.push(Step::Made { path: path.clone() });
        }
        let places = plan.files.iter().map(|(path, ..)| path).chain(plan.links.iter().map(|(path, _)| path));
        for path in places {
            self.move_in(path, staged.get(path).ok_or_else(|| (path.clone(), Errno::IO))?)?;
        }
        for (path, stat) in &plan.statuses {
            let old = self.root.stat(path).map_err(|why| (path.clone(), why))?;
            give_status_at(self.root, path, stat).map_err(|why| (path.clone(), why))?;
            self.steps.push(Step::Status { path: path.clone(), old });
        }
        for path in plan.empty.iter().rev() {
            // Other files may be in it by now.
            let _ = self.root.parent(path).and_then(|(dir, name)| unlinkat(&dir, name, AtFlags::REMOVEDIR));
        }
        Ok(())
    }

    fn move_out(&mut self, path: &Path) -> Result<(), Failed> {
        let at = |why| (path.to_owned(), why);
        let (dir, entry) = self.root.parent(path).map_err(at)?;
        let (name, folder) = self.new_name();
        rename_new((dir.as_fd(), entry), (folder, name.as_ref())).map_err(at)?;
        self.steps.push(Step::Out { path: path.to_owned(), name });
        Ok(())
    }

    fn move_in(&mut self, path: &Path, name: &str) -> Result<(), Failed> {
        let at = |why| (path.to_owned(), why);
        let (dir, entry) = self.root.parent(path).map_err(at)?;
        let folder = self.folder.as_ref().ok_or_else(|| at(Errno::IO))?;
        rename_new((folder.dir.as_fd(), name.as_ref()), (dir.as_fd(), entry)).map_err(at)?;
        self.steps.push(Step::In { path: path.to_owned() });
        Ok(())
    }

    /// Gives directories the permissions and times of the checkpoint, the deepest first. The steps before changed them.
    pub(super) fn finish(&mut self, manifest: &Manifest) {
        let made: HashSet<PathBuf> = self
            .steps
            .iter()
            .filter_map(|step| match step {
                Step::Made { path } => Some(path.clone()),
                Step::Out { .. } | Step::In { .. } | Step::Status { .. } => None,
            })
            .collect();
        let mut done: HashSet<&Path> = HashSet::new();
        for Row { path, was } in manifest.rows.iter().rev() {
            let path = Path::new(OsStr::from_bytes(path));
            if let Was::Directory { stat, extent } = was
                && (*extent == Extent::Whole || made.contains(path))
            {
                let _ = give_status_at(self.root, path, stat);
                done.insert(path);
            }
        }
        // The other directories get the permissions back that they had, the deepest first.
        for step in self.steps.iter().rev() {
            if let Step::Status { path, old } = step
                && old.kind == Kind::Directory
                && !done.contains(path.as_path())
            {
                let _ = chmod(self.root, path, Kind::Directory, old.mode);
            }
        }
    }

    /// Removes the folder with all that was moved into it.
    pub(super) fn clean_up(&mut self) -> Applied {
        let Some(Folder { name, .. }) = self.folder.take() else { return Applied { left: Vec::new() } };
        let removed = remove(self.root.fd(), name.as_ref(), self.root.dev());
        let left = removed.err().map(|why| {
            (
                PathBuf::from(&name),
                format!("what was replaced cannot be removed ({why}): look at it and remove it"),
            )
        });
        Applied { left: left.into_iter().collect() }
    }

    /// Takes all steps back, the last first. An error is the name of the folder, which keeps what could not be moved.
    pub(super) fn take_back(&mut self) -> Result<(), PathBuf> {
        let mut is_whole = true;
        for step in std::mem::take(&mut self.steps).into_iter().rev() {
            is_whole &= self.undo(step).is_ok();
        }
        let Some(Folder { name, .. }) = self.folder.take() else { return Ok(()) };
        if is_whole {
            let _ = remove(self.root.fd(), name.as_ref(), self.root.dev());
            Ok(())
        } else {
            Err(PathBuf::from(name))
        }
    }

    fn undo(&mut self, step: Step) -> rustix::io::Result<()> {
        match step {
            Step::Out { path, name } => {
                let (dir, entry) = self.root.parent(&path)?;
                let folder = self.folder.as_ref().ok_or(Errno::IO)?;
                rename_new((folder.dir.as_fd(), name.as_ref()), (dir.as_fd(), entry))
            }
            Step::In { path } => {
                let (dir, entry) = self.root.parent(&path)?;
                let (name, folder) = self.new_name();
                rename_new((dir.as_fd(), entry), (folder, name.as_ref()))
            }
            Step::Made { path } => {
                let (dir, name) = self.root.parent(&path)?;
                unlinkat(&dir, name, AtFlags::REMOVEDIR)
            }
            Step::Status { path, old } => {
                if path.as_os_str().is_empty() {
                    return chmod(self.root, &path, old.kind, old.mode);
                }
                chmod(self.root, &path, old.kind, old.mode)?;
                let (dir, name) = self.root.parent(&path)?;
                utimensat(&dir, name, &times(old.mtime), AtFlags::SYMLINK_NOFOLLOW)
            }
        }
    }
}
