//! The contents of the store: a file for each large one, named by its hash, and packs of small ones. It must not know
//! checkpoints.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, renameat, unlinkat};

use super::pack::{HEAD_BYTES, Pack, Packed, entries, table_bytes};
use crate::beneath::open_file;
use crate::copy::{self, Hash, hash_file, hash_of};
use crate::limits::{MANIFEST_BYTES_MAX, SMALL_BYTES};
use crate::stat::{Stat, Time};

const NEW: &str = "new-";
const PACK: &str = "pack-";

/// The place of contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A file of their own.
    Own,
    /// A part of a pack.
    Pack {
        number: u64,
        /// The first byte in the file.
        at: u64,
    },
}

/// A pack of the folder.
#[derive(Debug)]
pub(crate) struct PackFile {
    pub(crate) number: u64,
    pub(crate) bytes: u64,
    pub(crate) entries: Vec<Packed>,
    pub(crate) changed_at: Option<Time>,
}

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

    /// Writes a pack at once in its place: after a part of it, nothing uses it.
    pub(crate) fn write_pack(&self, number: u64, pack: &Pack) -> io::Result<PackFile> {
        let (bytes, entries) = pack.to_bytes().ok_or_else(|| io::Error::other("a pack cannot be encoded"))?;
        let file = write_new(&self.dir, &pack_name(number), &bytes)?;
        let changed_at = Stat::of(file.as_fd()).ok().map(|stat| stat.ctime);
        Ok(PackFile { number, bytes: bytes.len() as u64, entries, changed_at })
    }

    /// Reads the tables of all packs. A damaged one is not among them.
    pub(crate) fn packs(&self) -> io::Result<Vec<PackFile>> {
        let numbers = names(&self.dir)?.into_iter().filter_map(|name| name.strip_prefix(PACK)?.parse().ok());
        Ok(numbers.filter_map(|number| self.pack(number)).collect())
    }

    fn pack(&self, number: u64) -> Option<PackFile> {
        let file = copy::file(open_file(self.dir.as_fd(), pack_name(number).as_ref()).ok()?);
        let stat = Stat::of(file.as_fd()).ok()?;
        let mut head = [0; HEAD_BYTES];
        file.read_exact_at(&mut head, 0).ok()?;
        let length = table_bytes(&head).filter(|length| *length <= MANIFEST_BYTES_MAX.min(stat.size))?;
        let mut table = vec![0; usize::try_from(length).ok()?];
        file.read_exact_at(&mut table, HEAD_BYTES as u64).ok()?;
        let entries = entries(&table)?;
        Some(PackFile { number, bytes: stat.size, entries, changed_at: None })
    }

    /// Copies the first `size` bytes of a file to a file of their own; returns their hash.
    pub(crate) fn copy_in(&self, from: &File, size: u64) -> io::Result<Hash> {
        let (name, file) = self.begin()?;
        match copy::copy(from, &file, size).and_then(|()| hash_file(&file, size)) {
            Ok(hash) => self.finish(&name, Ok(()), &name_of(&hash)).map(|()| hash),
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

    fn finish(&self, name: &str, written: io::Result<()>, place: &str) -> io::Result<()> {
        let done = written.and_then(|()| Ok(renameat(&self.dir, name, &self.dir, place)?));
        if done.is_err() {
            let _ = unlinkat(&self.dir, name, AtFlags::empty());
        }
        done
    }

    fn open(&self, hash: &Hash, place: Place) -> io::Result<File> {
        Ok(copy::file(open_file(self.dir.as_fd(), file_name(hash, place).as_ref())?))
    }

    /// Copies contents into an empty file. Their hash is not checked.
    pub(crate) fn copy_out(&self, (hash, place): (&Hash, Place), size: u64, to: &File) -> io::Result<()> {
        match place {
            Place::Own => copy::copy(&self.open(hash, place)?, to, size),
            Place::Pack { .. } => {
                let mut to = to;
                to.write_all(&self.read((hash, place), size)?)
            }
        }
    }

    /// Reads contents. Their hash is not checked.
    pub(crate) fn read(&self, (hash, place): (&Hash, Place), size: u64) -> io::Result<Vec<u8>> {
        let file = self.open(hash, place)?;
        let changed = || io::Error::other("it is not what castellan wrote");
        match place {
            Place::Own => copy::read(&file, size)?.ok_or_else(changed),
            Place::Pack { at, .. } => {
                let length = usize::try_from(size.min(SMALL_BYTES)).map_err(|_| changed())?;
                let mut bytes = vec![0; length];
                file.read_exact_at(&mut bytes, at)?;
                Ok(bytes)
            }
        }
    }

    /// Reports whether contents are what their hash says.
    pub(crate) fn is_whole(&self, (hash, place): (&Hash, Place), size: u64) -> bool {
        let found = match place {
            Place::Own => self.open(hash, place).and_then(|file| hash_file(&file, size)),
            Place::Pack { .. } => self.read((hash, place), size).map(|bytes| hash_of(&bytes)),
        };
        found.is_ok_and(|found| found == *hash)
    }

    /// The time of the last change of the file with contents; `None` if it is not there.
    pub(crate) fn changed_at(&self, hash: &Hash, place: Place) -> Option<Time> {
        Stat::at(self.dir.as_fd(), file_name(hash, place).as_ref(), u64::MAX).ok().map(|stat| stat.ctime)
    }

    pub(crate) fn remove(&self, hash: &Hash) {
        let _ = unlinkat(&self.dir, name_of(hash).as_str(), AtFlags::empty());
    }

    pub(crate) fn remove_pack(&self, number: u64) {
        let _ = unlinkat(&self.dir, pack_name(number).as_str(), AtFlags::empty());
    }

    /// Removes each file whose contents or pack is not used.
    pub(crate) fn sweep(
        &self,
        is_used: impl Fn(&Hash) -> bool,
        is_pack_used: impl Fn(u64) -> bool,
    ) -> io::Result<()> {
        for name in names(&self.dir)? {
            let stays = match name.strip_prefix(PACK) {
                Some(number) => number.parse().is_ok_and(&is_pack_used),
                None => hash_named(&name).is_some_and(|hash| is_used(&hash)),
            };
            if !stays {
                let _ = unlinkat(&self.dir, &name, AtFlags::empty());
            }
        }
        Ok(())
    }
}

/// Writes a file that is not there. After an error nothing of it is there.
pub(crate) fn write_new(dir: &OwnedFd, name: &str, bytes: &[u8]) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = copy::file(openat(dir, name, flags, Mode::RUSR | Mode::WUSR)?);
    match file.write_all(bytes) {
        Ok(()) => Ok(file),
        Err(why) => {
            let _ = unlinkat(dir, name, AtFlags::empty());
            Err(why)
        }
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

fn file_name(hash: &Hash, place: Place) -> String {
    match place {
        Place::Own => name_of(hash),
        Place::Pack { number, .. } => pack_name(number),
    }
}

fn pack_name(number: u64) -> String {
    format!("{PACK}{number}")
}

/// The name of a file of its own.
fn name_of(hash: &Hash) -> String {
    base16ct::lower::encode_string(hash)
}

fn hash_named(name: &str) -> Option<Hash> {
    let mut hash = Hash::default();
    (base16ct::lower::decode(name, &mut hash).ok()?.len() == hash.len()).then_some(hash)
}
