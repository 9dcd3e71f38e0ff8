//! The matches of an engine in another process, with the meaning and the output that castellan's own engine gives them.

use std::collections::BTreeMap;

use castellan_event::CallRow;
use castellan_rules::{Matching, Part};

use super::{RuleMatch, Ruled};

/// `found`: for each row the numbers of the rules that match it, ascending. The number of a rule is its position among
/// the rules of all layers.
pub(super) fn matches<'p>(
    layers: &'p [Ruled],
    rows: &[CallRow<'_>],
    found: &[Vec<u64>],
) -> Vec<RuleMatch<'p>> {
    let mut all = Vec::new();
    let mut first = 0;
    for ruled in layers {
        let count = ruled.rules.rules().len();
        let of_layer = rows_by_rule(ruled, found, first..first + count);
        all.extend(of_layer.into_iter().filter_map(|(rule, positions)| {
            let row = rows.get(*positions.first()?)?;
            ruled.fired(ruled.rules.hit(rule, row)?, positions)
        }));
        first += count;
    }
    all
}

/// Returns the rules of a layer that take part and match, with the positions of the rows.
fn rows_by_rule(
    ruled: &Ruled,
    found: &[Vec<u64>],
    numbers: std::ops::Range<usize>,
) -> BTreeMap<usize, Vec<usize>> {
    let mut by_rule: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (position, matched) in found.iter().enumerate() {
        let own = matched.iter().filter_map(|number| usize::try_from(*number).ok());
        for rule in own.filter(|number| numbers.contains(number)).map(|number| number - numbers.start) {
            let part = ruled.part_of(rule);
            let is_enabled = ruled.rules.rules().get(rule).is_some_and(|rule| rule.enabled);
            if part == Part::Out || !is_enabled {
                continue;
            }
            by_rule.entry(rule).or_default().push(position);
            if part == Part::In && ruled.rules.matching() == Matching::First {
                break;
            }
        }
    }
    by_rule
}
