//! The index: selects the rules of a set that can match a row. A condition can only be true if at least one of some
//! *atoms* holds (a field has this value, a text contains this literal). Each rule is filed under its rarest such
//! atoms. A row's values are looked up, and each text is searched once for all literals. Only the rules filed under the
//! found atoms are tested. It knows nothing of the text of rules.

mod atoms;
mod build;
mod scan;

use std::collections::HashMap;

use castellan_event::{Level, Value};
use rustc_hash::FxBuildHasher;

use crate::bits::Bits;

pub(crate) use scan::{Found, Scan};

/// The index of a rule set. The empty index belongs to the empty set.
#[derive(Debug, Default)]
pub(crate) struct Index {
    rules: usize,
    /// For rows of each level, coarsest first. A comparison with a finer field is unknown on such rows.
    levels: [Filed; Level::ALL.len()],
    /// Slots whose values are looked up.
    equal: Box<[Equal]>,
    /// Slots whose texts are searched.
    scans: Box<[Scan]>,
    /// The keys of each atom.
    keys: Lists,
    key_count: usize,
    /// By predicate.
    shortcuts: Box<[Shortcut]>,
}

/// Filing of rules for rows of one level. A key is a predicate that a rule needs, alone or as an alternative.
#[derive(Debug, Default)]
struct Filed {
    /// Rules without a key: always tested.
    always: Vec<u32>,
    /// The rules of each key.
    rules: Lists,
    /// Whether rules are filed under a value of the slot, or under a literal of the scan.
    equal: Vec<bool>,
    scans: Vec<bool>,
}

/// The constants that a slot is compared with, and their atoms.
#[derive(Debug)]
struct Equal {
    slot: usize,
    level: Level,
    texts: HashMap<Box<[u8]>, u32, FxBuildHasher>,
    /// The length of the longest text.
    longest: usize,
    numbers: HashMap<u64, u32, FxBuildHasher>,
}

/// The information of a scan about a predicate.
#[derive(Debug, Default)]
pub(crate) enum Shortcut {
    #[default]
    None,
    /// The predicate holds exactly if this scan found this literal.
    Holds { scan: u32, literal: u32 },
    /// The predicate can hold only if the scan found a literal of each clause.
    Needs { scan: u32, clauses: Box<[Box<[u32]>]> },
}

/// Lists of numbers, stored one after the other in one allocation.
#[derive(Debug, Default)]
struct Lists {
    /// The end of each list.
    ends: Box<[u32]>,
    all: Box<[u32]>,
}

/// The values of one row, as far as the index looks them up.
pub(crate) trait RowValues {
    /// Returns the value of a slot; absent when the slot is finer than the row.
    fn value(&self, slot: usize) -> &Value<'_>;

    /// Returns the result of a scan; `None` if its slot has no text.
    fn found(&self, scan: usize) -> Option<&Found>;
}

impl Index {
    /// Returns the rules that can match the row, ascending. Reuses earlier results for the row's coarser parts.
    pub(crate) fn candidates(&self, values: &impl RowValues, searches: &mut Searches, level: Level) -> Bits {
        let known = searches.of.get_mut(level as usize).zip(self.levels.get(level as usize));
        let Some((known, filed)) = known else { return Bits::default() };
        for part in Level::ALL.into_iter().filter(|part| *part <= level).skip(known.len()) {
            let search = match known.last() {
                Some(before) => before.clone(),
                None => self.begin(filed),
            };
            known.push(self.go_on(search, values, filed, part));
        }
        known.last().map(|search| search.rules.clone()).unwrap_or_default()
    }

    fn begin(&self, filed: &Filed) -> Search {
        let mut search = Search { keys: Bits::new(self.key_count), rules: Bits::new(self.rules) };
        for rule in &filed.always {
            search.rules.insert(*rule as usize);
        }
        search
    }

