//! Programs in the directories of a `PATH`, and the repository around a directory.

use std::io::ErrorKind;
use std::path::Path;

use castellan_event::FileKind;

use super::{FileSystem, look};
use crate::sight;

impl FileSystem {
    /// The file that a shell runs for `name`: the first executable regular file. `None` over the limit, and when a
    /// relative entry comes before it, because its directory is unknown here.
    pub(super) fn executable(&self, name: &str, path: &str) -> Option<Option<String>> {
        if name.is_empty() || name.contains('/') {
            return None;
        }
        for directory in path.split(':') {
            let candidate = Path::new(directory).join(name);
            if !candidate.is_absolute() {
                return None;
            }
            self.take(1)?;
            if self.is_missing(Path::new(directory)) {
                continue;
            }
            if sight::can_execute(&candidate).is_err() {
                continue;
            }
            let real = self.real_path(&candidate)?;
            if look::kind(&real) == FileKind::File {
                return Some(Some(real.to_string_lossy().into_owned()));
            }
        }
        Some(None)
    }

    /// The nearest directory at or above `of` with a `.git`: a directory, or the file of a worktree or submodule.
    /// Follows symlinks there like git, and ignores broken ones. `None` over the limit.
    pub(super) fn repository(&self, of: &str) -> Option<Option<String>> {
        let real = self.resolve(of)?;
        for directory in real.ancestors() {
            self.take(1)?;
            let found = sight::metadata(directory.join(".git"));
            if found.is_ok_and(|found| found.is_file() || found.is_dir()) {
                return Some(Some(directory.to_string_lossy().into_owned()));
            }
        }
        Some(None)
    }

    /// The last changed file of a directory among those with matching names. `None` over the limit, and for an existing
    /// directory that cannot be read.
    pub(super) fn newest(&self, directory: &str, prefix: &str, suffix: &str) -> Option<Option<String>> {
        let real = self.resolve(directory)?;
        if self.is_missing(&real) {
            return Some(None);
        }
        let entries = match sight::read_dir(&real) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Some(None),
            Err(_) => return None,
        };
        let mut newest = None;
        for entry in entries {
            self.take(1)?;
            let entry = entry.ok()?;
            let name = entry.name.to_str().map(str::to_owned);
            let Some(name) = name.filter(|name| name.starts_with(prefix) && name.ends_with(suffix)) else {
                continue;
            };
            // A file that was removed meanwhile is ignored.
            let Ok(changed) = entry.metadata().and_then(|metadata| metadata.modified()) else { continue };
            newest = newest.max(Some((changed, name)));
        }
        Some(newest.map(|(_, name)| real.join(name).to_string_lossy().into_owned()))
    }
}
