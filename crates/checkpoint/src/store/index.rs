//! The store's memory: checkpoints by age, uses of contents, and contents by the status of files. It decides what goes when
//! there is no room. It must not know files.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::copy::Hash;
use crate::limits::{COUNT_MAX, KNOWN_MAX, RACY_NS};
use crate::stat::{Stat, Time};
use crate::store::manifest::Manifest;

/// A checkpoint, without its rows.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub(crate) id: String,
    pub(crate) owner: String,
    pub(crate) taken_s: u64,
    /// The hash of its description, which the file must have.
    pub(crate) hash: Hash,
    /// Bytes that it brought: its description and new contents.
    pub(crate) bytes: u64,
    manifest_bytes: u64,
    contents: BTreeSet<Hash>,
}

#[derive(Debug, Default)]
pub(crate) struct Index {
    /// By number: the oldest first.
    checkpoints: BTreeMap<u64, Known>,
    contents: HashMap<Hash, Held>,
    /// Contents by file system and number of a file.
    known: HashMap<(u64, u64), (Stat, Hash)>,
    bytes: u64,
    next: u64,
}

#[derive(Debug)]
struct Held {
    size: u64,
    uses: usize,
    /// The status time at which the contents were known to be whole.
    whole_at: Option<Time>,
}

/// What was removed for want of room or age.
#[derive(Debug, Default)]
pub(crate) struct Removed {
    pub(crate) ids: Vec<String>,
    pub(crate) contents: Vec<Hash>,
}

impl Index {
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Known> {
        self.checkpoints.values()
    }

    pub(crate) fn find(&self, id: &str) -> Option<&Known> {
        self.iter().rev().find(|one| one.id == id)
    }

