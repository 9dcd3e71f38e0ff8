//! [`check`]: that no limit of a crate is forgotten by the tests. It needs nothing but `std`: the tests of each crate include this file
//! by its path.

use std::collections::BTreeSet;

/// Compares the constants of a `limits.rs` with those that tests drive and those that are left out for a reason, and panics
/// where a constant is in neither list, in both, or where a list names none. `source`: the text of the file. `driven`: names of
/// constants, each as often as a test reaches it. `exempt`: names, with the reason or the test elsewhere that drives them.
///
/// # Panics
///
/// When the lists and the file differ, or a reason is missing.
pub fn check<'n>(source: &str, driven: impl IntoIterator<Item = &'n str>, exempt: &[(&str, &str)]) {
    let constants: BTreeSet<&str> = source.lines().filter_map(name).collect();
    let driven: BTreeSet<&str> = driven.into_iter().collect();
    let left_out: BTreeSet<&str> = exempt.iter().map(|(name, _)| *name).collect();
    assert!(exempt.iter().all(|(_, reason)| reason.len() > 20), "an exemption has no reason");
    let named: BTreeSet<&str> = driven.union(&left_out).copied().collect();
    let wrong: Vec<&&str> =
        constants.symmetric_difference(&named).chain(driven.intersection(&left_out)).collect();
    assert!(wrong.is_empty(), "limits without a test, named twice, or not there: {wrong:?}");
}

/// The name of the constant that a line declares.
fn name(line: &str) -> Option<&str> {
    let (before, rest) = line.trim_start().split_once("const ")?;
    let is_declaration = before.is_empty() || before.starts_with("pub") && before.ends_with(' ');
    let end = rest.find(':')?;
    rest.get(..end).filter(|name| is_declaration && !name.contains(['(', ' ']))
}
