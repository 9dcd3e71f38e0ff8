//! Rules on a row. Each value is read and each predicate tested at most once a row, and only when a condition asks for it.
//! Knows nothing of how rules were written.

mod transform;

use std::cell::{Cell, OnceCell};

use castellan_event::{Row, Value};

use crate::ast::Op;
use crate::limits::GLOB_BYTES_MAX;
use crate::pattern::Glob;
use crate::program::{Condition, Members, Order, Program, Slot, Test};

/// One row with what has been found out about it.
pub(crate) struct Evaluation<'r> {
    program: &'r Program,
    row: &'r dyn Row,
    values: Vec<OnceCell<Value<'r>>>,
    results: Vec<Cell<Option<bool>>>,
}

impl<'r> Evaluation<'r> {
    pub(crate) fn new(program: &'r Program, row: &'r dyn Row) -> Self {
        let values = std::iter::repeat_with(OnceCell::new).take(program.slots.len()).collect();
        let results = vec![Cell::new(None); program.predicates.len()];
        Self { program, row, values, results }
    }

    /// Whether a condition holds: left to right, as far as needed.
    pub(crate) fn holds(&self, condition: &Condition) -> bool {
        match condition {
            Condition::And(all) => all.iter().all(|condition| self.holds(condition)),
            Condition::Or(all) => all.iter().any(|condition| self.holds(condition)),
            Condition::Not(inner) => !self.holds(inner),
            Condition::Test(index) => self.test(*index),
        }
    }

    /// The value of a slot.
    pub(crate) fn value(&self, slot: usize) -> &Value<'r> {
        match (self.values.get(slot), self.program.slots.get(slot)) {
            (Some(cell), Some(source)) => cell.get_or_init(|| present(self.read(source))),
            _ => &Value::Absent,
        }
    }

    fn read(&self, source: &'r Slot) -> Value<'r> {
        match source {
            Slot::Field { field, arg } => self.row.value(*field, arg.as_deref()),
            Slot::Transformed { by, slot } => transform::apply(*by, self.value(*slot)),
        }
    }

    fn test(&self, index: usize) -> bool {
        let (Some(known), Some(predicate)) = (self.results.get(index), self.program.predicates.get(index))
        else {
            return false;
        };
        if let Some(result) = known.get() {
            return result;
        }
        let value = self.value(predicate.slot);
        let result = match (&predicate.test, value) {
            (_, Value::Absent) => false,
            (Test::Slot(op, right), value) => compare(*op, value, self.value(*right)),
            (test, value) => passes(test, value),
        };
        known.set(Some(result));
        result
    }
}

/// An empty list has no values: it is absent.
fn present(value: Value<'_>) -> Value<'_> {
    let empty = match &value {
        Value::TextList(all) => all.is_empty(),
        Value::U64List(all) => all.is_empty(),
        Value::Absent | Value::Text(_) | Value::U64(_) | Value::Bool(_) => false,
    };
    if empty { Value::Absent } else { value }
}

/// Whether a value passes a test; never when its type is not the one that the test was compiled for.
fn passes(test: &Test, value: &Value<'_>) -> bool {
    match (test, value) {
        (_, Value::Absent) => false,
        (Test::Exists, _) => true,
        (Test::Number(order, constant), Value::U64(number)) => order.holds(number, constant),
        (Test::NumberSet(Members { set, .. }), Value::U64(number)) => set.contains(number),
        (Test::NumberSet(Members { set, all: true }), Value::U64List(list)) => {
            list.iter().all(|one| set.contains(one))
        }
        (Test::NumberSet(Members { set, all: false }), Value::U64List(list)) => {
            list.iter().any(|one| set.contains(one))
        }
        (Test::BoolSet([with_false, with_true]), Value::Bool(value)) => {
            *if *value { with_true } else { with_false }
        }
        (Test::TextSet(Members { set, all: true }), Value::TextList(list)) => {
            list.iter().all(|one| set.contains(one))
        }
        (Test::TextSet(Members { set, all: false }), Value::TextList(list)) => {
            list.iter().any(|one| set.contains(one))
        }
        (test, Value::Text(text)) => text_passes(test, text),
        _ => false,
    }
}

fn text_passes(test: &Test, text: &[u8]) -> bool {
    match test {
        Test::Text(order, constant) => order.holds(text, constant),
        Test::Contains(finder) => finder.find(text).is_some(),
        Test::StartsWith(start) => text.starts_with(start),
        Test::EndsWith(end) => text.ends_with(end),
        Test::Glob(glob) => glob.matches(text),
        Test::Regex(regex) => regex.matches(text),
        Test::PathSet(set) => set.matches(text),
        Test::TextSet(Members { set, .. }) => set.contains(text),
        Test::Never
        | Test::Exists
        | Test::Number(..)
        | Test::NumberSet(_)
        | Test::BoolSet(_)
        | Test::Slot(..) => false,
    }
}

/// Compares two values of the same type.
fn compare(op: Op, left: &Value<'_>, right: &Value<'_>) -> bool {
    match (left, right) {
        (Value::Text(left), Value::Text(right)) => compare_texts(op, left, right),
        (Value::U64(left), Value::U64(right)) => compare_one(op, left, right),
        (Value::Bool(left), Value::Bool(right)) => compare_one(op, left, right),
        (Value::TextList(left), Value::TextList(right)) => compare_lists(op, left, right),
        (Value::U64List(left), Value::U64List(right)) => compare_lists(op, left, right),
        _ => false,
    }
}

fn compare_texts(op: Op, left: &[u8], right: &[u8]) -> bool {
    let folded = || (left.to_ascii_lowercase(), right.to_ascii_lowercase());
    match op {
        Op::Contains => contains(left, right),
        Op::IContains => {
            let (left, right) = folded();
            contains(&left, &right)
        }
        Op::StartsWith => left.starts_with(right),
        Op::EndsWith => left.ends_with(right),
        Op::Glob => matches_glob(left, right),
        Op::IGlob => {
            let (left, right) = folded();
            matches_glob(&left, &right)
        }
        Op::Exists
        | Op::LessEqual
        | Op::Less
        | Op::GreaterEqual
        | Op::Greater
        | Op::Equal
        | Op::NotEqual
        | Op::BContains
        | Op::BStartsWith
        | Op::Regex
        | Op::Intersects
        | Op::In
        | Op::PMatch => compare_one(op, left, right),
    }
}

/// A glob that comes from a field. One longer than any path is compared as it is: matching it could take minutes.
fn matches_glob(text: &[u8], pattern: &[u8]) -> bool {
    if pattern.len() > GLOB_BYTES_MAX { text == pattern } else { Glob::new(pattern).matches(text) }
}

/// By order; a set of one value (`in`, `intersects`) by equality.
fn compare_one<T: Ord + ?Sized>(op: Op, left: &T, right: &T) -> bool {
    Order::of(op).unwrap_or(Order::Equal).holds(left, right)
}

fn compare_lists<T: PartialEq>(op: Op, left: &[T], right: &[T]) -> bool {
    if op == Op::In {
        left.iter().all(|one| right.contains(one))
    } else {
        left.iter().any(|one| right.contains(one))
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(text, part).is_some()
}

impl std::fmt::Debug for Evaluation<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Evaluation").field("values", &self.values).finish_non_exhaustive()
    }
}
