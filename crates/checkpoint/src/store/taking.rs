//! Copies the contents of a checkpoint in progress into the store: those that the store has are used once more. It must not
//! know which files a checkpoint needs.

use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::Store;
use super::contents::Place;
use super::index::Removed;
use super::pack::Pack;
use super::take_error::{TakeError, failure};
use crate::beneath::{Beneath, open_file};
use crate::copy::{self, Hash, hash_of};
use crate::limits::{PACK_BYTES, READ_ATTEMPTS, SMALL_BYTES};
use crate::manifest::{Row, Was};
use crate::stat::{Stat, Time};

/// A checkpoint in progress: it holds its contents, so that no other thread removes them.
pub(super) struct Taking<'s> {
    store: &'s Store,
    held: Vec<Hash>,
    /// Small contents that are not written yet.
    pack: Pack,
    /// The pack that was looked at last, with the time of its last change. It holds the next contents, too, most often.
    seen: Option<(u64, Time)>,
    pub(super) copied: usize,
    pub(super) copied_bytes: u64,
}

impl<'s> Taking<'s> {
    pub(super) fn new(store: &'s Store) -> Taking<'s> {
        Taking { store, held: Vec::new(), pack: Pack::default(), seen: None, copied: 0, copied_bytes: 0 }
    }
}

impl Drop for Taking<'_> {
    fn drop(&mut self) {
        let mut removed = Removed::default();
        for hash in &self.held {
            self.store.index().release(hash, &mut removed);
        }
        self.store.delete(&removed);
    }
}

impl Taking<'_> {
    /// Fills in the contents of all files. Returns the paths of files without contents.
    pub(super) fn copy_all(
        &mut self,
        root: &Beneath,
        rows: &mut [Row],
        max: u64,
    ) -> Result<Vec<PathBuf>, TakeError> {
        let mut uncopied = Vec::new();
        let mut parent: Option<(PathBuf, std::os::fd::OwnedFd)> = None;
        for Row { path, was } in rows {
            let Was::File { stat, content } = was else { continue };
            let path = Path::new(std::ffi::OsStr::from_bytes(path));
            if stat.size > max {
                uncopied.push(path.to_owned());
                continue;
            }
            if let Some(hash) = self.reuse(stat) {
                *content = Some(hash);
                continue;
            }
            let above = path.parent().unwrap_or(Path::new(""));
            if parent.as_ref().is_none_or(|(known, _)| known != above) {
                parent = root.dir(above).ok().map(|dir| (above.to_owned(), dir));
            }
            let copied = match (&parent, path.file_name()) {
                (Some((_, dir)), Some(name)) => self.copy(dir, name, stat)?,
                _ => None,
            };
            *content = copied;
            if copied.is_none() {
                uncopied.push(path.to_owned());
            }
        }
        Ok(uncopied)
    }

    /// Uses contents that the store has of a file with this status.
    fn reuse(&mut self, stat: &Stat) -> Option<Hash> {
        let hash = self.store.index().known(stat)?;
        self.hold(hash, stat.size).then_some(hash)
    }

    /// Uses contents once more, if the store has them and they are whole.
    fn hold(&mut self, hash: Hash, size: u64) -> bool {
        let Some((whole_at, place)) = self.store.index().whole_at(&hash) else { return false };
        let Some(now) = self.changed_at(&hash, place) else { return false };
        let contents = self.store.contents();
        if whole_at != Some(now) {
            // Somebody changed the file, or castellan has not read it since its start.
            if !contents.is_whole((&hash, place), size) {
                return false;
            }
            self.store.index().set_whole_at(&hash, Some(now));
        }
        let mut index = self.store.index();
        let is_held = index.is_held(&hash);
        if is_held {
            index.hold(hash, size);
            self.held.push(hash);
        }
        is_held
    }

    /// The time of the last change of the file with contents. Each pack is looked at once in a row of its contents.
    fn changed_at(&mut self, hash: &Hash, place: Place) -> Option<Time> {
        let pack = match place {
            Place::Own => return self.store.contents().changed_at(hash, place),
            Place::Pack { number, .. } => number,
        };
        if let Some((number, at)) = self.seen
            && number == pack
        {
            return Some(at);
        }
        let at = self.store.contents().changed_at(hash, place)?;
        self.seen = Some((pack, at));
        Some(at)
    }

    /// Copies one file. `None`: it cannot be read, or it changes all the time. Sets the status that the contents belong to.
    fn copy(
        &mut self,
        dir: &std::os::fd::OwnedFd,
        name: &std::ffi::OsStr,
        stat: &mut Stat,
    ) -> Result<Option<Hash>, TakeError> {
        for _ in 0..READ_ATTEMPTS {
            let Ok(file) = open_file(dir.as_fd(), name) else { return Ok(None) };
            let file = copy::file(file);
            let Ok(before) = Stat::of(file.as_fd()) else { return Ok(None) };
            // A file that grew is over the budget that was checked.
            if before.size > stat.size.max(SMALL_BYTES) {
                return Ok(None);
            }
            let copied = match before.size <= SMALL_BYTES {
                true => self.copy_small(&file, before.size)?,
                false => Some(self.copy_large(&file, before.size)?),
            };
            let is_quiet = Stat::of(file.as_fd()).is_ok_and(|after| after.stamp() == before.stamp());
            let Some(hash) = copied.filter(|_| is_quiet) else { continue };
            *stat = before;
            self.store.index().know(&before, hash, now_ns());
            return Ok(Some(hash));
        }
        Ok(None)
    }

    fn copy_small(&mut self, file: &std::fs::File, size: u64) -> Result<Option<Hash>, TakeError> {
        let Ok(Some(bytes)) = copy::read(file, size) else { return Ok(None) };
        let hash = hash_of(&bytes);
        if !self.pack.has(&hash) && !self.hold(hash, size) {
            self.pack.add(hash, &bytes);
            self.copied += 1;
            self.copied_bytes += size;
            if self.pack.len() > PACK_BYTES {
                self.write_pack()?;
            }
        }
        Ok(Some(hash))
    }

    /// Writes the pack, and uses its contents.
    pub(super) fn write_pack(&mut self) -> Result<(), TakeError> {
        if self.pack.is_empty() {
            return Ok(());
        }
        let pack = std::mem::take(&mut self.pack);
        let number = self.store.index().next_pack();
        let written = self.store.contents().write_pack(number, &pack).map_err(|error| failure(&error))?;
        let unused = self.store.index().add_pack(&written);
        self.held.extend(written.entries.iter().map(|packed| packed.hash));
        self.store.delete(&Removed { packs: unused, ..Removed::default() });
        Ok(())
    }

    fn copy_large(&mut self, file: &std::fs::File, size: u64) -> Result<Hash, TakeError> {
        let hash = self.store.contents().copy_in(file, size).map_err(|error| failure(&error))?;
        let at = self.store.contents().changed_at(&hash, Place::Own);
        let mut index = self.store.index();
        let is_known = index.place(&hash).is_some();
        index.hold(hash, size);
        index.set_whole_at(&hash, at);
        drop(index);
        self.held.push(hash);
        if !is_known {
            self.copied += 1;
            self.copied_bytes += size;
        }
        Ok(hash)
    }
}

fn now_ns() -> i128 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| i128::try_from(since.as_nanos()).unwrap_or(i128::MAX))
}
