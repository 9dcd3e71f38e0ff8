//! The description of one checkpoint, as the store writes it: a line with the version, a line with the hash of the rest,
//! and the rest. It must not know the place of the file.

use serde::{Deserialize, Serialize};

use crate::copy::{Hash, hash_of};
use crate::left_out::Leaves;
use crate::stat::Stat;

const FIRST_LINE: &str = "castellan-checkpoint 1\n";
const FIRST_WORD: &str = "castellan-checkpoint ";

/// One checkpoint. Paths are bytes, since a name need not be UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) id: String,
    /// The session, or another word for the origin: one origin cannot displace the checkpoints of all others.
    pub(crate) owner: String,
    /// The directory: absolute, without links.
    pub(crate) root: Vec<u8>,
    /// Its status.
    pub(crate) root_stat: Stat,
    /// Seconds since 1970.
    pub(crate) taken_s: u64,
    /// Distinguishes checkpoints of one second.
    pub(crate) number: u64,
    /// The paths that it is about; `None`: the whole directory.
    pub(crate) paths: Option<Vec<Vec<u8>>>,
    /// The directories that it leaves out.
    pub(crate) leaves: Leaves,
    /// Its entries by path.
    pub(crate) rows: Vec<Row>,
}

/// An entry of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) path: Vec<u8>,
    pub(crate) was: Was,
}

/// The state of a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Was {
    /// Nothing was there.
    Absent,
    /// Nothing was there, where a directory above another path could be. If one is there now, it goes if it is empty.
    AbsentAbove,
    /// A regular file. Without contents it was not copied.
    File { stat: Stat, content: Option<Hash> },
    /// A directory.
    Directory { stat: Stat, extent: Extent },
    /// A symbolic link.
    Link { stat: Stat, target: Vec<u8> },
    /// Anything else, which is neither copied nor put back.
    Other { stat: Stat },
}

impl Was {
    /// The status, if something was there.
    pub(crate) fn stat(&self) -> Option<&Stat> {
        match self {
            Was::Absent | Was::AbsentAbove => None,
            Was::File { stat, .. }
            | Was::Directory { stat, .. }
            | Was::Link { stat, .. }
            | Was::Other { stat } => Some(stat),
        }
    }

    /// The copied contents with their size.
    pub(crate) fn content(&self) -> Option<(Hash, u64)> {
        match self {
            Was::File { stat, content } => content.map(|content| (content, stat.size)),
            Was::Absent | Was::AbsentAbove | Was::Directory { .. } | Was::Link { .. } | Was::Other { .. } => {
                None
            }
        }
    }
}

/// What a checkpoint has of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Extent {
    /// All entries are rows.
    Whole,
    /// It is above a path of the checkpoint.
    Above,
    /// It is left out, or it cannot be read.
    LeftOut,
}

/// The reason why a description is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unread {
    /// A newer castellan wrote it.
    Newer,
    /// It is not what castellan wrote.
    Damaged,
}

impl Manifest {
    /// Reports whether the directory itself is in it.
    pub(crate) fn is_whole(&self) -> bool {
        self.paths.as_ref().is_none_or(|paths| paths.iter().any(Vec::is_empty))
    }

    /// Returns the bytes of the file, and the hash of the description.
    pub(crate) fn to_bytes(&self) -> Result<(Vec<u8>, Hash), Unread> {
        let body = postcard::to_allocvec(self).map_err(|_| Unread::Damaged)?;
        let hash = hash_of(&body);
        let mut bytes = FIRST_LINE.as_bytes().to_vec();
        bytes.extend(base16ct::lower::encode_string(&hash).bytes());
        bytes.push(b'\n');
        bytes.extend(body);
        Ok((bytes, hash))
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<(Manifest, Hash), Unread> {
        let Some(rest) = bytes.strip_prefix(FIRST_LINE.as_bytes()) else {
            let is_ours = bytes.starts_with(FIRST_WORD.as_bytes());
            return Err(if is_ours { Unread::Newer } else { Unread::Damaged });
        };
        let (line, body) = rest.split_at_checked(65).ok_or(Unread::Damaged)?;
        let hash = hash_of(body);
        if line.split_last() != Some((&b'\n', base16ct::lower::encode_string(&hash).as_bytes())) {
            return Err(Unread::Damaged);
        }
        let manifest: Manifest = postcard::from_bytes(body).map_err(|_| Unread::Damaged)?;
        Ok((manifest, hash))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        let zero = crate::stat::Time { s: 0, ns: 0 };
        let root_stat = Stat {
            kind: crate::stat::Kind::Directory,
            dev: 1,
            ino: 2,
            links: 1,
            size: 0,
            mode: 0o755,
            uid: 0,
            gid: 0,
            mtime: zero,
            ctime: zero,
        };
        let rows = vec![Row { path: b"a\n\xff".to_vec(), was: Was::Absent }];
        let (id, owner, root) = ("K7".to_owned(), "s".to_owned(), b"/w".to_vec());
        Manifest {
            id,
            owner,
            root,
            root_stat,
            taken_s: 5,
            number: 1,
            paths: None,
            leaves: Leaves::Generated,
            rows,
        }
    }

    #[test]
    fn a_description_round_trips_and_each_changed_byte_is_found() {
        let (bytes, hash) = manifest().to_bytes().unwrap();
        assert_eq!(Manifest::from_bytes(&bytes), Ok((manifest(), hash)));
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(Manifest::from_bytes(&changed).is_err(), "byte {at}");
            assert!(Manifest::from_bytes(&bytes[..at]).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn a_newer_version_is_named() {
        assert_eq!(Manifest::from_bytes(b"castellan-checkpoint 2\n"), Err(Unread::Newer));
        assert_eq!(Manifest::from_bytes(b"something else"), Err(Unread::Damaged));
    }
}
