//! Rule selection: enables and disables rules after loading, like Falco's `rules`.

use castellan_event::matches_star;

use crate::options::{Selected, Selection};
use crate::rule::Rule;

pub(crate) fn apply(selections: &[Selection], rules: &mut [Rule]) {
    for selection in selections {
        for rule in rules.iter_mut().filter(|rule| is_selected(&selection.of, rule)) {
            rule.enabled = selection.enable;
        }
    }
}

fn is_selected(of: &Selected, rule: &Rule) -> bool {
    match of {
        Selected::Rule(pattern) => matches_star(pattern, &rule.name),
        Selected::Tag(tag) => rule.tags.contains(tag),
    }
}
