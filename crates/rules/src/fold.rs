//! Simplifies conditions: folds constants, flattens chains, and orders children by their cost. Comparisons have no side
//! effects, so the order changes only the time. It knows nothing of rows.

use castellan_event::Level;

use crate::ast::Op;
use crate::program::{Condition, Members, Predicate, Program, Slot, Test};

/// Returns a literal, or its constant value.
pub(crate) fn literal(program: &Program, predicate: usize, negated: bool) -> Condition {
    let found = program.predicates.get(predicate);
    match found.filter(|found| never_passes(&found.test)) {
        // If the predicate is unknown, the literal is false too.
        Some(_) if !negated => Condition::Const(false),
        // Every row has the fields of a call. On finer fields, the negation may still be unknown.
        Some(Predicate { level: Level::Call, .. }) => Condition::Const(true),
        _ => Condition::Literal { predicate, negated },
    }
}

pub(crate) fn and(all: Vec<Condition>) -> Condition {
    chain(all, false)
}

pub(crate) fn or(all: Vec<Condition>) -> Condition {
    chain(all, true)
}

/// Returns a simpler test that passes the same values.
pub(crate) fn test(test: Test) -> Test {
    let is_everything = if let Test::Contains(part) | Test::StartsWith(part) | Test::EndsWith(part) = &test {
        part.is_empty()
    } else {
        matches!(&test, Test::Glob(glob) if glob.matches_everything())
    };
    if is_everything { Test::Exists } else { test }
}

/// Puts cheap children before expensive ones, at every depth. Returns the cost of the whole.
pub(crate) fn order(condition: &mut Condition, program: &Program) -> u32 {
    match condition {
        Condition::And(all) | Condition::Or(all) => {
            let mut costs: Vec<(u32, Condition)> = std::mem::take(all)
                .into_iter()
                .map(|mut child| (order(&mut child, program), child))
                .collect();
            costs.sort_by_key(|(cost, _)| *cost);
            let sum = costs.iter().fold(0, |sum: u32, (cost, _)| sum.saturating_add(*cost));
            *all = costs.into_iter().map(|(_, child)| child).collect();
            sum
        }
        Condition::Literal { predicate, .. } => {
            program.predicates.get(*predicate).map_or(0, |found| cost(found, program))
        }
        Condition::Const(_) => 0,
    }
}

/// Returns a chain. A child with the constant `decisive` decides it: `true` in a disjunction, `false` in a conjunction.
fn chain(all: Vec<Condition>, decisive: bool) -> Condition {
    let mut flat = Vec::with_capacity(all.len());
    for child in all {
        match child {
            Condition::Const(value) if value == decisive => return Condition::Const(decisive),
            Condition::Const(_) => {}
            Condition::Or(inner) if decisive => flat.extend(inner),
            Condition::And(inner) if !decisive => flat.extend(inner),
            Condition::And(_) | Condition::Or(_) | Condition::Literal { .. } => flat.push(child),
        }
    }
    match flat.pop() {
        None => Condition::Const(!decisive),
        Some(only) if flat.is_empty() => only,
        Some(last) => {
            flat.push(last);
            if decisive { Condition::Or(flat.into()) } else { Condition::And(flat.into()) }
        }
    }
}

fn never_passes(test: &Test) -> bool {
    match test {
        Test::Never | Test::BoolSet([false, false]) => true,
        Test::NumberSet(Members { set, .. }) => set.is_empty(),
        Test::TextSet(Members { set, .. }) => set.iter().len() == 0,
        Test::Glob(glob) => glob.matches_nothing(),
        Test::PathSet(set) => set.is_empty(),
        Test::Exists
        | Test::Number(..)
        | Test::BoolSet(_)
        | Test::Text(..)
        | Test::Contains(_)
        | Test::StartsWith(_)
        | Test::EndsWith(_)
        | Test::Regex(_)
        | Test::BoolList(_)
        | Test::Networks { .. }
        | Test::Each(..)
        | Test::Slot(..) => false,
    }
}

/// Returns the cost of a predicate, in comparisons of short texts. Only the order of the numbers matters.
fn cost(predicate: &Predicate, program: &Program) -> u32 {
    let value: u32 = match program.slots.get(predicate.slot) {
        Some(Slot::Transformed { .. } | Slot::Function { .. }) => 4,
        Some(Slot::Field { .. } | Slot::Constant(_)) | None => 0,
    };
    value.saturating_add(cost_of_test(&predicate.test))
}

fn cost_of_test(test: &Test) -> u32 {
    match test {
        Test::Exists | Test::Number(..) | Test::BoolSet(_) | Test::Never => 1,
        Test::Text(..) | Test::StartsWith(_) | Test::EndsWith(_) | Test::NumberSet(_) => 2,
        // The index searches for all of them at once.
        Test::Contains(_) => 2,
        Test::TextSet(_) | Test::BoolList(_) => 3,
        Test::Slot(Op::Glob | Op::IGlob, _) => 20,
        Test::Slot(..) | Test::Networks { .. } => 6,
        Test::Glob(_) | Test::PathSet(_) => 10,
        Test::Regex(_) => 100,
        Test::Each(_, tests) => tests.iter().map(cost_of_test).fold(0, u32::saturating_add),
    }
}

#[cfg(test)]
mod tests {
    use super::{and, or};
    use crate::program::Condition;

    #[test]
    fn constants_and_chains() {
        let a = || Condition::Literal { predicate: 0, negated: false };
        let b = || Condition::Literal { predicate: 1, negated: true };
        for (folded, expected) in [
            (and(vec![]), Condition::Const(true)),
            (or(vec![]), Condition::Const(false)),
            (and(vec![a(), Condition::Const(true)]), a()),
            (and(vec![a(), Condition::Const(false)]), Condition::Const(false)),
            (or(vec![a(), Condition::Const(true)]), Condition::Const(true)),
            (or(vec![a(), Condition::Const(false)]), a()),
            (and(vec![and(vec![a(), b()]), a()]), Condition::And([a(), b(), a()].into())),
            (or(vec![a(), or(vec![b(), a()])]), Condition::Or([a(), b(), a()].into())),
        ] {
            assert_eq!(folded, expected);
        }
    }
}
