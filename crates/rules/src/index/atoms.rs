//! Necessary conditions of predicates, as atoms that are looked up for many predicates at once.

use crate::ast::Modifier;
use crate::pattern::Clause;
use crate::program::{Members, Order, Predicate, Test};

/// A fact that holds for a row or not.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Atom {
    /// The slot, or an element of its list, equals this text.
    Text(usize, Box<[u8]>),
    /// The slot, or an element of its list, equals this number.
    Number(usize, u64),
    /// The slot's text contains this literal, which is not empty.
    Literal(usize, Box<[u8]>),
}

impl Atom {
    /// Returns how likely the atom holds by chance, compared with an equality.
    pub(super) fn weight(&self) -> u64 {
        match self {
            Self::Text(..) | Self::Number(..) => 1,
            Self::Literal(_, text) => match text.len() {
                0 | 1 => 32,
                2 => 8,
                3 => 4,
                _ => 2,
            },
        }
    }
}

/// Returns clauses of atoms: the predicate holds only if an atom of each holds. Empty if nothing can be looked up.
pub(super) fn clauses(predicate: &Predicate) -> Vec<Vec<Atom>> {
    clauses_of(predicate.slot, &predicate.test)
}

fn clauses_of(slot: usize, test: &Test) -> Vec<Vec<Atom>> {
    let literal = |text: &[u8]| Atom::Literal(slot, text.into());
    let texts = |clause: &Clause| clause.iter().map(|text| literal(text)).collect();
    match test {
        Test::Text(Order::Equal, text) => vec![vec![Atom::Text(slot, text.clone())]],
        // All elements of a list must be in the set, and the list has at least one element.
        Test::TextSet(Members { set, .. }) => {
            vec![set.iter().map(|text| Atom::Text(slot, text.into())).collect()]
        }
        Test::Number(Order::Equal, number) => vec![vec![Atom::Number(slot, *number)]],
        Test::NumberSet(Members { set, .. }) => {
            vec![set.iter().map(|number| Atom::Number(slot, *number)).collect()]
        }
        Test::Contains(text) | Test::StartsWith(text) | Test::EndsWith(text) => vec![vec![literal(text)]],
        Test::Glob(glob) => glob.literals().iter().map(|run| vec![literal(run)]).collect(),
        Test::PathSet(set) => {
            set.literals().map(|all| all.iter().map(|text| literal(text)).collect()).into_iter().collect()
        }
        Test::Regex(regex) => regex.literals().iter().map(texts).collect(),
        Test::Each(Modifier::All, tests) => tests.iter().flat_map(|test| clauses_of(slot, test)).collect(),
        Test::Each(Modifier::Any | Modifier::One, tests) => {
            // At least one test passes, so one clause of each test is joined to one clause.
            let one = |test: &Test| clauses_of(slot, test).into_iter().next();
            let all: Option<Vec<_>> = tests.iter().map(one).collect();
            all.map(|all| all.concat()).into_iter().collect()
        }
        Test::Exists
        | Test::Number(..)
        | Test::BoolSet(_)
        | Test::Text(..)
        | Test::BoolList(_)
        | Test::Networks { .. }
        | Test::Never
        | Test::Slot(..) => Vec::new(),
    }
}