    /// Returns a new number of a checkpoint.
    pub(crate) fn next(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Adds a checkpoint with its contents, each of which is used once more. `copied` are the bytes that were written for
    /// it and that its taker still holds.
    pub(crate) fn add(&mut self, manifest: &Manifest, hash: Hash, (manifest_bytes, copied): (u64, u64)) {
        let mut contents = BTreeSet::new();
        let mut brought = manifest_bytes + copied;
        for row in &manifest.rows {
            let Some((content, size)) = row.was.content() else { continue };
            if contents.insert(content) {
                brought += self.hold(content, size);
            }
        }
        self.bytes += manifest_bytes;
        self.next = self.next.max(manifest.number);
        let known = Known {
            id: manifest.id.clone(),
            owner: manifest.owner.clone(),
            taken_s: manifest.taken_s,
            hash,
            bytes: brought,
            manifest_bytes,
            contents,
        };
        self.checkpoints.insert(manifest.number, known);
    }

    /// Uses contents once more. Returns their size if nothing used them before.
    pub(crate) fn hold(&mut self, hash: Hash, size: u64) -> u64 {
        let held = self.contents.entry(hash).or_insert(Held { size, uses: 0, whole_at: None });
        held.uses += 1;
        let new = if held.uses == 1 { held.size } else { 0 };
        self.bytes += new;
        new
    }

    /// Ends one use. Returns whether it was the last.
    pub(crate) fn release(&mut self, hash: &Hash) -> bool {
        let Some(held) = self.contents.get_mut(hash) else { return false };
        held.uses = held.uses.saturating_sub(1);
        if held.uses > 0 {
            return false;
        }
        self.bytes = self.bytes.saturating_sub(held.size);
        self.contents.remove(hash);
        true
    }

    pub(crate) fn is_held(&self, hash: &Hash) -> bool {
        self.contents.contains_key(hash)
    }

    /// The status time at which contents in use were known to be whole.
    pub(crate) fn whole_at(&self, hash: &Hash) -> Option<Option<Time>> {
        self.contents.get(hash).map(|held| held.whole_at)
    }

    pub(crate) fn set_whole_at(&mut self, hash: &Hash, at: Option<Time>) {
        if let Some(held) = self.contents.get_mut(hash) {
            held.whole_at = at;
        }
    }

    /// The contents of a file of this status.
    pub(crate) fn known(&self, stat: &Stat) -> Option<Hash> {
        let (known, hash) = self.known.get(&(stat.dev, stat.ino))?;
        (known.stamp() == stat.stamp()).then_some(*hash)
    }

    /// Remembers the contents of a file, unless it may change again without a new status.
    pub(crate) fn know(&mut self, stat: &Stat, hash: Hash, now_ns: i128) {
        if stat.ctime.as_ns() + RACY_NS > now_ns {
            return;
        }
        if self.known.len() >= KNOWN_MAX {
            self.known.clear();
        }
        self.known.insert((stat.dev, stat.ino), (*stat, hash));
    }

    /// Removes a checkpoint.
    pub(crate) fn remove(&mut self, id: &str) -> Option<Removed> {
        let number =
            self.checkpoints.iter().rev().find(|(_, one)| one.id == id).map(|(number, _)| *number)?;
        let mut removed = Removed::default();
        self.take_out(number, &mut removed);
        Some(removed)
    }

    fn take_out(&mut self, number: u64, removed: &mut Removed) {
        let Some(known) = self.checkpoints.remove(&number) else { return };
        self.bytes = self.bytes.saturating_sub(known.manifest_bytes);
        removed.contents.extend(known.contents.into_iter().filter(|hash| self.release(hash)));
        removed.ids.push(known.id);
    }

    /// Removes the checkpoints that are older than `oldest_s`.
    pub(crate) fn remove_older(&mut self, oldest_s: u64, removed: &mut Removed) {
        let old = |known: &Known| known.taken_s < oldest_s;
        while let Some(number) = self.checkpoints.iter().find(|(_, one)| old(one)).map(|(number, _)| *number)
        {
            self.take_out(number, removed);
        }
    }

    /// Removes checkpoints until `need` more bytes fit beneath the ceiling. The oldest go first. An owner with more than
    /// half of the ceiling loses its own first, so that one session cannot displace the checkpoints of all others. `but`
    /// stays. Returns whether there is room.
    pub(crate) fn make_room(
        &mut self,
        (owner, but): (&str, Option<&str>),
        (need, ceiling): (u64, u64),
        removed: &mut Removed,
    ) -> bool {
        while self.bytes.saturating_add(need) > ceiling || self.checkpoints.len() >= COUNT_MAX {
            let of_owner: u64 = self.iter().filter(|one| one.owner == owner).map(|one| one.bytes).sum();
            let count = self.iter().filter(|one| one.owner == owner).count();
            let is_greedy = of_owner.saturating_add(need) > ceiling / 2 || count > COUNT_MAX / 2;
            let may_go = |one: &Known| Some(one.id.as_str()) != but;
            let own = self.checkpoints.iter().find(|(_, one)| may_go(one) && one.owner == owner);
            let oldest = self.checkpoints.iter().find(|(_, one)| may_go(one));
            let victim = if is_greedy { own.or(oldest) } else { oldest };
            let Some(number) = victim.map(|(number, _)| *number) else {
                return self.bytes.saturating_add(need) <= ceiling;
            };
            self.take_out(number, removed);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::left_out::Leaves;
    use crate::stat::Kind;
    use crate::store::manifest::{Row, Was};

    fn stat(ino: u64, size: u64, ctime_s: i64) -> Stat {
        let time = |s| Time { s, ns: 0 };
        Stat {
            kind: Kind::File,
            dev: 1,
            ino,
            links: 1,
            size,
            mode: 0o644,
            uid: 0,
            gid: 0,
            mtime: time(0),
            ctime: time(ctime_s),
        }
    }

    fn add(index: &mut Index, id: &str, owner: &str, contents: &[(u8, u64)]) {
        let rows = contents.iter().map(|(hash, size)| Row {
            path: vec![*hash],
            was: Was::File { stat: stat(1, *size, 0), content: Some([*hash; 32]) },
        });
        let number = index.next();
        let manifest = Manifest {
            id: id.to_owned(),
            owner: owner.to_owned(),
            root: Vec::new(),
            root_stat: stat(1, 0, 0),
            taken_s: number,
            number,
            paths: None,
            leaves: Leaves::Generated,
            rows: rows.collect(),
        };
        index.add(&manifest, [0; 32], (10, 0));
    }

    fn ids(index: &Index) -> Vec<&str> {
        index.iter().map(|one| one.id.as_str()).collect()
    }

    #[test]
    fn contents_go_with_their_last_use() {
        let mut index = Index::default();
        add(&mut index, "a", "s", &[(1, 100), (2, 50)]);
        add(&mut index, "b", "s", &[(1, 100), (1, 100)]);
        assert_eq!(index.bytes(), 170);
        assert_eq!(index.remove("a").unwrap().contents, [[2; 32]]);
        assert_eq!(index.bytes(), 110);
        assert_eq!(index.remove("b").unwrap().contents, [[1; 32]]);
        assert_eq!((index.bytes(), index.remove("b").is_none()), (0, true));
    }

    #[test]
    fn the_oldest_go_first() {
        let mut index = Index::default();
        for (at, id) in (1..).zip(["a", "b", "c"]) {
            add(&mut index, id, id, &[(at, 100)]);
        }
        let mut removed = Removed::default();
        assert!(index.make_room(("d", None), (200, 430), &mut removed));
        assert_eq!((removed.ids, ids(&index)), (vec!["a".to_owned()], vec!["b", "c"]));
        let mut removed = Removed::default();
        assert!(index.make_room(("d", Some("b")), (200, 330), &mut removed));
        assert_eq!(ids(&index), ["b"]);
        assert!(!index.make_room(("d", Some("b")), (400, 330), &mut removed));
    }

    #[test]
    fn a_greedy_owner_displaces_its_own() {
        let mut index = Index::default();
        add(&mut index, "victim", "person", &[(1, 100)]);
        for at in 2..12 {
            let mut removed = Removed::default();
            assert!(index.make_room(("flood", None), (110, 500), &mut removed));
            add(&mut index, &format!("f{at}"), "flood", &[(at, 100)]);
        }
        assert_eq!(ids(&index), ["victim", "f9", "f10", "f11"]);
    }

    #[test]
    fn a_file_that_just_changed_is_read_again() {
        let mut index = Index::default();
        let now_ns = 100_000_000_000;
        for (ino, ctime_s, expected) in [(1, 90, true), (2, 99, false), (3, 101, false)] {
            index.know(&stat(ino, 5, ctime_s), [7; 32], now_ns);
            assert_eq!(index.known(&stat(ino, 5, ctime_s)).is_some(), expected, "{ctime_s}");
        }
        assert_eq!(index.known(&stat(1, 6, 90)), None);
        assert_eq!(index.known(&stat(1, 5, 91)), None);
    }

    #[test]
    fn the_old_go() {
        let mut index = Index::default();
        for id in ["a", "b", "c"] {
            add(&mut index, id, "s", &[]);
        }
        let mut removed = Removed::default();
        index.remove_older(3, &mut removed);
        assert_eq!(ids(&index), ["c"]);
    }
}
