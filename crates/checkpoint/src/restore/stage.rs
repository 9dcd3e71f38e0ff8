//! Writes the contents of a restore into its own folder, and checks them there: what is put in place later is what was
//! checked.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, openat, symlinkat};
use rustix::io::Errno;

use super::apply::Journal;
use super::place::give_status;
use super::plan::{Plan, Staged};
use super::step;
use crate::copy::{self, hash_file};
use crate::error::RestoreError;
use crate::store::Store;

/// Writes and checks all contents and links of a plan.
pub(super) fn write(
    store: &Store,
    journal: &mut Journal<'_>,
    plan: &Plan,
) -> Result<Staged, (PathBuf, RestoreError)> {
    let mut staged = Staged::new();
    for (path, hash, stat) in &plan.files {
        let at = |why: Errno| step((path.clone(), why));
        let tampered = || (path.clone(), RestoreError::Tampered { path: path.clone() });
        let (name, dir) = journal.new_name();
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = copy::file(openat(dir, &name, flags, Mode::RUSR | Mode::WUSR).map_err(at)?);
        store.copy_out(hash, stat.size, &file).map_err(|error| match errno(&error) {
            Errno::NOSPC | Errno::DQUOT => at(errno(&error)),
            _ => tampered(),
        })?;
        let found = hash_file(&file, stat.size).map_err(|error| at(errno(&error)))?;
        if found != *hash {
            return Err(tampered());
        }
        give_status(file.as_fd(), stat).map_err(at)?;
        staged.insert(path.clone(), name);
    }
    for (path, target) in &plan.links {
        let (name, dir) = journal.new_name();
        let target = Path::new(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(target));
        symlinkat(target, dir, &name).map_err(|why| step((path.clone(), why)))?;
        staged.insert(path.clone(), name);
    }
    Ok(staged)
}

fn errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}
