//! [`Store`]: checkpoints in a private folder. The folder holds `checkpoints/ID`, one description each, and `contents/`,
//! one file for each distinct content. Nothing is forced to the disk: a loss of power may spoil a checkpoint, which its
//! hashes then show.

mod contents;
mod index;
mod pack;
mod take;
mod take_error;
mod taking;

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use castellan_files::Guard;
use rustix::fs::{AtFlags, Mode, mkdirat, unlinkat};
use rustix::io::Errno;
use thiserror::Error;

use self::contents::{Contents, Place, names, write_new};
use self::index::{Index, Known, Removed};
use crate::beneath::{Beneath, open_dir, open_file};
use crate::copy;
use crate::limits::{
    AGE_MAX, CEILING_BYTES, CHECKPOINT_BYTES_MAX, CHECKPOINT_FILES_MAX, FILE_BYTES_MAX, ID_BYTES_MAX,
    MANIFEST_BYTES_MAX,
};
use crate::listing::Limits;
use crate::manifest::{Manifest, Unread};

pub use self::take::{Checkpoint, Scope};
pub use self::take_error::TakeError;

/// The amounts that the store keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Bytes of all checkpoints.
    pub ceiling: u64,
    /// Age at which a checkpoint goes.
    pub age: Duration,
    /// Bytes of one checkpoint.
    pub checkpoint_bytes: u64,
    /// Copied files of one checkpoint.
    pub checkpoint_files: usize,
    /// Bytes of one file of a checkpoint of a whole workspace.
    pub file_bytes: u64,
    /// Limits of the listings.
    pub limits: Limits,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            ceiling: CEILING_BYTES,
            age: AGE_MAX,
            checkpoint_bytes: CHECKPOINT_BYTES_MAX,
            checkpoint_files: CHECKPOINT_FILES_MAX,
            file_bytes: FILE_BYTES_MAX,
            limits: Limits::default(),
        }
    }
}

/// The reason why a store or a checkpoint cannot be read.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The folder cannot be used.
    #[error("the folder of checkpoints {} cannot be used: {why}", .dir.display())]
    Folder {
        /// The folder.
        dir: PathBuf,
        /// The error.
        why: String,
    },
    /// There is no checkpoint of this id.
    #[error(
        "there is no checkpoint {0}: it was removed for its age or for newer ones, or castellan made none"
    )]
    Unknown(String),
    /// The description of a checkpoint is not what castellan wrote.
    #[error("the checkpoint {0} was changed or is damaged, so castellan does not use it")]
    Tampered(String),
    /// A newer castellan wrote the checkpoint.
    #[error("a newer castellan wrote the checkpoint {0}: install that version again to use it")]
    Newer(String),
}

/// The amount of data in a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Number of checkpoints.
    pub count: usize,
    /// Bytes of them.
    pub bytes: u64,
    /// The time of the oldest, in seconds since 1970.
    pub oldest_s: Option<u64>,
}

/// A checkpoint of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// Its time, in seconds since 1970.
    pub taken_s: u64,
    /// Bytes that it brought.
    pub bytes: u64,
}

/// The checkpoints of one folder. One process at a time may use it; all methods can be called by several threads.
#[derive(Debug)]
pub struct Store {
    budget: Budget,
    ceiling: AtomicU64,
    age_s: AtomicU64,
    descriptions: OwnedFd,
    contents: Contents,
    index: Mutex<Index>,
}

/// A store, and the descriptions in it that could not be read.
#[derive(Debug)]
pub struct Opened {
    /// The store.
    pub store: Store,
    /// Names of files that are ignored, with the reason.
    pub ignored: Vec<StoreError>,
}

