//! The contents of the store: one file for each, named by its hash. It must not know checkpoints.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Dir, Mode, OFlags, mkdirat, openat, renameat, unlinkat};
use rustix::io::Errno;

use crate::beneath::{open_dir, open_file};
use crate::copy::{self, Hash, hash_file};
use crate::stat::{Stat, Time};

const NEW: &str = "new-";

/// The folder with the contents.
#[derive(Debug)]
pub(crate) struct Contents {
    dir: OwnedFd,
    next: AtomicU64,
}

impl Contents {
    pub(crate) fn of(dir: OwnedFd) -> Contents {
        Contents { dir, next: AtomicU64::new(0) }
    }

    /// Writes contents in memory.
    pub(crate) fn write(&self, bytes: &[u8], hash: &Hash) -> io::Result<()> {
        let (name, mut file) = self.begin()?;
        self.finish(&name, file.write_all(bytes), hash)
    }

    /// Copies the first `size` bytes of a file; returns their hash.
    pub(crate) fn copy(&self, from: &File, size: u64) -> io::Result<Hash> {
        let (name, file) = self.begin()?;
        let copied = copy::copy(from, &file, size).and_then(|()| hash_file(&file, size));
        match copied {
            Ok(hash) => self.finish(&name, Ok(()), &hash).map(|()| hash),
            Err(why) => {
                let _ = unlinkat(&self.dir, &name, AtFlags::empty());
                Err(why)
            }
        }
    }

    fn begin(&self) -> io::Result<(String, File)> {
        let name = format!("{NEW}{}", self.next.fetch_add(1, Ordering::Relaxed));
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.dir, &name, flags, Mode::RUSR | Mode::WUSR)?;
        Ok((name, copy::file(file)))
    }

    fn finish(&self, name: &str, written: io::Result<()>, hash: &Hash) -> io::Result<()> {
        let done = written.and_then(|()| {
            let (folder, place) = place(hash);
            match renameat(&self.dir, name, &self.dir, format!("{folder}/{place}")) {
                Err(Errno::NOENT) => {
                    // Another thread may have made it.
                    let _ = mkdirat(&self.dir, &folder, Mode::RWXU);
                    Ok(renameat(&self.dir, name, &self.dir, format!("{folder}/{place}"))?)
                }
                moved => Ok(moved?),
            }
        });
        if done.is_err() {
            let _ = unlinkat(&self.dir, name, AtFlags::empty());
        }
        done
    }

    /// Opens contents to read them.
    pub(crate) fn open(&self, hash: &Hash) -> io::Result<File> {
        let (folder, name) = place(hash);
        let folder = open_dir(self.dir.as_fd(), folder.as_ref())?;
        Ok(copy::file(open_file(folder.as_fd(), name.as_ref())?))
    }

    /// Reports whether the contents are what their name says.
    pub(crate) fn is_whole(&self, hash: &Hash, size: u64) -> bool {
        self.open(hash).and_then(|file| hash_file(&file, size)).is_ok_and(|found| found == *hash)
    }

    /// The time of the last change of a file of contents; `None` if it is not there.
    pub(crate) fn changed_at(&self, hash: &Hash) -> Option<Time> {
        let (folder, name) = place(hash);
        Stat::at(self.dir.as_fd(), format!("{folder}/{name}").as_ref(), u64::MAX).ok().map(|stat| stat.ctime)
    }

    pub(crate) fn remove(&self, hash: &Hash) {
        let (folder, name) = place(hash);
        let _ = unlinkat(&self.dir, format!("{folder}/{name}"), AtFlags::empty());
    }

    /// Removes each file that `is_used` does not know.
    pub(crate) fn sweep(&self, is_used: impl Fn(&Hash) -> bool) -> io::Result<()> {
        for folder in names(&self.dir)? {
            if folder.starts_with(NEW) {
                let _ = unlinkat(&self.dir, &folder, AtFlags::empty());
            }
            let Ok(dir) = open_dir(self.dir.as_fd(), folder.as_ref()) else { continue };
            for name in names(&dir)? {
                if !named(&folder, &name).is_some_and(|hash| is_used(&hash)) {
                    let _ = unlinkat(&dir, &name, AtFlags::empty());
                }
            }
        }
        Ok(())
    }
}

/// The names in a folder of the store. Other names than its own are not UTF-8, or are not used.
pub(crate) fn names(dir: &OwnedFd) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        if let Ok(name) = entry.file_name().to_str()
            && name != "."
            && name != ".."
        {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

/// The folder and the name of contents.
fn place(hash: &Hash) -> (String, String) {
    let mut folder = base16ct::lower::encode_string(hash);
    let name = folder.split_off(2);
    (folder, name)
}

fn named(folder: &str, name: &str) -> Option<Hash> {
    let mut hash = Hash::default();
    let hex = format!("{folder}{name}");
    (base16ct::lower::decode(hex, &mut hash).ok()?.len() == hash.len()).then_some(hash)
}
