//! Conditions of a makefile. Rules of all branches are read; a variable has the values that the branches may have set.
//! Must not know the use of the values.

use std::collections::{BTreeMap, BTreeSet};

use castellan_event::Why;

use super::{Makefile, UNKNOWN, Variable, unquote};

/// Variables that one step compares.
const VARIABLES_PER_STEP: usize = 16;

type Variables = BTreeMap<String, Variable>;

/// The open conditions, the innermost last.
#[derive(Debug, Default)]
pub(super) struct Conditions(Vec<Condition>);

#[derive(Debug)]
struct Condition {
    /// The variables before it.
    before: Variables,
    /// The variables at the end of each branch that may be taken.
    branches: Vec<Variables>,
    /// The current branch is taken; `None` if that is unknown.
    holds: Option<bool>,
    /// A branch before, or this one, is certainly taken.
    is_settled: bool,
}

impl Makefile {
    /// Returns true if a condition holds; `None` if the makefile alone does not decide it.
    pub(super) fn holds(&mut self, word: &str, rest: &str) -> Option<bool> {
        if matches!(word, "ifdef" | "ifndef") {
            let name = self.expanded(rest.trim(), &BTreeMap::new());
            return match self.variables.get(&name) {
                Some(variable) if !variable.is_unsure && !variable.value.trim().is_empty() => {
                    Some(word == "ifdef")
                }
                // `ifndef` sets a default: a variable that nothing sets is treated as unset.
                None if word == "ifndef" => Some(true),
                Some(_) | None => None,
            };
        }
        let sides = sides(rest);
        let one = self.expanded_with(sides.0, &BTreeMap::new(), None);
        let two = self.expanded_with(sides.1, &BTreeMap::new(), None);
        let is_known = [&one, &two]
            .iter()
            .all(|side| !side.has_unset && !side.text.contains(UNKNOWN) && !unquote::is_files(&side.text));
        is_known.then_some((one.text == two.text) == (word == "ifeq"))
    }

    pub(super) fn open(&mut self, holds: Option<bool>) {
        self.pay();
        let before = self.variables.clone();
        let is_settled = holds == Some(true);
        self.conditions.0.push(Condition { before, branches: Vec::new(), holds, is_settled });
    }

    /// Handles `else` and `else ifeq ...`.
    pub(super) fn otherwise(&mut self, rest: &str) {
        let (word, condition) = rest
            .trim()
            .split_once([' ', '\t', '('])
            .map_or((rest.trim(), ""), |(word, _)| (word, rest.trim().get(word.len()..).unwrap_or_default()));
        let Some(mut open) = self.conditions.0.pop() else { return };
        self.pay();
        let variables = std::mem::replace(&mut self.variables, open.before.clone());
        if open.holds != Some(false) {
            open.branches.push(variables);
        }
        let own = if word.is_empty() { Some(true) } else { self.holds(word, condition) };
        open.holds = if open.is_settled { Some(false) } else { own };
        open.is_settled |= own == Some(true);
        self.conditions.0.push(open);
    }

    pub(super) fn close(&mut self) {
        let Some(mut open) = self.conditions.0.pop() else { return };
        self.pay();
        let variables = std::mem::take(&mut self.variables);
        if open.holds != Some(false) {
            open.branches.push(variables);
        }
        if !open.is_settled {
            open.branches.push(open.before);
        }
        self.variables = joined(open.branches);
    }

    /// Spends steps for a branch: each branch stores a copy of all variables.
    fn pay(&mut self) {
        let left = self.steps.checked_sub(1 + self.variables.len() / VARIABLES_PER_STEP);
        self.steps = left.unwrap_or_default();
        if left.is_none() {
            // All variables become unknown, and little remains to store.
            self.holes.push((Why::Budget, "conditions".to_owned()));
            self.variables.clear();
            self.conditions.0.iter_mut().for_each(|open| open.before.clear());
        }
    }
}

/// Returns the sides of a comparison: `(a,b)`, `"a" "b"`.
fn sides(rest: &str) -> (&str, &str) {
    let rest = rest.trim();
    if let Some(inner) = rest.strip_prefix('(') {
        let inner = inner.trim_end().strip_suffix(')').unwrap_or(inner);
        let mut depth = 0usize;
        for (at, one) in inner.char_indices() {
            match one {
                '(' | '{' => depth += 1,
                ')' | '}' => depth = depth.saturating_sub(1),
                ',' if depth == 0 => {
                    return (
                        inner.get(..at).unwrap_or_default().trim(),
                        inner.get(at + 1..).unwrap_or_default().trim(),
                    );
                }
                _ => {}
            }
        }
        return (inner, "");
    }
    let quote = rest.chars().next().filter(|one| matches!(one, '"' | '\''));
    let parts = quote.and_then(|quote| rest.get(1..)?.split_once(quote));
    let Some((one, two)) = parts else { return (rest, "") };
    (one, two.trim().trim_matches(['"', '\'']))
}

/// Returns variables that have one of their values in the branches.
fn joined(mut branches: Vec<Variables>) -> Variables {
    if branches.len() < 2 {
        return branches.pop().unwrap_or_default();
    }
    let names: BTreeSet<String> = branches.iter().flat_map(|one| one.keys().cloned()).collect();
    let of = |name: String| {
        let each: Vec<Option<&Variable>> = branches.iter().map(|one| one.get(&name)).collect();
        let first = each.first().copied().flatten();
        let variable = match first {
            Some(first) if each.iter().all(|one| *one == Some(first)) => first.clone(),
            Some(_) | None => one_of(&each),
        };
        (name, variable)
    };
    names.into_iter().map(of).collect()
}

fn one_of(each: &[Option<&Variable>]) -> Variable {
    let is_open = |one: &&Variable| one.is_unsure && one.choices.is_empty();
    let is_open = each.iter().flatten().any(is_open);
    let values = each.iter().flat_map(|one| one.map_or_else(|| vec![String::new()], Variable::values));
    let mut made = Variable::one_of(values.collect());
    if is_open {
        let all = each.iter().flatten().map(|one| one.value.as_str()).collect::<Vec<_>>();
        made = Variable { value: all.join(" "), is_unsure: true, ..Variable::default() };
    }
    made.may_be_unset = each.iter().any(|one| one.is_none_or(|one| one.may_be_unset));
    made
}
