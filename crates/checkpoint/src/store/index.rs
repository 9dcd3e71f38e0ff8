//! The store's memory: checkpoints by age, uses of contents, and contents by the status of files. It decides what goes when
//! there is no room. It must not know files.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::copy::Hash;
use crate::limits::{COUNT_MAX, KNOWN_MAX, RACY_NS};
use crate::manifest::Manifest;
use crate::stat::{Stat, Time};
use crate::store::contents::{PackFile, Place};
use crate::store::pack::Packed;

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
    /// The packs that are in use.
    packs: HashMap<u64, Kept>,
    /// The places of contents in packs that the store read at its start.
    places: HashMap<Hash, Place>,
    bytes: u64,
    next: u64,
    next_pack: u64,
}

/// A pack.
#[derive(Debug)]
struct Kept {
    bytes: u64,
    /// Number of its contents that are in use.
    uses: usize,
}

#[derive(Debug)]
struct Held {
    size: u64,
    uses: usize,
    place: Place,
    /// The status time at which the contents were known to be whole.
    whole_at: Option<Time>,
}

/// What was removed for want of room or age.
#[derive(Debug, Default)]
pub(crate) struct Removed {
    pub(crate) ids: Vec<String>,
    /// Contents with a file of their own.
    pub(crate) contents: Vec<Hash>,
    pub(crate) packs: Vec<u64>,
}

impl Index {
    /// Learns the packs of the store at its start.
    pub(crate) fn know_packs(&mut self, packs: &[PackFile]) {
        for PackFile { number, bytes, entries, .. } in packs {
            self.next_pack = self.next_pack.max(*number);
            self.bytes += bytes;
            self.packs.insert(*number, Kept { bytes: *bytes, uses: 0 });
            for Packed { hash, at, .. } in entries {
                self.places.insert(*hash, Place::Pack { number: *number, at: *at });
            }
        }
    }

    /// Forgets the packs of which nothing is used.
    pub(crate) fn forget_unused_packs(&mut self) {
        self.places = HashMap::new();
        let unused: Vec<u64> =
            self.packs.iter().filter(|(_, kept)| kept.uses == 0).map(|(number, _)| *number).collect();
        for number in unused {
            self.drop_pack(number);
        }
    }

    fn drop_pack(&mut self, number: u64) {
        if let Some(kept) = self.packs.remove(&number) {
            self.bytes = self.bytes.saturating_sub(kept.bytes);
        }
    }

    /// Returns a new number of a pack.
    pub(crate) fn next_pack(&mut self) -> u64 {
        self.next_pack += 1;
        self.next_pack
    }

    pub(crate) fn has_pack(&self, number: u64) -> bool {
        self.packs.contains_key(&number)
    }

    /// Adds a pack that was just written, and uses each of its contents once. Its contents replace others of the same hash,
    /// which are damaged, or which another thread wrote meanwhile. Returns the packs that are no longer used.
    pub(crate) fn add_pack(&mut self, pack: &PackFile) -> Vec<u64> {
        let mut unused = Vec::new();
        self.bytes += pack.bytes;
        self.packs.insert(pack.number, Kept { bytes: pack.bytes, uses: 0 });
        for Packed { hash, size, at } in &pack.entries {
            let place = Place::Pack { number: pack.number, at: *at };
            let new = Held { size: *size, uses: 0, place, whole_at: None };
            let held = self.contents.entry(*hash).or_insert(new);
            let before = if held.uses > 0 { Some(held.place) } else { None };
            (held.place, held.whole_at) = (place, pack.changed_at);
            held.uses += 1;
            if let Some(kept) = self.packs.get_mut(&pack.number) {
                kept.uses += 1;
            }
            if let Some(Place::Pack { number, .. }) = before {
                unused.extend(self.end_pack_use(number));
            }
        }
        unused
    }

    /// Ends one use of a pack. Returns its number if it was the last.
    fn end_pack_use(&mut self, number: u64) -> Option<u64> {
        let kept = self.packs.get_mut(&number)?;
        kept.uses = kept.uses.saturating_sub(1);
        if kept.uses > 0 {
            return None;
        }
        self.drop_pack(number);
        Some(number)
    }

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
        let place = self.places.get(&hash).copied().unwrap_or(Place::Own);
        let held = self.contents.entry(hash).or_insert(Held { size, uses: 0, place, whole_at: None });
        held.uses += 1;
        if held.uses > 1 {
            return 0;
        }
        match held.place {
            Place::Own => self.bytes += held.size,
            // The bytes of the whole pack are counted.
            Place::Pack { number, .. } => {
                if let Some(kept) = self.packs.get_mut(&number) {
                    kept.uses += 1;
                }
            }
        }
        size
    }

    /// Ends one use. After the last one, the file of the contents goes, or their pack if it was the last of it.
    pub(crate) fn release(&mut self, hash: &Hash, removed: &mut Removed) {
        let Some(held) = self.contents.get_mut(hash) else { return };
        held.uses = held.uses.saturating_sub(1);
        if held.uses > 0 {
            return;
        }
        let (place, size) = (held.place, held.size);
        self.contents.remove(hash);
        match place {
            Place::Own => {
                self.bytes = self.bytes.saturating_sub(size);
                removed.contents.push(*hash);
            }
            Place::Pack { number, .. } => removed.packs.extend(self.end_pack_use(number)),
        }
    }

    /// The place of contents in use.
    pub(crate) fn place(&self, hash: &Hash) -> Option<Place> {
        self.contents.get(hash).map(|held| held.place)
    }

    pub(crate) fn is_held(&self, hash: &Hash) -> bool {
        self.contents.contains_key(hash)
    }

    /// The status time at which contents in use were known to be whole, and their place.
    pub(crate) fn whole_at(&self, hash: &Hash) -> Option<(Option<Time>, Place)> {
        self.contents.get(hash).map(|held| (held.whole_at, held.place))
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
        for hash in &known.contents {
            self.release(hash, removed);
        }
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
    use crate::manifest::{Row, Was};
    use crate::stat::Kind;

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
