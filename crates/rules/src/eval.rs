//! Evaluates rules on rows. Each value is read and each predicate tested at most once a row, and only when a condition
//! needs it. Results for the common parts of rows, such as the call, are reused. It knows nothing of the text of rules.

mod results;
mod transform;

use std::cell::OnceCell;

use castellan_event::{Level, Row, Value};

use crate::ast::{Modifier, Op};
use crate::bits::Bits;
use crate::index::{Found, Index, RowValues, Searches, Shortcut};
use crate::limits::GLOB_BYTES_MAX;
use crate::pattern::Glob;
use crate::program::{Condition, Members, Order, Predicate, Program, Slot, Test};

use results::Results;

/// One row with the results for it.
pub(crate) struct Evaluation<'r> {
    program: &'r Program,
    index: &'r Index,
    row: &'r dyn Row,
    level: Level,
    values: Vec<OnceCell<Value<'r>>>,
    /// By scan of the index; `None` if the slot has no text.
    found: Vec<OnceCell<Option<Found>>>,
    results: Results,
    searches: Searches,
}

impl<'r> Evaluation<'r> {
    pub(crate) fn new(program: &'r Program, index: &'r Index, row: &'r dyn Row) -> Self {
        let values = std::iter::repeat_with(OnceCell::new).take(program.slots.len()).collect();
        let found = std::iter::repeat_with(OnceCell::new).take(index.scan_count()).collect();
        let results = Results::new(program.predicates.len());
        let searches = Searches::default();
        Self { program, index, row, level: row.level(), values, found, results, searches }
    }

    /// Moves to another row of the same kind, and keeps the results for the parts that both rows share.
    pub(crate) fn turn_to(&mut self, row: &'r dyn Row) {
        let (before, level) = (self.row, row.level());
        let coarser = self.level.min(level);
        let changes_level = self.program.reads_level && self.level != level;
        let is_same = |part: Level| {
            !changes_level
                && part <= coarser
                && before.part(part).is_some_and(|known| row.part(part) == Some(known))
        };
        (self.row, self.level) = (row, level);
        let Some(from) = Level::ALL.into_iter().find(|part| !is_same(*part)) else { return };
        for (value, level) in self.values.iter_mut().zip(&self.program.levels) {
            if *level >= from {
                value.take();
            }
        }
        for (scan, found) in self.found.iter_mut().enumerate() {
            if self.index.scan(scan).is_none_or(|scan| self.program.level(scan.slot()) >= from) {
                found.take();
            }
        }
        self.results.forget(from);
        self.searches.forget(from);
    }

    /// Returns the rules that can match, ascending.
    pub(crate) fn candidates(&mut self) -> Bits {
        let mut searches = std::mem::take(&mut self.searches);
        let rules = self.index.candidates(self, &mut searches, self.level);
        self.searches = searches;
        rules
    }

    /// Reports whether a condition is true. Evaluates from left to right, as far as needed.
    pub(crate) fn holds(&self, condition: &Condition) -> bool {
        match condition {
            Condition::And(all) => all.iter().all(|condition| self.holds(condition)),
            Condition::Or(all) => all.iter().any(|condition| self.holds(condition)),
            Condition::Literal { predicate, negated } => self.literal(*predicate, *negated),
            Condition::Const(value) => *value,
        }
    }

    /// Returns the value of a slot; absent when the slot is finer than the row.
    pub(crate) fn value(&self, slot: usize) -> &Value<'r> {
        match (self.values.get(slot), self.program.slots.get(slot)) {
            (Some(cell), Some(source)) => cell.get_or_init(|| present(self.read(source))),
            _ => &Value::Absent,
        }
    }

    fn read(&self, source: &'r Slot) -> Value<'r> {
        match source {
            Slot::Field { level, .. } if *level > self.level => Value::Absent,
            Slot::Field { field, arg, .. } => self.row.value(*field, arg.as_deref()),
            Slot::Transformed { by, slot } => transform::apply(*by, self.value(*slot)),
            Slot::Function { by, slots, option } => {
                let args: Vec<_> = slots.iter().map(|slot| self.value(*slot)).collect();
                transform::call(*by, &args, option.as_deref())
            }
            Slot::Constant(value) => value.clone(),
        }
    }

    /// Tests a literal. A predicate on a field finer than the row is unknown: neither it nor its negation is true.
    fn literal(&self, predicate: usize, negated: bool) -> bool {
        match self.program.predicates.get(predicate) {
            Some(found) if found.level <= self.level => self.test(predicate, found) != negated,
            _ => false,
        }
    }

    fn test(&self, index: usize, predicate: &Predicate) -> bool {
        if let Some(known) = self.results.get(index, predicate.level) {
            return known;
        }
        let result = self.test_now(index, predicate);
        self.results.set(index, result);
        result
    }

    fn test_now(&self, index: usize, predicate: &Predicate) -> bool {
        let contains =
            |scan: u32, literal: u32| self.found(scan as usize).is_some_and(|found| found.contains(literal));
        match self.index.shortcut(index) {
            Shortcut::Holds { scan, literal } => return contains(*scan, *literal),
            Shortcut::Needs { scan, clauses } => {
                let satisfied = |clause: &[u32]| clause.iter().any(|literal| contains(*scan, *literal));
                if !clauses.iter().all(|clause| satisfied(clause)) {
                    return false;
                }
            }
            Shortcut::None => {}
        }
        match (&predicate.test, self.value(predicate.slot)) {
            (_, Value::Absent) => false,
            (Test::Slot(op, right), value) => compare(*op, value, self.value(*right)),
            (test, value) => passes(test, value),
        }
    }
}

