//! `CASTELLAN_NEVER` and `CASTELLAN_ALWAYS`: a condition, or a part of one, with the same value on every row. An absent
//! field makes every comparison false and every negated comparison true. So `a = x or a != x` is not always true, and
//! `a = x or not a = x` is. On rows coarser than a field, "always" may be unknown, and "never" stays never.

use std::collections::HashMap;

use castellan_event::Level;

use crate::ast::{Op, Right};
use crate::limits::CLASH_PAIRS_MAX;
use crate::lint::Linted;
use crate::lint::clash;
use crate::lint::normal::{Literal, Normal};
use crate::print;
use crate::problem::Fault;

pub(super) fn check(rule: &Linted<'_>) -> Vec<Fault> {
    let mut judge = Judge { rule, reasons: Vec::new() };
    let whole = judge.part(&rule.normal);
    let mut faults: Vec<Fault> =
        rule.normal.literals().into_iter().filter_map(|literal| any_value(rule, literal)).collect();
    let level = rule.rule.level;
    for reason in judge.reasons {
        let decides = whole == Some(reason.always);
        if decides || !reason.placeholder {
            faults.push(reason.fault(decides, level));
        }
    }
    faults
}

/// The reason why a part is always or never true.
struct Reason<'e> {
    always: bool,
    literal: Literal<'e>,
    message: String,
    help: &'static str,
    /// The literal is an empty list, which other files may append to, or an invalid `regex`, which has its own warning.
    /// It is reported only if it decides the whole condition.
    placeholder: bool,
}

impl Reason<'_> {
    fn fault(&self, decides: bool, level: Level) -> Fault {
        let (code, word) =
            if self.always { ("CASTELLAN_ALWAYS", "always") } else { ("CASTELLAN_NEVER", "never") };
        let what = if decides { "the condition" } else { "a part of the condition" };
        let rows = match (self.always, level) {
            (true, Level::Command | Level::Effect | Level::Written) => {
                format!(" on rows of level {}", level.as_str())
            }
            (true, Level::Call) | (false, _) => String::new(),
        };
        let message = format!("{what} is {word} true{rows}: {}", self.message);
        Fault::new(code, self.literal.place(), message).help(self.help)
    }
}

struct Judge<'s> {
    rule: &'s Linted<'s>,
    reasons: Vec<Reason<'s>>,
}

impl<'s> Judge<'s> {
    /// Returns whether a part is always or never true; `None` for sometimes.
    fn part(&mut self, part: &'s Normal<'s>) -> Option<bool> {
        match part {
            Normal::All(parts) => self.chain(parts, false),
            Normal::Any(parts) => self.chain(parts, true),
            Normal::Literal(literal) => self.literal(*literal),
        }
    }

    /// Returns the value of a chain: one part that is always true decides an `or`, one that is never true an `and`.
    fn chain(&mut self, parts: &'s [Normal<'s>], decisive: bool) -> Option<bool> {
        let truths: Vec<Option<bool>> = parts.iter().map(|part| self.part(part)).collect();
        if truths.contains(&Some(decisive)) {
            return Some(decisive);
        }
        let literals = parts.iter().filter_map(|part| match part {
            Normal::Literal(literal) => Some(*literal),
            Normal::All(_) | Normal::Any(_) => None,
        });
        if let Some((first, last)) = self.clash(literals, decisive) {
            let (first, second) = (first.print(), last.print());
            let (message, help) = if decisive {
                (format!("`{first}` or `{second}`"), "remove both, or join them with `and`")
            } else {
                (format!("`{second}` is not true with `{first}`"), "remove one, or join them with `or`")
            };
            let reason = Reason { always: decisive, literal: last, message, help, placeholder: false };
            self.reasons.push(reason);
            return Some(decisive);
        }
        truths.iter().all(|truth| *truth == Some(!decisive)).then_some(!decisive)
    }

    fn literal(&mut self, literal: Literal<'s>) -> Option<bool> {
        let never = |literal| clash::is_impossible(&[literal], self.rule.catalogue);
        let always = if never(literal) {
            false
        } else if never(literal.negated()) {
            true
        } else {
            return None;
        };
        let check = literal.check;
        let placeholder =
            check.op == Op::Regex || matches!(&check.right, Right::List(words) if words.is_empty());
        let message = format!("`{}`", literal.print());
        self.reasons.push(Reason { always, literal, message, help: "remove this comparison", placeholder });
        Some(always)
    }

    /// Returns two literals on one operand that cannot hold together; literals of an `or` are negated first.
    fn clash(
        &self,
        literals: impl Iterator<Item = Literal<'s>>,
        decisive: bool,
    ) -> Option<(Literal<'s>, Literal<'s>)> {
        let mut by_operand: HashMap<String, Vec<Literal<'s>>> = HashMap::new();
        let mut order = Vec::new();
        for literal in literals {
            let operand = print::operand(&literal.check.left);
            let group = by_operand.entry(operand.clone()).or_default();
            if group.is_empty() {
                order.push(operand);
            }
            group.push(if decisive { literal.negated() } else { literal });
        }
        let groups = order.iter().filter_map(|operand| by_operand.get(operand));
        let mut clashing = groups.filter(|group| clash::is_impossible(group, self.rule.catalogue));
        let (first, last) = pair(clashing.next()?, self.rule)?;
        Some(if decisive { (first.negated(), last.negated()) } else { (first, last) })
    }
}

/// Returns two literals of a group that cannot hold together; the first and the last if it takes more than two.
fn pair<'e>(group: &[Literal<'e>], rule: &Linted<'_>) -> Option<(Literal<'e>, Literal<'e>)> {
    let pairs = group
        .iter()
        .enumerate()
        .flat_map(|(at, last)| group.iter().take(at).map(move |first| (*first, *last)));
    let mut clashing = pairs
        .take(CLASH_PAIRS_MAX)
        .filter(|(first, last)| clash::is_impossible(&[*first, *last], rule.catalogue));
    clashing.next().or_else(|| Some((*group.first()?, *group.last()?)))
}

/// Warns of a comparison that is true for every value, like `exists`.
fn any_value(rule: &Linted<'_>, literal: Literal<'_>) -> Option<Fault> {
    let ty = rule.catalogue.type_of(&literal.check.left).ok()?;
    if literal.check.op == Op::Exists || !clash::takes_every_value(literal.check, ty) {
        return None;
    }
    let message = format!("`{}` is always true if the field has a value", print::check(literal.check));
    Some(Fault::new("CASTELLAN_ALWAYS", literal.place(), message).help("write `exists` if you mean that"))
}
