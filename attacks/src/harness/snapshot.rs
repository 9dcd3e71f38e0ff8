//! The state of files: an attack that changes one has succeeded, whatever it says.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Everything about the files below some folders that an attack may change.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Snapshot(BTreeMap<PathBuf, Entry>);

#[derive(Debug, PartialEq, Eq)]
struct Entry {
    mode: u32,
    owner: u32,
    changed: i64,
    content: Vec<u8>,
}

impl Snapshot {
    /// Looks at the files and folders below `paths`. A path that does not exist is a state, too.
    pub(super) fn of(paths: &[PathBuf]) -> Snapshot {
        let mut entries = BTreeMap::new();
        paths.iter().for_each(|path| add(path, &mut entries));
        Snapshot(entries)
    }

    /// Returns the first path that differs.
    pub(super) fn difference(&self, other: &Snapshot) -> Option<String> {
        let differs = |path: &&PathBuf| self.0.get(*path) != other.0.get(*path);
        let path = self.0.keys().chain(other.0.keys()).find(differs)?;
        let word = match (self.0.contains_key(path), other.0.contains_key(path)) {
            (true, true) => "changed",
            (true, false) => "gone",
            (false, _) => "new",
        };
        Some(format!("{} is {word}", path.display()))
    }
}

fn add(path: &Path, entries: &mut BTreeMap<PathBuf, Entry>) {
    let Ok(metadata) = std::fs::symlink_metadata(path) else { return };
    let is_folder = metadata.is_dir();
    let content = if is_folder {
        Vec::new()
    } else if metadata.is_symlink() {
        std::fs::read_link(path).map(|to| to.into_os_string().into_encoded_bytes()).unwrap_or_default()
    } else if metadata.is_file() {
        std::fs::read(path).unwrap_or_default()
    } else {
        Vec::new()
    };
    // The time of a folder changes with what is in it, which is looked at itself.
    let changed = if is_folder { 0 } else { metadata.mtime_nsec() + metadata.mtime() * 1_000_000_000 };
    let entry = Entry { mode: metadata.mode(), owner: metadata.uid(), changed, content };
    entries.insert(path.to_owned(), entry);
    if is_folder {
        let below = std::fs::read_dir(path).into_iter().flatten().flatten();
        below.for_each(|below| add(&below.path(), entries));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let look = || Snapshot::of(&[folder.path().to_owned(), at("absent")]);
        std::fs::write(at("file"), "a").unwrap();
        let first = look();
        assert_eq!(first.difference(&look()), None);
        std::fs::write(at("file"), "b").unwrap();
        let second = look();
        assert!(first.difference(&second).unwrap().ends_with("file is changed"));
        std::fs::write(at("new"), "").unwrap();
        let third = look();
        assert!(second.difference(&third).unwrap().ends_with("new is new"));
        std::fs::remove_file(at("file")).unwrap();
        assert!(third.difference(&look()).unwrap().ends_with("file is gone"));
    }
}
