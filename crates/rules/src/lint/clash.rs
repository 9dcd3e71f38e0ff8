//! Decides whether comparisons of one operand can all hold on one row. "Impossible" is certain; unknown comparisons
//! (lists, addresses, fields on the right side) are treated as possible. The constants give all values to try.

use std::collections::HashMap;

use castellan_event::FieldType;

use crate::ast::{Check, Modifier, Op, Right, Word};
use crate::catalogue::{Catalogue, ValueType};
use crate::check;
use crate::limits::CLASH_STEPS_MAX;
use crate::lint::normal::Literal;
use crate::pattern::{Glob, PathSet, Regex};
use crate::print;
use crate::program::Order;

/// Reports whether no row passes all these literals of one operand.
pub(super) fn is_impossible(literals: &[Literal<'_>], catalogue: &Catalogue<'_>) -> bool {
    // An absent operand passes every negated comparison.
    if literals.iter().all(|literal| !literal.positive) {
        return false;
    }
    let Some(ty) = literals.first().and_then(|literal| catalogue.type_of(&literal.check.left).ok()) else {
        return false;
    };
    if contradicts_itself(literals) || literals.iter().any(|literal| no_value_passes(*literal, ty)) {
        return true;
    }
    let known: Vec<(bool, Known<'_>)> = literals
        .iter()
        .filter_map(|literal| Some((literal.positive, Known::new(literal.check, ty)?)))
        .collect();
    let Some(candidates) = candidates(&known, ty) else { return parts_clash(&known) };
    let constants: usize = known.iter().map(|(_, known)| known.words.len().max(1)).sum();
    let passes =
        |value: &Candidate<'_>| known.iter().all(|(positive, known)| known.takes(value) == *positive);
    candidates.len().saturating_mul(constants) <= CLASH_STEPS_MAX && !candidates.iter().any(passes)
}

/// Reports whether a comparison is true for every value of its operand.
pub(super) fn takes_every_value(check: &Check, ty: ValueType) -> bool {
    let constant = match &check.right {
        Right::Value(word) => word.text.as_str(),
        Right::List(words) => match words.as_slice() {
            [only] => &only.text,
            _ => return false,
        },
        Right::Nothing => return check.op == Op::Exists,
        // Without a constant, no test can fail.
        Right::Each(Modifier::All, words) if words.is_empty() => return true,
        Right::Each(..) | Right::Val(_) | Right::Transformed(_) => return false,
    };
    match (ty.of, check.op, constant) {
        _ if ty.list => false,
        (FieldType::U64, Op::GreaterEqual, number) => number.bytes().all(|digit| digit == b'0'),
        (FieldType::Text, Op::Contains | Op::IContains | Op::StartsWith | Op::EndsWith, "")
        | (FieldType::Text, Op::Glob | Op::IGlob, "*")
        | (FieldType::Text, Op::PMatch, "/") => true,
        _ => false,
    }
}

/// Reports whether a comparison occurs both with and without `not`.
fn contradicts_itself(literals: &[Literal<'_>]) -> bool {
    let mut signs: HashMap<String, bool> = HashMap::new();
    literals.iter().any(|literal| {
        let sign = signs.entry(print::check(literal.check)).or_insert(literal.positive);
        *sign != literal.positive
    })
}

/// Reports whether a literal is false for every value of its operand.
fn no_value_passes(literal: Literal<'_>, ty: ValueType) -> bool {
    let check = literal.check;
    if !literal.positive {
        return takes_every_value(check, ty);
    }
    match &check.right {
        Right::List(words) => words.is_empty() && matches!(check.op, Op::In | Op::Intersects | Op::PMatch),
        Right::Value(word) => check.op == Op::Regex && Regex::new(&word.text).is_err(),
        Right::Nothing | Right::Each(..) | Right::Val(_) | Right::Transformed(_) => false,
    }
}

/// A comparison that can be evaluated for a value.
struct Known<'e> {
    op: Op,
    words: &'e [Word],
    /// Compiled once for all candidates.
    pattern: Pattern,
}

enum Pattern {
    None,
    Glob(Glob),
    Regex(Box<Regex>),
    Paths(PathSet),
}

/// A value to try.
enum Candidate<'e> {
    Text(&'e [u8]),
    Number(u64),
    Bool(bool),
}

impl<'e> Known<'e> {
    fn new(check: &'e Check, ty: ValueType) -> Option<Self> {
        let words = match &check.right {
            Right::Value(word) => std::slice::from_ref(word),
            // With one value on the left, `in` equals `intersects`. Other operators on lists are not evaluated.
            Right::List(words) if matches!(check.op, Op::In | Op::Intersects | Op::PMatch) => words,
            Right::Nothing if check.op == Op::Exists => &[],
            Right::Nothing | Right::List(_) | Right::Each(..) | Right::Val(_) | Right::Transformed(_) => {
                return None;
            }
        };
        let known_type = match ty.of {
            FieldType::Text => true,
            FieldType::U64 => words.iter().all(|word| check::number(word).is_ok()),
            FieldType::Bool => words.iter().all(|word| check::boolean(word).is_ok()),
            FieldType::Bytes | FieldType::Ip | FieldType::Net => false,
        };
        if ty.list || !known_type {
            return None;
        }
        let first = words.first().map(|word| word.text.as_str()).unwrap_or_default();
        let pattern = if check.op == Op::Glob {
            Pattern::Glob(Glob::new(first.as_bytes()))
        } else if check.op == Op::IGlob {
            Pattern::Glob(Glob::new(first.to_ascii_lowercase().as_bytes()))
        } else if check.op == Op::Regex {
            Pattern::Regex(Box::new(Regex::new(first).ok()?))
        } else if check.op == Op::PMatch {
            Pattern::Paths(PathSet::new(words.iter().map(|word| word.text.as_bytes())))
        } else {
            Pattern::None
        };
        Some(Self { op: check.op, words, pattern })
    }

    fn takes(&self, value: &Candidate<'_>) -> bool {
        if self.op == Op::Exists {
            return true;
        }
        match value {
            Candidate::Number(value) => self
                .words
                .iter()
                .filter_map(|word| check::number(word).ok())
                .any(|word| self.compares(value, &word)),
            Candidate::Bool(value) => self
                .words
                .iter()
                .filter_map(|word| check::boolean(word).ok())
                .any(|word| self.compares(value, &word)),
            Candidate::Text(value) => match &self.pattern {
                Pattern::Glob(glob) if self.op == Op::IGlob => glob.matches(&value.to_ascii_lowercase()),
                Pattern::Glob(glob) => glob.matches(value),
                Pattern::Regex(regex) => regex.matches(value),
                Pattern::Paths(paths) => paths.matches(value),
                Pattern::None => self.words.iter().any(|word| self.takes_text(value, word.text.as_bytes())),
            },
        }
    }

    /// Compares by order; a set by equality.
    fn compares<T: Ord + ?Sized>(&self, value: &T, word: &T) -> bool {
        Order::of(self.op).unwrap_or(Order::Equal).holds(value, word)
    }

    fn takes_text(&self, value: &[u8], word: &[u8]) -> bool {
        let contains = |value: &[u8], word: &[u8]| memchr::memmem::find(value, word).is_some();
        if self.op == Op::Contains {
            contains(value, word)
        } else if self.op == Op::IContains {
            contains(&value.to_ascii_lowercase(), &word.to_ascii_lowercase())
        } else if self.op == Op::StartsWith {
            value.starts_with(word)
        } else if self.op == Op::EndsWith {
            value.ends_with(word)
        } else {
            self.compares(value, word)
        }
    }
}

/// Returns values that include a passing value, if any value passes; `None` if the constants do not determine them.
fn candidates<'e>(known: &[(bool, Known<'e>)], ty: ValueType) -> Option<Vec<Candidate<'e>>> {
    match ty.of {
        FieldType::Bool => Some(vec![Candidate::Bool(false), Candidate::Bool(true)]),
        FieldType::U64 => {
            // Between two adjacent constants, nothing changes.
            let numbers =
                known.iter().flat_map(|(_, known)| known.words).filter_map(|word| check::number(word).ok());
            let near =
                numbers.flat_map(|number| [number.saturating_sub(1), number, number.saturating_add(1)]);
            Some(near.chain([0, u64::MAX]).map(Candidate::Number).collect())
        }
        FieldType::Text => {
            let named = |(positive, known): &&(bool, Known<'_>)| match positive {
                true => matches!(known.op, Op::Equal | Op::In | Op::Intersects),
                false => known.op == Op::NotEqual,
            };
            let (_, fewest) = known.iter().filter(named).min_by_key(|(_, known)| known.words.len())?;
            Some(fewest.words.iter().map(|word| Candidate::Text(word.text.as_bytes())).collect())
        }
        FieldType::Bytes | FieldType::Ip | FieldType::Net => None,
    }
}