    /// Looks up the values of the fields of one level.
    fn go_on(&self, mut search: Search, values: &impl RowValues, filed: &Filed, part: Level) -> Search {
        let equal = self.equal.iter().zip(&filed.equal);
        for (equal, _) in equal.filter(|(equal, wanted)| **wanted && equal.level == part) {
            search.look_up(self, filed, equal, values.value(equal.slot));
        }
        let scans = self.scans.iter().zip(&filed.scans).enumerate();
        for (number, (scan, _)) in scans.filter(|(_, (scan, wanted))| **wanted && scan.level() == part) {
            for literal in values.found(number).map(Found::literals).unwrap_or_default() {
                search.fire(self, filed, scan.atom(*literal));
            }
        }
        search
    }

    pub(crate) fn shortcut(&self, predicate: usize) -> &Shortcut {
        self.shortcuts.get(predicate).unwrap_or(&Shortcut::None)
    }

    pub(crate) fn scan(&self, number: usize) -> Option<&Scan> {
        self.scans.get(number)
    }

    pub(crate) fn scan_count(&self) -> usize {
        self.scans.len()
    }
}

/// Results of searches on earlier rows.
#[derive(Debug, Default)]
pub(crate) struct Searches {
    /// By level of the row, then by its parts, coarsest first.
    of: [Vec<Search>; Level::ALL.len()],
}

impl Searches {
    /// Forgets the results for parts of this level and finer levels.
    pub(crate) fn forget(&mut self, from: Level) {
        self.of.iter_mut().for_each(|known| known.truncate(from as usize));
    }
}

/// The search for the rules of one row.
#[derive(Debug, Clone)]
struct Search {
    /// The keys found so far.
    keys: Bits,
    rules: Bits,
}

impl Search {
    fn look_up(&mut self, index: &Index, filed: &Filed, equal: &Equal, value: &Value<'_>) {
        let atom = match value {
            Value::Text(text) if text.len() > equal.longest => None,
            Value::Text(text) => equal.texts.get(&**text),
            Value::U64(number) => equal.numbers.get(number),
            Value::List(all) => return all.iter().for_each(|one| self.look_up(index, filed, equal, one)),
            Value::Absent | Value::Bool(_) | Value::Ip(_) | Value::Net(_) => None,
        };
        if let Some(atom) = atom {
            self.fire(index, filed, *atom);
        }
    }

    /// Adds the rules filed under an atom.
    fn fire(&mut self, index: &Index, filed: &Filed, atom: u32) {
        for key in index.keys.get(atom) {
            if self.keys.insert(*key as usize) {
                for rule in filed.rules.get(*key) {
                    self.rules.insert(*rule as usize);
                }
            }
        }
    }
}

impl Lists {
    /// Builds lists number 0 to `count` from pairs of list and member.
    fn new(count: usize, mut pairs: Vec<(u32, u32)>) -> Self {
        pairs.sort_unstable();
        pairs.dedup();
        let mut ends = vec![0; count];
        for (list, _) in &pairs {
            if let Some(len) = ends.get_mut(*list as usize) {
                *len += 1;
            }
        }
        let mut end = 0;
        for len in &mut ends {
            end += *len;
            *len = end;
        }
        Self { ends: ends.into(), all: pairs.into_iter().map(|(_, member)| member).collect() }
    }

    fn get(&self, list: u32) -> &[u32] {
        let list = list as usize;
        let start = list.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied());
        let range = start.zip(self.ends.get(list)).map(|(start, end)| start as usize..*end as usize);
        range.and_then(|range| self.all.get(range)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::Lists;

    #[test]
    fn lists_of_numbers() {
        let lists = Lists::new(4, vec![(2, 7), (0, 1), (2, 5), (0, 1)]);
        for (list, expected) in [(0, &[1][..]), (1, &[]), (2, &[5, 7]), (3, &[]), (9, &[])] {
            assert_eq!(lists.get(list), expected, "{list}");
        }
    }
}
