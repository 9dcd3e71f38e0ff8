//! One pass over a text that finds all of many literals (Aho and Corasick). Its time is linear in the text and the
//! automaton, even for nested and overlapping literals.

use std::collections::HashSet;

use aho_corasick::automaton::Automaton;
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, BuildError, MatchKind};
use castellan_event::Level;

use crate::bits::Bits;

/// The literals that are searched in the text of one slot.
#[derive(Debug)]
pub(crate) struct Scan {
    slot: usize,
    level: Level,
    automaton: NFA,
    /// The atom of the first literal; the atoms of the others follow.
    first_atom: u32,
}

/// The literals that a text contains.
#[derive(Debug)]
pub(crate) struct Found {
    literals: Vec<u32>,
    bits: Bits,
}

/// A state that ends more literals than this is listed once per text. Listing fewer literals again is cheaper.
const LISTED_AGAIN_MAX: usize = 4;

impl Scan {
    /// Builds a scan. Literals must not be empty.
    pub(super) fn new(
        (slot, level): (usize, Level),
        literals: &[&[u8]],
        first_atom: u32,
    ) -> Result<Self, BuildError> {
        let automaton = NFA::builder().match_kind(MatchKind::Standard).prefilter(false).build(literals)?;
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
        let len = u32::try_from(self.automaton.patterns_len()).unwrap_or(u32::MAX);
        self.first_atom..self.first_atom.saturating_add(len)
    }

    pub(crate) fn search(&self, text: &[u8]) -> Found {
        let mut found = Found { literals: Vec::new(), bits: Bits::new(self.automaton.patterns_len()) };
        // This kind of automaton can start anywhere.
        let Ok(mut state) = self.automaton.start_state(Anchored::No) else { return found };
        let mut listed = HashSet::new();
        for byte in text {
            state = self.automaton.next_state(Anchored::No, state, *byte);
            if !self.automaton.is_special(state) || !self.automaton.is_match(state) {
                continue;
            }
            let ends = self.automaton.match_len(state);
            if ends > LISTED_AGAIN_MAX && !listed.insert(state) {
                continue;
            }
            for number in 0..ends {
                found.add(self.automaton.match_pattern(state, number).as_usize());
            }
        }
        found
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
        let nested: Vec<String> = (1..=200).map(|len| "a".repeat(len)).collect();
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
