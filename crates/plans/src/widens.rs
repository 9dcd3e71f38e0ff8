//! [`widens`]: compares two plans. It must not know calls.

use crate::plan::Plan;

/// Reports whether a new plan permits anything that the old one does not. Returns true if that is not sure. The order of
/// entries, the steps' texts and the name do not matter.
pub fn widens(old: &Plan, new: &Plan) -> bool {
    let (before, after) = (old.parts(), new.parts());
    let (from, to) = (old.scope(), new.scope());
    is_later(before.expires_s, after.expires_s)
        || is_later(before.budget.calls, after.budget.calls)
        || is_later(before.budget.minutes, after.budget.minutes)
        || has_more(&from.commands, &to.commands, |one, other| one.includes(other))
        || has_more(&from.writes, &to.writes, |one, other| one.includes(other))
        || has_more(&from.hosts, &to.hosts, |one, other| one.includes(other))
        || has_more(&from.branches, &to.branches, |one, other| one.includes(other))
}

/// Reports whether a limit is raised or gone.
fn is_later<T: Ord>(old: Option<T>, new: Option<T>) -> bool {
    old.is_some_and(|old| new.is_none_or(|new| new > old))
}

/// Reports whether a list has an entry that no entry of the old list includes, or is gone.
fn has_more<T>(old: &Option<Vec<T>>, new: &Option<Vec<T>>, includes: fn(&T, &T) -> bool) -> bool {
    let Some(old) = old else { return false };
    let Some(new) = new else { return true };
    !new.iter().all(|entry| old.iter().any(|known| includes(known, entry)))
}