/// Reports whether two tests of a text's parts clash: two prefixes or suffixes, or a part with a forbidden part in it.
fn parts_clash(known: &[(bool, Known<'_>)]) -> bool {
    let pairs = known
        .iter()
        .enumerate()
        .flat_map(|(at, one)| known.iter().skip(at + 1).map(move |other| (one, other)));
    pairs.take(CLASH_STEPS_MAX).any(|((sign, one), (other_sign, other))| match (sign, other_sign) {
        (true, true) => exclude(one, other),
        (true, false) => implies(one, other),
        (false, true) => implies(other, one),
        (false, false) => false,
    })
}

fn exclude(one: &Known<'_>, other: &Known<'_>) -> bool {
    let (Some(left), Some(right)) = (one.words.first(), other.words.first()) else { return false };
    let (left, right) = (left.text.as_bytes(), right.text.as_bytes());
    match (one.op, other.op) {
        (Op::StartsWith, Op::StartsWith) => !left.starts_with(right) && !right.starts_with(left),
        (Op::EndsWith, Op::EndsWith) => !left.ends_with(right) && !right.ends_with(left),
        _ => false,
    }
}

/// Reports whether every text that passes one test passes the other, whatever its other parts.
fn implies(one: &Known<'_>, other: &Known<'_>) -> bool {
    let Some(part) = one.words.first().map(|word| Candidate::Text(word.text.as_bytes())) else {
        return false;
    };
    match (one.op, other.op) {
        (Op::StartsWith, Op::StartsWith)
        | (Op::EndsWith, Op::EndsWith)
        | (Op::Contains | Op::StartsWith | Op::EndsWith, Op::Contains | Op::IContains)
        | (Op::IContains, Op::IContains) => other.takes(&part),
        _ => false,
    }
}
