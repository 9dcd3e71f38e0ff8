//! The step or arm that is nearest to a command outside of the plan: the same program with other arguments, else the
//! program with the nearest name.

use castellan_event::Command;

use crate::limits::{CANDIDATES_MAX, HEAD_BYTES_MAX};
use crate::plan::Plan;

/// Returns the nearest step, or the nearest command of a plan without steps. `None` if the plan has no commands.
pub(super) fn nearest(plan: &Plan, command: &Command) -> Option<String> {
    let name = command.name.as_deref().unwrap_or_default();
    let name = if plan.commands_of(name).next().is_some() { name } else { nearest_name(plan, name)? };
    // The first of those that agree most.
    let mut best = None;
    for pattern in plan.commands_of(name) {
        let agreement = pattern.agreement(&command.args);
        if best.is_none_or(|(most, _)| agreement > most) {
            best = Some((agreement, pattern));
        }
    }
    best.map(|(_, pattern)| plan.label_of(pattern))
}

fn nearest_name<'p>(plan: &'p Plan, name: &str) -> Option<&'p str> {
    let name = name.get(..name.floor_char_boundary(HEAD_BYTES_MAX)).unwrap_or_default();
    let mut best: Option<(usize, &str)> = None;
    for candidate in plan.names().take(CANDIDATES_MAX) {
        let start = candidate.get(..candidate.floor_char_boundary(HEAD_BYTES_MAX)).unwrap_or_default();
        // Two names differ at least by the difference of their lengths.
        let least = start.len().abs_diff(name.len());
        if best.is_some_and(|(distance, _)| least >= distance && name.is_ascii() && start.is_ascii()) {
            continue;
        }
        let distance = strsim::levenshtein(start, name);
        if best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}
