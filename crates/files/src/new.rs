//! Atomic writes: a new file is written beside its place and then renamed. A program that is killed before that leaves
//! the new file there, and a later program removes it.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Gid, OFlags, Uid};
use tempfile::NamedTempFile;

use crate::open::{Links, open_with};

/// Start and end of the name of a file that is not in its place yet.
const BEGIN: &str = ".castellan-";
const END: &str = ".tmp";

/// The access rights of a new file.
#[derive(Debug)]
pub enum Access {
    /// The file belongs to this user and has this mode.
    Mode(u32),
    /// The file has the mode and owner of another file.
    Like(Metadata),
}

/// A file on the disk that is not in its place yet. Dropping it deletes the file.
#[derive(Debug)]
pub struct NewFile {
    partial: NamedTempFile,
    place: PathBuf,
}

impl NewFile {
    /// Writes the text of the future file `place` to a new file beside it.
    pub fn write(place: &Path, text: &str, access: &Access) -> io::Result<NewFile> {
        let mut new = NewFile::beside(place)?;
        match access {
            Access::Mode(mode) => new.partial.as_file().set_permissions(Permissions::from_mode(*mode))?,
            Access::Like(meta) => give(new.partial.as_file(), meta)?,
        }
        new.partial.write_all(text.as_bytes())?;
        Ok(new)
    }

    /// Creates an empty file of mode 0600.
    fn beside(place: &Path) -> io::Result<NewFile> {
        let dir = place.parent().ok_or_else(|| io::Error::other("it has no parent directory"))?;
        let partial = tempfile::Builder::new().prefix(BEGIN).suffix(END).tempfile_in(dir)?;
        // The lock lasts as long as the file is open. It shows other processes that the writer lives.
        partial.as_file().try_lock()?;
        Ok(NewFile { partial, place: place.to_owned() })
    }

    /// Moves the file to its place and replaces the old file.
    pub fn put(self) -> io::Result<()> {
        self.partial.as_file().sync_all()?;
        self.partial.persist(self.place)?;
        Ok(())
    }

    /// Moves the file to its place; fails if a file is there.
    pub fn put_where_none_is(self) -> io::Result<()> {
        self.partial.as_file().sync_all()?;
        self.partial.persist_noclobber(self.place)?;
        Ok(())
    }
}

/// Gives a file the mode and owner of another. Only root can change the owner; a user's own file keeps it.
fn give(file: &File, like: &Metadata) -> io::Result<()> {
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
        rustix::fs::fchown(file, Some(Uid::from_raw(like.uid())), Some(Gid::from_raw(like.gid())))?;
    }
    file.set_permissions(Permissions::from_mode(like.mode() & 0o7777))
}

/// Writes a file of mode 0600 atomically: readers see the old or the new contents, and two writers do not mix.
pub fn write_private(file: &Path, bytes: &[u8]) -> io::Result<()> {
    write_private_by(file, |new| new.write_all(bytes))
}

/// Like [`write_private`], for contents that are too large for memory.
pub fn write_private_by(file: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let mut new = NewFile::beside(file)?;
    write(new.partial.as_file_mut())?;
    new.put()
}

/// Flushes the entries of a folder to the disk.
#[expect(clippy::disallowed_methods, reason = "opens nothing but a folder, which needs no waiting")]
pub fn sync_folder(dir: &Path) -> io::Result<()> {
    let flags = OFlags::DIRECTORY.bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(flags).open(dir)?.sync_all()
}

/// Removes files of killed writers that never reached their place. Files of a living writer stay. Files that cannot be
/// removed stay too: they do no harm.
pub fn remove_leftovers(dir: &Path) {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(BEGIN) && name.ends_with(END) && is_abandoned(&entry.path()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn is_abandoned(file: &Path) -> bool {
    let opened = open_with(OpenOptions::new().read(true), file, Links::Refused);
    opened.is_ok_and(|opened| opened.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn nothing_is_there_until_all_of_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        let write = |text| NewFile::write(&file, text, &Access::Mode(0o640)).unwrap();
        let first = write("first");
        assert!(!file.exists());
        first.put_where_none_is().unwrap();
        assert!(write("second").put_where_none_is().is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), "first");
        write("third").put().unwrap();
        drop(write("fourth"));
        assert_eq!(fs::read_to_string(&file).unwrap(), "third");
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o7777, 0o640);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn only_what_a_dead_writer_left_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let alive = NewFile::write(&dir.path().join("f"), "alive", &Access::Mode(0o600)).unwrap();
        let others = [".castellan-x", "x.tmp", ".tmpAbC123", "castellan-x.tmp"];
        for name in others.into_iter().chain([".castellan-dead.tmp", ".castellan-.tmp"]) {
            fs::write(dir.path().join(name), "x").unwrap();
        }
        fs::create_dir(dir.path().join(".castellan-folder.tmp")).unwrap();
        remove_leftovers(dir.path());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), others.len() + 2);
        alive.put().unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("f")).unwrap(), "alive");
    }
}
