//! [`NewFile`]: a text that is to become a file, whole or not at all: it is on the disk beside its place before it takes it.

use std::fs::{File, Metadata, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Gid, Uid};
use tempfile::NamedTempFile;

/// Who may open a new file.
#[derive(Debug)]
pub(crate) enum Access {
    /// It is this user's, with a mode.
    Mode(u32),
    /// Its mode and owner are those of another file.
    Like(Metadata),
}

/// A text on the disk that has not taken its place yet. Dropped, it is deleted.
#[derive(Debug)]
pub(crate) struct NewFile {
    partial: NamedTempFile,
    file: PathBuf,
}

impl NewFile {
    /// Writes the text that is to become `file`.
    pub(crate) fn write(file: &Path, text: &str, access: &Access) -> io::Result<NewFile> {
        let dir = file.parent().ok_or_else(|| io::Error::other("it lies in no directory"))?;
        let mut partial = NamedTempFile::new_in(dir)?;
        match access {
            Access::Mode(mode) => partial.as_file().set_permissions(Permissions::from_mode(*mode))?,
            Access::Like(meta) => give(partial.as_file(), meta)?,
        }
        partial.write_all(text.as_bytes())?;
        partial.as_file().sync_all()?;
        Ok(NewFile { partial, file: file.to_owned() })
    }

    /// Takes its place; what was there is gone.
    pub(crate) fn put(self) -> io::Result<()> {
        self.partial.persist(self.file)?;
        Ok(())
    }

    /// Takes its place, which must be free.
    pub(crate) fn put_where_none_is(self) -> io::Result<()> {
        self.partial.persist_noclobber(self.file)?;
        Ok(())
    }
}

/// Gives a file the mode and owner of another. Only root can give to others; a user's own file needs no giving.
fn give(file: &File, like: &Metadata) -> io::Result<()> {
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
        rustix::fs::fchown(file, Some(Uid::from_raw(like.uid())), Some(Gid::from_raw(like.gid())))?;
    }
    file.set_permissions(Permissions::from_mode(like.mode() & 0o7777))
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
}
