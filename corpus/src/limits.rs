//! [`check`]: ensures that tests cover every limit of a crate. Needs only `std`: each crate's tests include this file.

use std::collections::BTreeSet;

/// Compares the constants of a `limits.rs` (`source` is its text) with the tested and the exempt ones. `driven`: names
/// of constants, once for each test that reaches them. `exempt`: names, each with its reason or the test elsewhere.
///
/// # Panics
///
/// If a constant is in neither or both lists, if a list names no constant, or if a reason is missing.
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

/// Returns the name of the constant that a line declares.
fn name(line: &str) -> Option<&str> {
    let (before, rest) = line.trim_start().split_once("const ")?;
    let is_declaration = before.is_empty() || before.starts_with("pub") && before.ends_with(' ');
    let end = rest.find(':')?;
    rest.get(..end).filter(|name| is_declaration && !name.contains(['(', ' ']))
}
