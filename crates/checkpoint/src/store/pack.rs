//! A pack: the small contents of one checkpoint in one file. A file for each of them would cost more than the contents. A
//! line with the version, the length of a table, the table of hashes and sizes, and the contents follow each other.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::copy::Hash;

const FIRST_LINE: &[u8] = b"castellan-pack 1\n";

/// Bytes before the table.
pub(crate) const HEAD_BYTES: usize = FIRST_LINE.len() + 4;

/// The table of a pack.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Table {
    entries: Vec<(Hash, u32)>,
}

/// A pack in the making.
#[derive(Debug, Default)]
pub(crate) struct Pack {
    table: Table,
    known: HashSet<Hash>,
    contents: Vec<u8>,
}

impl Pack {
    pub(crate) fn len(&self) -> usize {
        self.contents.len()
    }

    pub(crate) fn has(&self, hash: &Hash) -> bool {
        self.known.contains(hash)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.table.entries.is_empty()
    }

    /// Adds contents of less than 4 GiB.
    pub(crate) fn add(&mut self, hash: Hash, bytes: &[u8]) {
        self.known.insert(hash);
        self.table.entries.push((hash, u32::try_from(bytes.len()).unwrap_or(u32::MAX)));
        self.contents.extend_from_slice(bytes);
    }

    /// Returns the bytes of the file, and each hash with its size and its place in the file.
    pub(crate) fn to_bytes(&self) -> Option<(Vec<u8>, Vec<Packed>)> {
        let table = postcard::to_allocvec(&self.table).ok()?;
        let mut bytes = FIRST_LINE.to_vec();
        bytes.extend(u32::try_from(table.len()).ok()?.to_le_bytes());
        bytes.extend(&table);
        let entries = places(&self.table, bytes.len() as u64);
        bytes.extend(&self.contents);
        Some((bytes, entries))
    }
}

/// Contents in a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Packed {
    pub(crate) hash: Hash,
    pub(crate) size: u64,
    /// The first byte in the file.
    pub(crate) at: u64,
}

fn places(table: &Table, start: u64) -> Vec<Packed> {
    let mut at = start;
    let place = |(hash, size): &(Hash, u32)| {
        let packed = Packed { hash: *hash, size: (*size).into(), at };
        at = at.saturating_add(packed.size);
        packed
    };
    table.entries.iter().map(place).collect()
}

/// Reads the length of the table from the first [`HEAD_BYTES`].
pub(crate) fn table_bytes(head: &[u8]) -> Option<u64> {
    let length: [u8; 4] = head.strip_prefix(FIRST_LINE)?.try_into().ok()?;
    Some(u32::from_le_bytes(length).into())
}

/// Reads a table.
pub(crate) fn entries(table: &[u8]) -> Option<Vec<Packed>> {
    let start = (HEAD_BYTES + table.len()) as u64;
    Some(places(&postcard::from_bytes(table).ok()?, start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pack_round_trips() {
        let mut pack = Pack::default();
        for (hash, bytes) in [([1; 32], "one"), ([2; 32], ""), ([3; 32], "three")] {
            pack.add(hash, bytes.as_bytes());
        }
        assert!(pack.has(&[2; 32]) && !pack.has(&[4; 32]));
        let (bytes, written) = pack.to_bytes().unwrap();
        let length = table_bytes(&bytes[..HEAD_BYTES]).unwrap() as usize;
        let read = entries(&bytes[HEAD_BYTES..HEAD_BYTES + length]).unwrap();
        assert_eq!(read, written);
        let text = |packed: &Packed| &bytes[packed.at as usize..(packed.at + packed.size) as usize];
        assert_eq!(read.iter().map(text).collect::<Vec<_>>(), [b"one".as_slice(), b"", b"three"]);
        assert_eq!(table_bytes(b"castellan-pack 2\nabcd"), None);
        assert!(entries(b"\xff").is_none());
    }
}
