//! What rules compile to: the values that they read, the predicates on them, and conditions over predicates. Every
//! distinct value and predicate is kept once for all rules, so that a row computes each at most once.

use std::collections::HashSet;

use memchr::memmem::Finder;

use crate::ast::{Op, Transformer};
use crate::pattern::{Glob, PathSet, Regex};

/// The values and predicates of a rule set.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) slots: Vec<Slot>,
    pub(crate) predicates: Vec<Predicate>,
}

/// Where a value comes from.
#[derive(Debug)]
pub(crate) enum Slot {
    /// Field number `field` of the catalogue.
    Field { field: usize, arg: Option<String> },
    /// Another slot, transformed.
    Transformed { by: Transformer, slot: usize },
}

/// A test of one slot.
#[derive(Debug)]
pub(crate) struct Predicate {
    pub(crate) slot: usize,
    pub(crate) test: Test,
}

/// What is tested. An absent value fails every test.
#[derive(Debug)]
pub(crate) enum Test {
    Exists,
    /// A number against a constant.
    Number(Order, u64),
    /// Numbers in a set.
    NumberSet(Members<HashSet<u64>>),
    /// A boolean in a set: of `false`, of `true`.
    BoolSet([bool; 2]),
    /// A text against a constant.
    Text(Order, Box<[u8]>),
    /// On the heap: a finder is five times the size of the others.
    Contains(Box<Finder<'static>>),
    StartsWith(Box<[u8]>),
    EndsWith(Box<[u8]>),
    Glob(Glob),
    Regex(Box<Regex>),
    /// A pattern that Falco cannot compile: it loads, and never matches.
    Never,
    PathSet(PathSet),
    /// Texts in a set.
    TextSet(Members<TextSet>),
    /// Against the value of another slot.
    Slot(Op, usize),
}

/// A set, and whether all of a list's elements must be in it (`in`) or any (`intersects`).
#[derive(Debug)]
pub(crate) struct Members<S> {
    pub(crate) set: S,
    pub(crate) all: bool,
}

/// A set of texts.
#[derive(Debug)]
pub(crate) struct TextSet {
    texts: HashSet<Box<[u8]>>,
    /// The lengths of its shortest and its longest: most texts need not be hashed.
    lengths: (usize, usize),
}

impl TextSet {
    pub(crate) fn new<'t>(texts: impl IntoIterator<Item = &'t [u8]>) -> Self {
        let texts: HashSet<Box<[u8]>> = texts.into_iter().map(Into::into).collect();
        let shortest = texts.iter().map(|text| text.len()).min().unwrap_or(usize::MAX);
        let longest = texts.iter().map(|text| text.len()).max().unwrap_or_default();
        Self { texts, lengths: (shortest, longest) }
    }

    pub(crate) fn contains(&self, text: &[u8]) -> bool {
        let (shortest, longest) = self.lengths;
        text.len() >= shortest && text.len() <= longest && self.texts.contains(text)
    }
}

/// A comparison by order; texts by their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
}

impl Order {
    /// The order of an operator, if it is one.
    pub(crate) fn of(op: Op) -> Option<Self> {
        const ORDERS: [(Op, Order); 6] = [
            (Op::Less, Order::Less),
            (Op::LessEqual, Order::LessEqual),
            (Op::Greater, Order::Greater),
            (Op::GreaterEqual, Order::GreaterEqual),
            (Op::Equal, Order::Equal),
            (Op::NotEqual, Order::NotEqual),
        ];
        ORDERS.iter().find(|(of, _)| *of == op).map(|(_, order)| *order)
    }

    pub(crate) fn holds<T: Ord + ?Sized>(self, left: &T, right: &T) -> bool {
        match self {
            Self::Less => left < right,
            Self::LessEqual => left <= right,
            Self::Greater => left > right,
            Self::GreaterEqual => left >= right,
            Self::Equal => left == right,
            Self::NotEqual => left != right,
        }
    }
}

/// A compiled condition. As deep as the written one, which is limited.
#[derive(Debug)]
pub(crate) enum Condition {
    And(Box<[Condition]>),
    Or(Box<[Condition]>),
    Not(Box<Condition>),
    /// The number of a predicate.
    Test(usize),
}

/// A compiled output.
#[derive(Debug, Default)]
pub(crate) struct Template {
    pub(crate) parts: Vec<Part>,
}

#[derive(Debug)]
pub(crate) enum Part {
    Text(String),
    /// The value of a slot; with a width, cut or padded to that many characters.
    Slot {
        slot: usize,
        width: Option<usize>,
    },
}