impl Store {
    /// Opens the store in `dir`, which is made if it is not there. Its parent must be there. No other user may have access.
    pub fn open(dir: &Path, budget: Budget) -> Result<Opened, StoreError> {
        let folder =
            |why: &dyn std::fmt::Display| StoreError::Folder { dir: dir.to_owned(), why: why.to_string() };
        let opened = open_folder(dir).map_err(|error| folder(&castellan_files::explained(&error)))?;
        let below = |name: &str| -> io::Result<OwnedFd> {
            match mkdirat(&opened, name, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => Ok(open_dir(opened.as_fd(), name.as_ref())?),
                Err(why) => Err(why.into()),
            }
        };
        let descriptions =
            below("checkpoints").map_err(|error| folder(&castellan_files::explained(&error)))?;
        let contents = below("contents").map_err(|error| folder(&castellan_files::explained(&error)))?;
        let store = Store {
            ceiling: budget.ceiling.into(),
            age_s: budget.age.as_secs().into(),
            budget,
            descriptions,
            contents: Contents::of(contents),
            index: Mutex::default(),
        };
        let ignored = store.load().map_err(|error| folder(&error))?;
        let is_used = |hash: &copy::Hash| store.index().place(hash) == Some(Place::Own);
        let is_pack_used = |number| store.index().has_pack(number);
        store.contents.sweep(is_used, is_pack_used).map_err(|error| folder(&error))?;
        store.prune();
        Ok(Opened { store, ignored })
    }

    /// Reads all descriptions.
    fn load(&self) -> io::Result<Vec<StoreError>> {
        let (mut found, mut ignored) = (Vec::new(), Vec::new());
        for name in names(&self.descriptions)? {
            match self.read(&name) {
                Ok((manifest, hash, bytes)) if manifest.id == name => found.push((manifest, hash, bytes)),
                Ok(_) => ignored.push(StoreError::Tampered(name)),
                Err(error) => ignored.push(error),
            }
        }
        found.sort_by_key(|(manifest, ..)| manifest.number);
        let packs = self.contents.packs()?;
        let mut index = self.index();
        index.know_packs(&packs);
        for (manifest, hash, bytes) in found {
            index.add(&manifest, hash, (bytes, 0));
            let taken_ns = i128::from(manifest.taken_s) * 1_000_000_000;
            for row in &manifest.rows {
                if let (Some(stat), Some((hash, _))) = (row.was.stat(), row.was.content()) {
                    index.know(stat, hash, taken_ns);
                }
            }
        }
        index.forget_unused_packs();
        Ok(ignored)
    }

    fn read(&self, id: &str) -> Result<(Manifest, copy::Hash, u64), StoreError> {
        let damaged = || StoreError::Tampered(id.to_owned());
        let file = match open_file(self.descriptions.as_fd(), id.as_ref()) {
            Ok(file) => copy::file(file),
            Err(Errno::NOENT) => return Err(StoreError::Unknown(id.to_owned())),
            Err(_) => return Err(damaged()),
        };
        let bytes = copy::read(&file, MANIFEST_BYTES_MAX).ok().flatten().ok_or_else(damaged)?;
        match Manifest::from_bytes(&bytes) {
            Ok((manifest, hash)) => Ok((manifest, hash, bytes.len() as u64)),
            Err(Unread::Newer) => Err(StoreError::Newer(id.to_owned())),
            Err(Unread::Damaged) => Err(damaged()),
        }
    }

    /// Reads the description of a known checkpoint, which must be the one that was written.
    pub(crate) fn manifest(&self, id: &str) -> Result<Manifest, StoreError> {
        let known = self.index().find(id).map(|known| known.hash);
        let expected = known.ok_or_else(|| StoreError::Unknown(id.to_owned()))?;
        match self.read(id) {
            Ok((manifest, hash, _)) if hash == expected => Ok(manifest),
            Ok(_) | Err(StoreError::Unknown(_)) => Err(StoreError::Tampered(id.to_owned())),
            Err(error) => Err(error),
        }
    }

    /// Changes the ceiling and the age of all checkpoints. Both hold from the next checkpoint on.
    pub fn set_limits(&self, ceiling: u64, age: Duration) {
        self.ceiling.store(ceiling, Relaxed);
        self.age_s.store(age.as_secs(), Relaxed);
    }

