//! The index: which rules of a set can match a row at all. A condition can only be true if at least one of some *atoms*
//! holds (a field has this value, a text contains this literal). Each rule is filed under the rarest such atoms; a row looks
//! its values up, searches all literals of a text in one pass, and only the rules filed under what it finds are tested.
//! Knows nothing of what rules say and of how they were written.

mod atoms;
mod build;
mod scan;

use std::collections::HashMap;

use castellan_event::{Level, Value};

use crate::bits::Bits;
use crate::eval::Evaluation;

pub(crate) use scan::{Found, Scan};

/// The index of a rule set. The empty one belongs to the empty set.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// How many rules there are.
    rules: usize,
    /// For rows of each level, coarsest first: a comparison with a finer field tells nothing there.
    levels: [Filed; Level::ALL.len()],
    /// Slots whose values are looked up.
    equal: Box<[Equal]>,
    /// Slots whose texts are searched.
    scans: Box<[Scan]>,
    /// The keys that each atom stands for.
    keys: Lists,
    key_count: usize,
    /// By predicate.
    shortcuts: Box<[Shortcut]>,
}

/// What rules are filed under, for rows of one level. A key is a predicate that a rule needs, with others or alone.
#[derive(Debug, Default)]
struct Filed {
    /// Rules that need nothing in particular: always tested.
    always: Vec<u32>,
    /// The rules of each key.
    rules: Lists,
    /// Whether rules are filed under a value of the slot, and under a literal of the scan.
    equal: Vec<bool>,
    scans: Vec<bool>,
}

/// The values that a slot is compared with, and their atoms.
#[derive(Debug)]
struct Equal {
    slot: usize,
    texts: HashMap<Box<[u8]>, u32>,
    numbers: HashMap<u64, u32>,
}

/// What a scan tells about a predicate.
#[derive(Debug, Default)]
pub(crate) enum Shortcut {
    #[default]
    None,
    /// It holds exactly if this literal of this scan was found.
    Holds { scan: u32, literal: u32 },
    /// It can hold only if of each clause one literal was found.
    Needs { scan: u32, clauses: Box<[Box<[u32]>]> },
}

/// Lists of numbers, one after the other in one allocation.
#[derive(Debug, Default)]
struct Lists {
    /// Where each list ends.
    ends: Box<[u32]>,
    all: Box<[u32]>,
}

impl Index {
    /// The rules that can match the row, ascending.
    pub(crate) fn candidates(&self, evaluation: &Evaluation<'_>, level: Level) -> Bits {
        let mut search =
            Search { index: self, keys: Bits::new(self.key_count), rules: Bits::new(self.rules) };
        let Some(filed) = self.levels.get(level as usize) else { return search.rules };
        for rule in &filed.always {
            search.rules.insert(*rule as usize);
        }
        for (equal, _) in self.equal.iter().zip(&filed.equal).filter(|(_, wanted)| **wanted) {
            search.look_up(filed, equal, evaluation.value(equal.slot));
        }
        for (number, (scan, _)) in
            self.scans.iter().zip(&filed.scans).enumerate().filter(|(_, (_, wanted))| **wanted)
        {
            for literal in evaluation.found(number).map(Found::literals).unwrap_or_default() {
                search.fire(filed, scan.atom(*literal));
            }
        }
        search.rules
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

/// The search for the rules of one row.
struct Search<'i> {
    index: &'i Index,
    /// The keys found so far.
    keys: Bits,
    rules: Bits,
}

impl Search<'_> {
    fn look_up(&mut self, filed: &Filed, equal: &Equal, value: &Value<'_>) {
        let atom = match value {
            Value::Text(text) => equal.texts.get(&**text),
            Value::U64(number) => equal.numbers.get(number),
            Value::List(all) => return all.iter().for_each(|one| self.look_up(filed, equal, one)),
            Value::Absent | Value::Bool(_) | Value::Ip(_) | Value::Net(_) => None,
        };
        if let Some(atom) = atom {
            self.fire(filed, *atom);
        }
    }

    /// Notes the rules that an atom stands for.
    fn fire(&mut self, filed: &Filed, atom: u32) {
        for key in self.index.keys.get(atom) {
            if self.keys.insert(*key as usize) {
                for rule in filed.rules.get(*key) {
                    self.rules.insert(*rule as usize);
                }
            }
        }
    }
}

impl Lists {
    /// Lists number 0 to `count` from pairs of list and member.
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
