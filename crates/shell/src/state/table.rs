//! [`Table`]: a map with cheap copies. A change clones only the affected part. This module must not know the values.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::limits::ENTRIES_PER_WORK;
use crate::work::Work;

/// Parts of a table: with a thousand names, copying one part and copying the list of parts are both cheap.
const PARTS: usize = 32;

type Entries<T> = BTreeMap<Rc<str>, T>;

/// A map from names; copies share its parts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Table<T> {
    /// Empty while the table is empty; `None` for a part without names.
    parts: Rc<Vec<Part<T>>>,
}

type Part<T> = Option<Rc<Entries<T>>>;

impl<T> Clone for Table<T> {
    fn clone(&self) -> Table<T> {
        Table { parts: Rc::clone(&self.parts) }
    }
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table { parts: Rc::default() }
    }
}

impl<T: Clone> Table<T> {
    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        self.parts.get(part_of(name))?.as_ref()?.get(name)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.parts.iter().flatten().all(|part| part.is_empty())
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Rc<str>, &T)> {
        self.parts.iter().flatten().flat_map(|part| part.iter())
    }

    pub(crate) fn insert(&mut self, name: Rc<str>, value: T) {
        if let Some(entries) = self.part_mut(&name) {
            entries.insert(name, value);
        }
    }

    pub(crate) fn remove(&mut self, name: &str) {
        if self.contains(name)
            && let Some(entries) = self.part_mut(name)
        {
            entries.remove(name);
        }
    }

    /// Changes the value of a name; inserts `absent()` first if the name is missing.
    pub(crate) fn change(&mut self, name: &str, absent: impl FnOnce() -> T, change: impl FnOnce(&mut T)) {
        if let Some(entries) = self.part_mut(name) {
            change(entries.entry(name.into()).or_insert_with(absent));
        }
    }

    /// Returns a table with every value mapped.
    pub(crate) fn map(&self, change: impl Fn(&T) -> T) -> Table<T> {
        let changed = |part: &Rc<Entries<T>>| {
            Rc::new(part.iter().map(|(name, value)| (Rc::clone(name), change(value))).collect())
        };
        let parts = self.parts.iter().map(|part| part.as_ref().map(changed));
        Table { parts: Rc::new(parts.collect()) }
    }

    /// Joins two tables. `merge` computes the value of names that differ. `same` is a cheap test for equal values.
    pub(crate) fn join(
        &self,
        other: &Table<T>,
        work: &mut Work,
        same: impl Fn(&T, &T) -> bool,
        merge: impl Fn(Option<&T>, Option<&T>) -> T,
    ) -> Table<T> {
        if Rc::ptr_eq(&self.parts, &other.parts) {
            return self.clone();
        }
        let empty = Rc::default();
        let parts = (0..PARTS).map(|at| {
            let one = self.parts.get(at).and_then(Option::as_ref);
            let two = other.parts.get(at).and_then(Option::as_ref);
            let (one, two) = match (one, two) {
                (None, None) => return None,
                (Some(one), Some(two)) if Rc::ptr_eq(one, two) => return Some(Rc::clone(one)),
                (one, two) => (one.unwrap_or(&empty), two.unwrap_or(&empty)),
            };
            work.spend((one.len() + two.len()) as u64);
            let mut joined: Entries<T> = (**one).clone();
            for (name, second) in two.iter() {
                let first = one.get(name);
                if !first.is_some_and(|first| same(first, second)) {
                    joined.insert(Rc::clone(name), merge(first, Some(second)));
                }
            }
            for (name, first) in one.iter().filter(|(name, _)| !two.contains_key(*name)) {
                joined.insert(Rc::clone(name), merge(Some(first), None));
            }
            Some(Rc::new(joined))
        });
        Table { parts: Rc::new(parts.collect()) }
    }

    /// Returns true if both tables have the same names and values.
    pub(crate) fn alike(&self, other: &Table<T>, same: impl Fn(&T, &T) -> bool) -> bool {
        self.is(other)
            || self.len() == other.len()
                && self.iter().all(|(name, one)| other.get(name).is_some_and(|other| same(one, other)))
    }

    /// Returns the number of names.
    pub(crate) fn len(&self) -> usize {
        self.parts.iter().flatten().map(|part| part.len()).sum()
    }

    /// Returns the units of work for a change of this name: a part shared between copies is cloned.
    pub(crate) fn cost(&self, name: &str) -> u64 {
        let part = self.parts.get(part_of(name)).and_then(Option::as_ref);
        let part = part.filter(|part| Rc::strong_count(&self.parts) > 1 || Rc::strong_count(part) > 1);
        part.map_or(0, |part| part.len() as u64 / ENTRIES_PER_WORK)
    }

    fn part_mut(&mut self, name: &str) -> Option<&mut Entries<T>> {
        let parts = Rc::make_mut(&mut self.parts);
        if parts.is_empty() {
            parts.resize_with(PARTS, Option::default);
        }
        parts.get_mut(part_of(name)).map(|part| Rc::make_mut(part.get_or_insert_default()))
    }

    /// Returns true if both tables share the same storage.
    pub(crate) fn is(&self, other: &Table<T>) -> bool {
        Rc::ptr_eq(&self.parts, &other.parts)
    }
}

/// Selects a part by a hash of the name (FNV-1a); the upper bits of the hash depend on all letters. Names chosen to
/// collide in one part cost no more than a table without parts.
fn part_of(name: &str) -> usize {
    let hash =
        name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    (hash >> 16) as usize % PARTS
}