impl RowValues for Evaluation<'_> {
    fn value(&self, slot: usize) -> &Value<'_> {
        Evaluation::value(self, slot)
    }

    fn found(&self, scan: usize) -> Option<&Found> {
        let search = || {
            let scan = self.index.scan(scan)?;
            if let Value::Text(text) = self.value(scan.slot()) { Some(scan.search(text)) } else { None }
        };
        self.found.get(scan)?.get_or_init(search).as_ref()
    }
}

/// Applies a transformer, for the plain evaluator.
#[cfg(feature = "plain")]
pub(crate) fn transformed<'r>(by: crate::ast::Transformer, value: &Value<'r>) -> Value<'r> {
    transform::apply(by, value)
}

/// Calls a function, for the plain evaluator.
#[cfg(feature = "plain")]
pub(crate) fn called<'r>(by: crate::ast::Function, args: &[&Value<'r>], option: Option<&str>) -> Value<'r> {
    transform::call(by, args, option)
}

/// Makes an empty list absent, because it has no values.
fn present(value: Value<'_>) -> Value<'_> {
    if matches!(&value, Value::List(all) if all.is_empty()) { Value::Absent } else { value }
}

/// Reports whether a value passes a test; false for a value of another type than the test's.
fn passes(test: &Test, value: &Value<'_>) -> bool {
    match (test, value) {
        (_, Value::Absent) => false,
        (Test::Exists, _) => true,
        (Test::Each(modifier, tests), value) => each(*modifier, tests, value),
        (Test::BoolList(Members { set, all }), Value::List(list)) => {
            let passes = |one: &Value<'_>| passes(&Test::BoolSet(*set), one);
            if *all { list.iter().all(passes) } else { list.iter().any(passes) }
        }
        (Test::Networks { of, .. }, Value::List(list)) => {
            let passes = |one: &Value<'_>| passes(test, one);
            if of.all { list.iter().all(passes) } else { list.iter().any(passes) }
        }
        (Test::Networks { of, negated }, Value::Ip(address)) => of.set.contains(*address) != *negated,
        (Test::Networks { of, negated }, Value::Net(net)) => of.set.covers(*net) != *negated,
        (Test::Number(order, constant), Value::U64(number)) => order.holds(number, constant),
        (Test::NumberSet(Members { set, .. }), Value::U64(number)) => set.binary_search(number).is_ok(),
        (
            Test::NumberSet(Members { all: true, .. }) | Test::TextSet(Members { all: true, .. }),
            Value::List(list),
        ) => list.iter().all(|one| passes(test, one)),
        (Test::NumberSet(_) | Test::TextSet(_), Value::List(list)) => {
            list.iter().any(|one| passes(test, one))
        }
        (Test::BoolSet([with_false, with_true]), Value::Bool(value)) => {
            *if *value { with_true } else { with_false }
        }
        (test, Value::Text(text)) => text_passes(test, text),
        _ => false,
    }
}

/// Tests a value against each of several constants.
fn each(modifier: Modifier, tests: &[Test], value: &Value<'_>) -> bool {
    let mut passed = tests.iter().filter(|test| passes(test, value));
    match modifier {
        Modifier::Any => passed.next().is_some(),
        Modifier::All => passed.count() == tests.len(),
        Modifier::One => passed.next().is_some() && passed.next().is_none(),
    }
}

fn text_passes(test: &Test, text: &[u8]) -> bool {
    match test {
        Test::Text(order, constant) => order.holds(text, constant),
        Test::Contains(part) => contains(text, part),
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
        | Test::BoolList(_)
        | Test::Networks { .. }
        | Test::Each(..)
        | Test::Slot(..) => false,
    }
}

/// Compares two values of the same type.
fn compare(op: Op, left: &Value<'_>, right: &Value<'_>) -> bool {
    match (left, right) {
        (Value::Text(left), Value::Text(right)) => compare_texts(op, left, right),
        (Value::U64(left), Value::U64(right)) => compare_one(op, left, right),
        (Value::Bool(left), Value::Bool(right)) => compare_one(op, left, right),
        (Value::Ip(left), Value::Ip(right)) => compare_one(op, left, right),
        (Value::Net(left), Value::Net(right)) => (left == right) == (op != Op::NotEqual),
        (Value::List(left), Value::List(right)) => compare_lists(op, left, right),
        _ => false,
    }
}

fn compare_texts(op: Op, left: &[u8], right: &[u8]) -> bool {
    let folded = || (left.to_ascii_lowercase(), right.to_ascii_lowercase());
    match op {
        Op::Contains | Op::BContains => contains(left, right),
        Op::IContains => {
            let (left, right) = folded();
            contains(&left, &right)
        }
        Op::StartsWith | Op::BStartsWith => left.starts_with(right),
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
        | Op::Regex
        | Op::Intersects
        | Op::In
        | Op::PMatch => compare_one(op, left, right),
    }
}

/// Matches a glob from a field. A glob longer than any path is compared as text: matching it could take minutes.
fn matches_glob(text: &[u8], pattern: &[u8]) -> bool {
    if pattern.len() > GLOB_BYTES_MAX { text == pattern } else { Glob::new(pattern).matches(text) }
}

/// Compares by order; a set of one value (`in`, `intersects`) by equality.
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
