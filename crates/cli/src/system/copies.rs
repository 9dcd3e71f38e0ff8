//! [`Copies`]: what a guarded user sees of the daemon's files: copies of the own log, configuration and rules, which the
//! daemon sends. They last as long as the command. A change of them changes nothing else.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Component, Path};

use anyhow::Context;
use castellan_daemon::{ControlClient, Layout};
use castellan_files::{Links, open_with};
use tempfile::TempDir;

use crate::limits::COPY_BYTES_MAX;
use crate::platform::account;

/// A private folder with the copies.
#[derive(Debug)]
pub(crate) struct Copies {
    dir: TempDir,
}

impl Copies {
    /// Reports whether this user sees only copies of a home's files.
    pub(crate) fn are_needed(layout: &Layout) -> bool {
        layout.home().system_user() == Some(rustix::process::geteuid().as_raw())
    }

    /// Copies the files.
    pub(crate) fn of(layout: &Layout) -> anyhow::Result<Copies> {
        let dir = tempfile::tempdir()
            .context("no temporary folder can be made: set `TMPDIR` to a folder of yours")?;
        let client = ControlClient::new(layout.home().clone());
        client.copy_own_files(|file, bytes| write(dir.path(), Path::new(&file.name), file.bytes, bytes))?;
        let copies = Copies { dir };
        // An empty folder has no file to copy.
        let layout = copies.layout(layout);
        for folder in [layout.rules_shipped(), layout.rules_user(), layout.log()] {
            make(&folder).with_context(|| format!("`{}`", folder.display()))?;
        }
        Ok(copies)
    }

    /// Returns the layout of the home with these files.
    pub(crate) fn layout(&self, of: &Layout) -> Layout {
        let at = |name: &str| self.dir.path().join(name);
        let layout = Layout::new(of.home().clone(), at("config"), at("state"));
        match account(rustix::process::geteuid().as_raw()) {
            Some(account) => layout.of_user(&account.home),
            None => layout,
        }
    }
}

fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Writes a copy below the folder, whatever the name says.
fn write(dir: &Path, name: &Path, bytes: u64, from: &mut dyn Read) -> io::Result<()> {
    let is_below = name.components().all(|part| matches!(part, Component::Normal(_)));
    if !is_below || bytes > COPY_BYTES_MAX {
        return Err(io::Error::other("the daemon sends a file that is none of its home"));
    }
    let path = dir.join(name);
    if let Some(folder) = path.parent() {
        make(folder)?;
    }
    let mut options = OpenOptions::new();
    let mut file = open_with(options.write(true).create_new(true).mode(0o600), &path, Links::Refused)?;
    io::copy(from, &mut file).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leaves_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let copy = |name: &str| write(&inner, Path::new(name), 1, &mut &b"x"[..]);
        copy("state/log/routine.jsonl").unwrap();
        assert_eq!(std::fs::read_to_string(inner.join("state/log/routine.jsonl")).unwrap(), "x");
        for name in ["../out", "/out", "state/../../out", "./out", ""] {
            assert!(copy(name).is_err(), "{name}");
        }
        assert!(!dir.path().join("out").exists());
        assert!(write(&inner, Path::new("large"), COPY_BYTES_MAX + 1, &mut io::empty()).is_err());
    }
}
