//! A workspace with a store, and its state as text for comparison.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use castellan_checkpoint::{Budget, Checkpoint, Limits, Listing, Restored, Scope, Store, TakeError};

/// A folder with a workspace `w` and a store.
pub(crate) struct World {
    _dir: tempfile::TempDir,
    pub(crate) top: PathBuf,
    pub(crate) root: PathBuf,
    pub(crate) store: Store,
}

impl World {
    /// A workspace with files of several kinds.
    pub(crate) fn new() -> World {
        World::with(Budget::default())
    }

    /// A workspace in a folder of its own, which a call may delete.
    pub(crate) fn in_folder() -> World {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        fs::create_dir(top.join("projects")).unwrap();
        World::of((dir, top.clone()), top.join("projects/w"), Budget::default())
    }

    pub(crate) fn with(budget: Budget) -> World {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        World::at(dir, top, budget)
    }

    pub(crate) fn at(dir: tempfile::TempDir, top: PathBuf, budget: Budget) -> World {
        let root = top.join("w");
        World::of((dir, top), root, budget)
    }

    fn of((dir, top): (tempfile::TempDir, PathBuf), root: PathBuf, budget: Budget) -> World {
        fs::create_dir(&root).unwrap();
        for path in ["src/inner", "docs", "src-b", "empty"] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        for (path, text) in [
            ("README.md", "read me\n"),
            ("src/main.rs", "fn main() {}\n"),
            ("src/inner/deep.rs", "// deep\n"),
            ("src-b/x", "x"),
            ("docs/a\nb", "a name with a newline"),
            ("empty-file", ""),
        ] {
            fs::write(root.join(path), text).unwrap();
        }
        fs::write(root.join("large"), vec![7; 700_000]).unwrap();
        fs::write(root.join(std::ffi::OsStr::from_bytes(b"docs/\xff\xfe")), "no UTF-8").unwrap();
        fs::set_permissions(root.join("src/main.rs"), fs::Permissions::from_mode(0o750)).unwrap();
        symlink("src/main.rs", root.join("link")).unwrap();
        symlink("nowhere", root.join("docs/dangling")).unwrap();
        let past = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
        for path in ["README.md", "src/main.rs", "large", "docs", "src"] {
            fs::File::open(root.join(path)).unwrap().set_modified(past).unwrap();
        }
        let store = Store::open(&top.join("store"), budget).unwrap().store;
        World { _dir: dir, top, root, store }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub(crate) fn take(&self, id: &str, paths: &[&str]) -> Result<Checkpoint, TakeError> {
        let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        self.store.take(id, "session", &self.root, Scope::Paths { paths: &paths, with_history: true })
    }

    pub(crate) fn take_all(&self, id: &str) -> Checkpoint {
        self.store.take(id, "session", &self.root, Scope::Workspace).unwrap()
    }

    /// As [`World::take_all`], from a listing.
    pub(crate) fn take_listed(&self, id: &str) -> Checkpoint {
        let listing = Listing::read(&self.root, &Limits::default()).unwrap();
        self.store.take(id, "session", &self.root, Scope::Listed(&listing)).unwrap()
    }

    pub(crate) fn restore(&self, id: &str) -> Restored {
        self.store.restore(id, None).unwrap()
    }

    /// The state of the workspace.
    pub(crate) fn state(&self) -> Vec<String> {
        state(&self.root)
    }
}

/// The state of everything at and below a path: kind, permissions, time, contents.
pub(crate) fn state(at: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    add(at, at, &mut lines);
    lines.sort();
    lines
}

fn add(top: &Path, at: &Path, lines: &mut Vec<String>) {
    let Ok(found) = fs::symlink_metadata(at) else { return };
    let name = at.strip_prefix(top).unwrap();
    let kind = found.file_type();
    let what = if kind.is_symlink() {
        format!("link {:?}", fs::read_link(at).unwrap())
    } else if kind.is_dir() {
        format!("dir {:o} {}", found.mode() & 0o7777, time(&found))
    } else if kind.is_file() {
        let bytes = fs::read(at).unwrap();
        let sum = bytes.iter().fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add((*byte).into()));
        format!("file {:o} {} {} {sum}", found.mode() & 0o7777, time(&found), bytes.len())
    } else {
        format!("other {}", if kind.is_fifo() { "pipe" } else { "else" })
    };
    lines.push(format!("{name:?} {what}"));
    if kind.is_dir() {
        for entry in fs::read_dir(at).unwrap() {
            add(top, &entry.unwrap().path(), lines);
        }
    }
}

fn time(of: &fs::Metadata) -> String {
    format!("{}.{}", of.mtime(), of.mtime_nsec())
}
