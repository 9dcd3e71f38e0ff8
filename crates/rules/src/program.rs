//! Compiled rules: the values that they read, the predicates on them, and conditions over predicates. Equal values and
//! predicates are stored once for all rules, so that a row computes each at most once.

use std::sync::Arc;

use castellan_event::{Level, Value};

use crate::ast::{Function, Modifier, Op, Transformer};
use crate::networks::Networks;
use crate::pattern::{Glob, PathSet, Regex};

/// The values and predicates of a rule set.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) slots: Vec<Slot>,
    /// The finest level of the fields of each slot, once all slots exist.
    pub(crate) levels: Box<[Level]>,
    pub(crate) predicates: Vec<Predicate>,
    /// A slot has the level of the row. It differs between rows that share the call, though it describes the call.
    pub(crate) reads_level: bool,
}

/// The source of a value.
#[derive(Debug)]
pub(crate) enum Slot {
    /// Field number `field` of the catalogue, with the level of the rows that it describes.
    Field { field: usize, arg: Option<String>, level: Level },
    /// Another slot, transformed.
    Transformed { by: Transformer, slot: usize },
    /// A function of other slots.
    Function { by: Function, slots: Box<[usize]>, option: Option<String> },
    /// The same value on every row: a constant argument of a function.
    Constant(Value<'static>),
}

impl Program {
    /// Stores the level of each slot. No slot may be added later.
    pub(crate) fn note_levels(&mut self) {
        self.levels = (0..self.slots.len()).map(|slot| self.level(slot)).collect();
    }

    /// Returns the finest level of the fields of a slot.
    pub(crate) fn level(&self, slot: usize) -> Level {
        if let Some(level) = self.levels.get(slot) {
            return *level;
        }
        match self.slots.get(slot) {
            Some(Slot::Field { level, .. }) => *level,
            Some(Slot::Transformed { slot, .. }) => self.level(*slot),
            Some(Slot::Function { slots, .. }) => {
                slots.iter().map(|slot| self.level(*slot)).max().unwrap_or_default()
            }
            Some(Slot::Constant(_)) | None => Level::Call,
        }
    }
}

/// A test of one slot.
#[derive(Debug)]
pub(crate) struct Predicate {
    pub(crate) slot: usize,
    /// The finest level of the fields on both sides: on coarser rows the predicate is unknown.
    pub(crate) level: Level,
    pub(crate) test: Test,
}

impl Predicate {
    /// Drops the literals, which only the index build needs.
    pub(crate) fn forget_literals(&mut self) {
        if let Test::Regex(regex) = &mut self.test {
            regex.forget_literals();
        }
    }
}

/// A test of a value. An absent value fails every test.
#[derive(Debug)]
pub(crate) enum Test {
    Exists,
    /// Compares a number with a constant.
    Number(Order, u64),
    /// Tests numbers against a sorted set.
    NumberSet(Members<Box<[u64]>>),
    /// Tests a boolean against a set: contains `false`, contains `true`.
    BoolSet([bool; 2]),
    /// Compares a text with a constant.
    Text(Order, Box<[u8]>),
    Contains(Box<[u8]>),
    StartsWith(Box<[u8]>),
    EndsWith(Box<[u8]>),
    Glob(Glob),
    Regex(Box<Regex>),
    /// A pattern that Falco cannot compile: it loads, and never matches.
    Never,
    PathSet(Box<PathSet>),
    /// Tests texts against a set.
    TextSet(Members<TextSet>),
    /// Tests a list of booleans against a set: contains `false`, contains `true`.
    BoolList(Members<[bool; 2]>),
    /// Tests addresses and networks against a set, or against its complement.
    Networks {
        of: Box<Members<Networks>>,
        negated: bool,
    },
    /// Tests one value against each of several constants, with the number that must hold.
    Each(Modifier, Box<[Test]>),
    /// Compares with the value of another slot.
    Slot(Op, usize),
}

/// A set, and true if all of a list's elements must be in it (`in`), false for any (`intersects`).
#[derive(Debug)]
pub(crate) struct Members<S> {
    pub(crate) set: S,
    pub(crate) all: bool,
}

/// A sorted set of texts. Most sets are too small for a hash table to pay.
#[derive(Debug)]
pub(crate) struct TextSet {
    texts: Box<[Box<[u8]>]>,
}

impl TextSet {
    pub(crate) fn new<'t>(texts: impl IntoIterator<Item = &'t [u8]>) -> Self {
        let mut texts: Vec<Box<[u8]>> = texts.into_iter().map(Into::into).collect();
        texts.sort_unstable();
        texts.dedup();
        Self { texts: texts.into() }
    }

    pub(crate) fn contains(&self, text: &[u8]) -> bool {
        self.texts.binary_search_by(|known| (**known).cmp(text)).is_ok()
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.texts.iter().map(|text| &**text)
    }
}

/// A comparison by order; texts are ordered by their bytes.
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
    /// Returns the order of an operator, if it is a comparison by order.
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

/// A compiled condition in negation normal form. Only predicates are negated, so "unknown" is treated as false
/// everywhere, and the condition is true exactly when Kleene's logic makes it true. Its depth is limited like that of
/// the written condition.
#[derive(Debug, PartialEq)]
pub(crate) enum Condition {
    And(Box<[Condition]>),
    Or(Box<[Condition]>),
    /// Predicate number `predicate` holds; negated: it is known and does not hold.
    Literal {
        predicate: usize,
        negated: bool,
    },
    Const(bool),
}

/// A compiled output.
#[derive(Debug, Default)]
pub(crate) struct Template {
    pub(crate) parts: Vec<Part>,
    pub(crate) named: Arc<Named>,
}

/// The named values of an output, shared by rules with equal ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Named {
    /// The fields of the output, as written, with their slots.
    pub(crate) fields: Vec<(Arc<str>, usize)>,
    /// Further texts with names.
    pub(crate) texts: Vec<(Arc<str>, Arc<[Part]>)>,
}

/// A part of an output. It is small, because every rule has several.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    Text(Box<str>),
    /// The value of a slot; with a width, cut or padded to that many characters.
    Slot {
        slot: u32,
        width: Option<u16>,
    },
}
