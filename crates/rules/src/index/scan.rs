//! One pass over a text that finds which of many literals are in it (Aho and Corasick). Linear in the text and the
//! automaton, however the literals nest and overlap.

use std::collections::HashSet;

use aho_corasick::automaton::Automaton;
use aho_corasick::dfa::DFA;
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, BuildError, MatchKind, StartKind};
use castellan_event::Level;

use crate::bits::Bits;
use crate::limits::WHOLE_TABLE_BYTES_MAX;

/// The literals that are searched in the text of one slot.
#[derive(Debug)]
pub(crate) struct Scan {
    slot: usize,
    level: Level,
    automaton: Table,
    /// The atom of its first literal; those of the others follow.
    first_atom: u32,
}

/// How the literals are searched: in fewer steps by a table of every state and byte, while that stays small.
#[derive(Debug)]
enum Table {
    Whole(DFA),
    Sparse(NFA),
}

/// The literals that a text contains.
#[derive(Debug)]
pub(crate) struct Found {
    literals: Vec<u32>,
    bits: Bits,
}

/// A state that ends more literals than this is listed once for each text, fewer are cheaper to list again.
const LISTED_AGAIN_MAX: usize = 4;

impl Scan {
    /// Literals must not be empty.
    pub(super) fn new(
        (slot, level): (usize, Level),
        literals: &[&[u8]],
        first_atom: u32,
    ) -> Result<Self, BuildError> {
        let bytes: usize = literals.iter().map(|literal| literal.len()).sum();
        let automaton = if bytes <= WHOLE_TABLE_BYTES_MAX {
            let builder = &mut DFA::builder();
            builder.match_kind(MatchKind::Standard).start_kind(StartKind::Unanchored).prefilter(false);
            Table::Whole(builder.build(literals)?)
        } else {
            Table::Sparse(NFA::builder().match_kind(MatchKind::Standard).prefilter(false).build(literals)?)
        };
        Ok(Self { slot, level, automaton, first_atom })
    }

    pub(crate) fn slot(&self) -> usize {
        self.slot
    }

    pub(super) fn level(&self) -> Level {
        self.level
    }

    pub(super) fn atom(&self, literal: u32) -> u32 {
        self.first_atom.saturating_add(literal)
    }

    pub(super) fn atoms(&self) -> std::ops::Range<u32> {
        let len = u32::try_from(self.automaton.literals()).unwrap_or(u32::MAX);
        self.first_atom..self.first_atom.saturating_add(len)
    }

    /// Searches a text.
    pub(crate) fn search(&self, text: &[u8]) -> Found {
        let mut found = Found { literals: Vec::new(), bits: Bits::new(self.automaton.literals()) };
        match &self.automaton {
            Table::Whole(automaton) => search(automaton, text, &mut found),
            Table::Sparse(automaton) => search(automaton, text, &mut found),
        }
        found
    }
}

fn search(automaton: &impl Automaton, text: &[u8], found: &mut Found) {
    // An automaton that is built as these searches from anywhere.
    let Ok(mut state) = automaton.start_state(Anchored::No) else { return };
    let mut listed = HashSet::new();
    for byte in text {
        state = automaton.next_state(Anchored::No, state, *byte);
        if !automaton.is_special(state) || !automaton.is_match(state) {
            continue;
        }
        let ends = automaton.match_len(state);
        if ends > LISTED_AGAIN_MAX && !listed.insert(state) {
            continue;
        }
        for number in 0..ends {
            found.add(automaton.match_pattern(state, number).as_usize());
        }
    }
}

impl Table {
    fn literals(&self) -> usize {
        match self {
            Self::Whole(automaton) => automaton.patterns_len(),
            Self::Sparse(automaton) => automaton.patterns_len(),
        }
    }
}

impl Found {
    pub(crate) fn literals(&self) -> &[u32] {
        &self.literals
    }

    pub(crate) fn contains(&self, literal: u32) -> bool {
        self.bits.contains(literal as usize)
    }

    fn add(&mut self, literal: usize) {
        if self.bits.insert(literal) {
            self.literals.extend(u32::try_from(literal));
        }
    }
}

#[cfg(test)]
mod tests {
    use castellan_event::Level;

    use super::Scan;

    #[test]
    fn finds_every_literal_however_they_nest() {
        finds_every(200);
        finds_every(20);
    }

    /// So many literals, each in the next; many of them are searched by the sparse table.
    fn finds_every(nested: usize) {
        let nested: Vec<String> = (1..=nested).map(|len| "a".repeat(len)).collect();
        let mut literals: Vec<&[u8]> = nested.iter().map(|text| text.as_bytes()).collect();
        literals.extend([b"ba".as_slice(), b"aab", b"x"]);
        let scan = Scan::new((0, Level::Call), &literals, 0).unwrap();
        let texts = ["", "a", "aaaab", "baaa", "bbbb", "xaxaax"]
            .into_iter()
            .map(str::to_owned)
            .chain(["a".repeat(5_000)]);
        for text in texts {
            let found = scan.search(text.as_bytes());
            for (number, literal) in literals.iter().enumerate() {
                let expected = memchr::memmem::find(text.as_bytes(), literal).is_some();
                let number = u32::try_from(number).unwrap();
                assert_eq!(found.contains(number), expected, "{literal:?} in {text}");
                assert_eq!(found.literals().contains(&number), expected, "{literal:?} in {text}");
            }
        }
    }
}
