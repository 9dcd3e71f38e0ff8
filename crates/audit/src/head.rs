//! The file `head`: the last line of each stream, updated after every append. It shows that complete lines at the end
//! of a segment are missing or changed. The chain alone cannot show this.
//!
//! The file is one line of fixed size, overwritten in place: a record needs no new disk space and no rename.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use castellan_files::{Links, at_most, open_to_read, open_with};
use serde::{Deserialize, Serialize};

use crate::error::AuditError;
use crate::limits::HEAD_BYTES_MAX;
use crate::line::Link;
use crate::record::Stream;

/// Version of this file's format, independent of the version of the lines.
const VERSION: u32 = 1;

/// Size of the file, padded with spaces: two hashes, two numbers and their keys fit.
const BYTES: usize = 320;

/// Last lines of both streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    v: u32,
    routine: Link,
    notable: Link,
}

impl Head {
    pub(crate) fn new(routine: Link, notable: Link) -> Head {
        Head { v: VERSION, routine, notable }
    }

    /// Returns the last line of one stream.
    pub(crate) fn link(&self, stream: Stream) -> Link {
        match stream {
            Stream::Routine => self.routine,
            Stream::Notable => self.notable,
        }
    }

    /// Returns the number of the last record of both streams.
    pub(crate) fn last_seq(&self) -> u64 {
        self.routine.seq.max(self.notable.seq)
    }

    /// Reads the file. Returns `Ok(None)` if it does not exist or is empty, and an inner error if it cannot be parsed.
    pub(crate) fn load(dir: &Path) -> Result<Option<Result<Head, String>>, AuditError> {
        let path = path(dir);
        let read = open_to_read(&path, Links::Refused).and_then(|file| at_most(file, HEAD_BYTES_MAX));
        match read {
            Ok(None) => Ok(Some(Err(format!("it has more than {HEAD_BYTES_MAX} bytes")))),
            Ok(Some(bytes)) if bytes.is_empty() => Ok(None),
            Ok(Some(bytes)) => {
                let head = serde_json::from_slice::<Head>(&bytes).map_err(|error| error.to_string());
                Ok(Some(head.and_then(|head| match head.v {
                    VERSION => Ok(head),
                    v => Err(format!("this castellan does not know format version {v}")),
                })))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(AuditError::io("read", &path)(error)),
        }
    }
}

/// The file, opened for overwriting.
#[derive(Debug)]
pub(crate) struct HeadFile {
    file: File,
    buffer: Vec<u8>,
}

impl HeadFile {
    pub(crate) fn open(dir: &Path) -> Result<HeadFile, AuditError> {
        let path = path(dir);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let file = open_with(&mut options, &path, Links::Refused).map_err(AuditError::io("open", &path))?;
        let bytes = file.metadata().map_err(AuditError::io("read", &path))?.len();
        if bytes > BYTES as u64 {
            // Another program has written the file: its end would remain after the overwritten part.
            file.set_len(0).map_err(AuditError::io("mend", &path))?;
        }
        Ok(HeadFile { file, buffer: Vec::with_capacity(BYTES) })
    }

    pub(crate) fn write(&mut self, head: &Head) -> io::Result<()> {
        self.buffer.clear();
        serde_json::to_writer(&mut self.buffer, head)?;
        self.buffer.resize(BYTES.saturating_sub(1), b' ');
        self.buffer.push(b'\n');
        self.file.write_all_at(&self.buffer, 0)
    }
}

fn path(dir: &Path) -> PathBuf {
    dir.join("head")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::Hash;

    #[test]
    fn the_largest_head_fits_and_round_trips() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Head::load(dir.path()).unwrap(), None);
        let link = Link { seq: u64::MAX, hash: Hash::of(b"x") };
        let head = Head::new(link, link);
        assert!(serde_json::to_vec(&head).unwrap().len() < BYTES);
        HeadFile::open(dir.path()).unwrap().write(&head).unwrap();
        assert_eq!(Head::load(dir.path()).unwrap(), Some(Ok(head)));
        assert_eq!(head.last_seq(), u64::MAX);
    }
}
