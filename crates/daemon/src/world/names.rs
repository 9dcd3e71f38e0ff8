//! Other names of a file: hard links in given directories. Every path here is real: its symlinks are resolved.

use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::FileSystem;
use crate::limits::{ENTRIES_PER_STEP, NAMES_ENTRIES_MAX, OTHER_NAMES_MAX};
use crate::sight;

/// The files with several names among the entries of directories. One decision asks about the same directories for each
/// of its files.
#[derive(Debug)]
pub(super) struct Listed {
    directories: Vec<String>,
    /// The names by device and number of the file.
    files: HashMap<(u64, u64), Vec<String>>,
}

impl FileSystem {
    /// Returns the other names of a regular file among the entries of directories. `None` over a limit.
    pub(super) fn other_names(&self, path: &str, directories: &[String]) -> Option<Vec<String>> {
        let real = self.resolve(path)?;
        let Some(file) = regular(&real).filter(|file| file.nlink() > 1) else { return Some(Vec::new()) };
        let is_listed = self.names.borrow().as_ref().is_some_and(|listed| listed.directories == directories);
        if !is_listed {
            let listed = self.listed(directories)?;
            self.names.replace(Some(listed));
        }
        let listed = self.names.borrow();
        let names = listed.as_ref()?.files.get(&(file.dev(), file.ino()));
        let real = real.to_string_lossy();
        let others = names.into_iter().flatten().filter(|name| **name != real).cloned();
        let others: Vec<String> = others.collect();
        (others.len() <= OTHER_NAMES_MAX).then_some(others)
    }

    /// Lists directories. One that is missing, or that this user may not list, has no entries: this user cannot have made
    /// a link from there.
    fn listed(&self, directories: &[String]) -> Option<Listed> {
        let mut files: HashMap<(u64, u64), Vec<String>> = HashMap::new();
        let mut left = NAMES_ENTRIES_MAX;
        for directory in directories {
            self.take(1)?;
            let Some(real) = self.resolve(directory).filter(|real| !self.is_missing(real)) else { continue };
            let Ok(entries) = sight::read_dir(&real) else { continue };
            for entry in entries {
                left = left.checked_sub(1)?;
                if left.is_multiple_of(ENTRIES_PER_STEP) {
                    self.take(1)?;
                }
                let name = entry.ok()?.path;
                if let Some(file) = regular(&name).filter(|file| file.nlink() > 1) {
                    let names = files.entry((file.dev(), file.ino())).or_default();
                    let name = name.to_string_lossy().into_owned();
                    // Two of the directories may be one.
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
            }
        }
        Some(Listed { directories: directories.to_vec(), files })
    }
}

/// The numbers of a regular file; a symlink is not followed.
pub(super) fn regular(path: &Path) -> Option<Metadata> {
    sight::symlink_metadata(path).ok().filter(Metadata::is_file)
}

#[cfg(test)]
mod tests {
    use castellan_event::{Answer, Query, World};

    use super::*;

    fn asked(path: &Path, directories: &[&Path]) -> Option<Vec<String>> {
        let text = |path: &Path| path.display().to_string();
        let directories = directories.iter().map(|path| text(path)).collect();
        match FileSystem::default().answer(&Query::OtherNames { path: text(path), directories }) {
            Some(Answer::OtherNames(names)) => Some(names),
            None => None,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn hard_links_are_found_in_the_directories_and_not_below() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for name in ["w", "keys", "keys/deep", "empty"] {
            std::fs::create_dir(base.join(name)).unwrap();
        }
        let (file, key) = (base.join("w/notes"), base.join("keys/id_rsa"));
        std::fs::write(&key, "secret").unwrap();
        std::fs::write(base.join("keys/other"), "secret").unwrap();
        std::fs::hard_link(&key, &file).unwrap();
        std::fs::hard_link(&key, base.join("keys/deep/id")).unwrap();
        std::os::unix::fs::symlink(&key, base.join("keys/link")).unwrap();
        let (keys, empty, gone) = (base.join("keys"), base.join("empty"), base.join("gone"));
        let found = asked(&file, &[&gone, &empty, &keys]);
        assert_eq!(found, Some(vec![key.display().to_string()]));
        // The file itself is no other name, by no spelling.
        std::os::unix::fs::symlink(base.join("w"), base.join("way")).unwrap();
        for spelled in [base.join("w"), base.join("way"), base.join("keys/../w")] {
            assert_eq!(asked(&file, &[&spelled]), Some(Vec::new()), "{}", spelled.display());
        }
        assert_eq!(asked(&gone, &[&keys]), Some(Vec::new()));
        assert_eq!(asked(&keys, &[&base]), Some(Vec::new()), "a directory has names of its own");
    }

    #[test]
    fn too_many_entries_are_no_answer() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        std::fs::create_dir(base.join("many")).unwrap();
        std::fs::write(base.join("file"), "").unwrap();
        std::fs::hard_link(base.join("file"), base.join("again")).unwrap();
        let (file, many) = (base.join("file"), base.join("many"));
        for number in 0..=OTHER_NAMES_MAX {
            std::fs::hard_link(&file, many.join(number.to_string())).unwrap();
        }
        assert_eq!(asked(&file, &[&many]), None, "more names than the limit");
        std::fs::remove_dir_all(&many).unwrap();
        std::fs::create_dir(&many).unwrap();
        for number in 0..=NAMES_ENTRIES_MAX {
            std::os::unix::fs::symlink("x", many.join(number.to_string())).unwrap();
        }
        assert_eq!(asked(&file, &[&many]), None, "more entries than the limit");
        assert_eq!(asked(&file, &[&base]).map(|names| names.len()), Some(1));
    }
}
