//! The contents of the store: one file for each, named by its hash. It must not know checkpoints.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, renameat, unlinkat};
use rustix::io::Errno;

use crate::beneath::open_file;
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

    /// Writes contents in memory at once in their place: a part of them has another hash, so nobody takes it for whole. Returns
    /// the time of the last change.
    pub(crate) fn write(&self, bytes: &[u8], hash: &Hash) -> io::Result<Option<Time>> {
        let name = name_of(hash);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(&self.dir, &name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => {
                let mut file = copy::file(file);
                let written = file.write_all(bytes);
                if written.is_err() {
                    let _ = unlinkat(&self.dir, &name, AtFlags::empty());
                }
                written.map(|()| Stat::of(file.as_fd()).ok().map(|stat| stat.ctime))
            }
            // Nothing uses it, or it is not whole.
            Err(Errno::EXIST) => {
                let (name, mut file) = self.begin()?;
                self.finish(&name, file.write_all(bytes), hash)?;
                Ok(self.changed_at(hash))
            }
            Err(why) => Err(why.into()),
        }
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
        let done = written.and_then(|()| Ok(renameat(&self.dir, name, &self.dir, name_of(hash).as_str())?));
        if done.is_err() {
            let _ = unlinkat(&self.dir, name, AtFlags::empty());
        }
        done
    }

    /// Opens contents to read them.
    pub(crate) fn open(&self, hash: &Hash) -> io::Result<File> {
        Ok(copy::file(open_file(self.dir.as_fd(), name_of(hash).as_ref())?))
    }

    /// Reports whether the contents are what their name says.
    pub(crate) fn is_whole(&self, hash: &Hash, size: u64) -> bool {
        self.open(hash).and_then(|file| hash_file(&file, size)).is_ok_and(|found| found == *hash)
    }

    /// The time of the last change of a file of contents; `None` if it is not there.
    pub(crate) fn changed_at(&self, hash: &Hash) -> Option<Time> {
        Stat::at(self.dir.as_fd(), name_of(hash).as_ref(), u64::MAX).ok().map(|stat| stat.ctime)
    }

    pub(crate) fn remove(&self, hash: &Hash) {
        let _ = unlinkat(&self.dir, name_of(hash).as_str(), AtFlags::empty());
    }

    /// Removes each file that `is_used` does not know.
    pub(crate) fn sweep(&self, is_used: impl Fn(&Hash) -> bool) -> io::Result<()> {
        for name in names(&self.dir)? {
            if !hash_named(&name).is_some_and(|hash| is_used(&hash)) {
                let _ = unlinkat(&self.dir, &name, AtFlags::empty());
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

/// The name of contents.
fn name_of(hash: &Hash) -> String {
    base16ct::lower::encode_string(hash)
}

fn hash_named(name: &str) -> Option<Hash> {
    let mut hash = Hash::default();
    (base16ct::lower::decode(name, &mut hash).ok()?.len() == hash.len()).then_some(hash)
}