    /// Removes a checkpoint. Returns whether it was there.
    pub fn remove(&self, id: &str) -> bool {
        let removed = self.index().remove(id);
        removed.map(|removed| self.delete(&removed)).is_some()
    }

    /// Removes the checkpoints that are too old. Returns their ids.
    pub fn prune(&self) -> Vec<String> {
        let mut removed = Removed::default();
        let oldest_s = now_s().saturating_sub(self.age_s.load(Relaxed));
        self.index().remove_older(oldest_s, &mut removed);
        self.delete(&removed);
        removed.ids
    }

    /// Deletes files. A file that stays is swept at the next start.
    fn delete(&self, removed: &Removed) {
        for id in &removed.ids {
            let _ = unlinkat(&self.descriptions, id.as_str(), AtFlags::empty());
        }
        for hash in &removed.contents {
            // Another thread may have written the same contents again.
            if self.index().place(hash) != Some(Place::Own) {
                self.contents.remove(hash);
            }
        }
        for number in &removed.packs {
            self.contents.remove_pack(*number);
        }
    }

    /// Returns the amount of data.
    pub fn usage(&self) -> Usage {
        let index = self.index();
        Usage {
            count: index.iter().count(),
            bytes: index.bytes(),
            oldest_s: index.iter().next().map(|known| known.taken_s),
        }
    }

    /// Reports whether there is a checkpoint of an id.
    pub fn has(&self, id: &str) -> bool {
        self.index().find(id).is_some()
    }

    /// Returns the directory of a checkpoint.
    pub fn root(&self, id: &str) -> Result<PathBuf, StoreError> {
        Ok(PathBuf::from(OsString::from_vec(self.manifest(id)?.root)))
    }

    /// Returns all checkpoints, the oldest first.
    pub fn list(&self) -> Vec<Listed> {
        let listed =
            |known: &Known| Listed { id: known.id.clone(), taken_s: known.taken_s, bytes: known.bytes };
        self.index().iter().map(listed).collect()
    }

    pub(crate) fn contents(&self) -> &Contents {
        &self.contents
    }

    /// Copies contents into an empty file. Their hash is not checked.
    pub(crate) fn copy_out(&self, hash: &copy::Hash, size: u64, to: &File) -> io::Result<()> {
        self.contents.copy_out((hash, self.place(hash)?), size, to)
    }

    /// Reads contents. Their hash is not checked.
    pub(crate) fn read_contents(&self, hash: &copy::Hash, size: u64) -> io::Result<Vec<u8>> {
        self.contents.read((hash, self.place(hash)?), size)
    }

    fn place(&self, hash: &copy::Hash) -> io::Result<Place> {
        self.index().place(hash).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.budget.limits
    }

    fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a description at once in its place: its hash shows a part. Returns its bytes and hash.
    fn write(&self, manifest: &Manifest) -> io::Result<(u64, copy::Hash)> {
        let (bytes, hash) = manifest.to_bytes().map_err(|_| io::Error::other("it cannot be encoded"))?;
        write_new(&self.descriptions, &manifest.id, &bytes)?;
        Ok((bytes.len() as u64, hash))
    }
}

/// Opens the private folder of a store.
fn open_folder(dir: &Path) -> io::Result<OwnedFd> {
    let (parent, name) = match (dir.parent(), dir.file_name()) {
        (Some(parent), Some(name)) => (parent.canonicalize()?, name),
        _ => return Err(io::Error::other("it is no path of a folder")),
    };
    let parent = Beneath::open(&parent)?;
    match mkdirat(parent.fd(), name, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(why) => return Err(why.into()),
    }
    let opened = open_dir(parent.fd(), name)?;
    let metadata = copy::file(opened.try_clone()?).metadata()?;
    Guard::Private(rustix::process::geteuid().as_raw()).check(&metadata)?;
    Ok(opened)
}

/// Reports whether a word can be the id of a checkpoint.
fn is_id(word: &str) -> bool {
    (1..=ID_BYTES_MAX).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

pub(crate) fn now_s() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
