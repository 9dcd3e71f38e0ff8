//! [`Tree`]: the files of a package, in memory and sorted. Must not know the format of a package.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use anyhow::{Context, ensure};
use sha2::{Digest, Sha256};

/// The mode of a program.
pub(super) const PROGRAM: u32 = 0o755;
/// The mode of any other file.
pub(super) const FILE: u32 = 0o644;

/// A file of a package.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) mode: u32,
    pub(super) bytes: Rc<[u8]>,
}

/// Files by their paths, relative and separated by `/`.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    files: BTreeMap<String, Entry>,
}

impl Tree {
    /// Adds a file. An error if its path is not relative and plain, or there already.
    pub(super) fn add(&mut self, path: &str, mode: u32, bytes: impl Into<Rc<[u8]>>) -> anyhow::Result<()> {
        let is_plain = path.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
        ensure!(is_plain, "`{path}` is no plain relative path");
        let entry = Entry { mode, bytes: bytes.into() };
        ensure!(self.files.insert(path.to_owned(), entry).is_none(), "`{path}` is there twice");
        Ok(())
    }

    /// Adds a file of text.
    pub(super) fn add_text(&mut self, path: &str, text: &str) -> anyhow::Result<()> {
        self.add(path, FILE, text.as_bytes())
    }

    /// Adds the files below a folder, below `prefix`. Modes are [`FILE`]: those on disk depend on the user's mask.
    pub(super) fn add_folder(&mut self, prefix: &str, folder: &Path) -> anyhow::Result<()> {
        let at = || format!("`{}` cannot be read", folder.display());
        for entry in std::fs::read_dir(folder).with_context(at)? {
            let entry = entry.with_context(at)?;
            let name = entry.file_name().into_string().ok().with_context(at)?;
            let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
            let kind = entry.file_type().with_context(at)?;
            if kind.is_dir() {
                self.add_folder(&path, &entry.path())?;
            } else {
                ensure!(kind.is_file(), "`{}` is no file", entry.path().display());
                self.add(&path, FILE, std::fs::read(entry.path()).with_context(at)?)?;
            }
        }
        Ok(())
    }

    /// Adds the files of another tree, below `prefix`.
    pub(super) fn add_tree(&mut self, prefix: &str, tree: &Tree) -> anyhow::Result<()> {
        for (path, entry) in &tree.files {
            self.add(&format!("{prefix}/{path}"), entry.mode, Rc::clone(&entry.bytes))?;
        }
        Ok(())
    }

    /// Replaces the contents of a file.
    pub(super) fn replace(&mut self, path: &str, bytes: Vec<u8>) -> anyhow::Result<()> {
        self.files.get_mut(path).with_context(|| format!("`{path}` is missing"))?.bytes = bytes.into();
        Ok(())
    }

    pub(super) fn get(&self, path: &str) -> Option<&Entry> {
        self.files.get(path)
    }

    /// The files, in the order of their paths.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.files.iter().map(|(path, entry)| (path.as_str(), entry))
    }

    /// The lines of `sha256sum`, one for each file.
    pub(super) fn checksums(&self) -> String {
        self.files().map(|(path, entry)| format!("{}  {path}\n", sha256(&entry.bytes))).collect()
    }
}

/// SHA-256 in hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_plain_and_there_once() {
        let mut tree = Tree::default();
        for wrong in ["", "/a", "a/", "a//b", "../a", "a/../b", "./a"] {
            assert!(tree.add_text(wrong, "").is_err(), "{wrong}");
        }
        tree.add_text("a/b", "x").unwrap();
        assert!(tree.add_text("a/b", "y").is_err());
    }

    #[test]
    fn checksums_are_those_of_sha256sum() {
        let mut tree = Tree::default();
        tree.add_text("b", "").unwrap();
        tree.add_text("a", "abc").unwrap();
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a\n\
                        e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  b\n";
        assert_eq!(tree.checksums(), expected);
    }
}
