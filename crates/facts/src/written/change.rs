//! The contents of a file after replacements. This module must not access files.

use std::rc::Rc;

use castellan_event::{Replacement, Why};

/// Applies replacements. The old text must occur once, or `everywhere` must be set, or the tool's result is unknown.
pub(super) fn edited(before: Result<Rc<str>, Why>, replacements: &[Replacement]) -> Result<Rc<str>, Why> {
    let mut text = match before {
        Ok(text) => text.to_string(),
        // A tool that replaces nothing in a missing file creates the file.
        Err(Why::Unresolved) if replacements.iter().all(|one| one.old.is_empty()) => String::new(),
        Err(Why::Unresolved) => return Err(Why::File),
        Err(why) => return Err(why),
    };
    for Replacement { old, new, everywhere } in replacements {
        let found = if old.is_empty() { 0 } else { text.matches(old.as_str()).take(2).count() };
        text = match (found, everywhere) {
            (0, _) if old.is_empty() => text + new,
            (1.., true) => text.replace(old.as_str(), new),
            (1, false) => text.replacen(old.as_str(), new, 1),
            _ => return Err(Why::File),
        };
    }
    Ok(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_replaced_must_be_clear() {
        let check = |before: Result<&str, Why>,
                     replacements: &[(&str, &str, bool)],
                     expected: Result<&str, Why>| {
            let replacements: Vec<_> = replacements
                .iter()
                .map(|(old, new, everywhere)| Replacement {
                    old: (*old).to_owned(),
                    new: (*new).to_owned(),
                    everywhere: *everywhere,
                })
                .collect();
            let edited = edited(before.map(Rc::from), &replacements);
            assert_eq!(edited.as_deref(), expected.as_ref().map(|text| *text), "{before:?} {replacements:?}");
        };
        check(Ok("a b"), &[("b", "c", false)], Ok("a c"));
        check(Ok("a b"), &[("b", "c", false), ("a c", "", false)], Ok(""));
        check(Ok("a a"), &[("a", "c", false)], Err(Why::File));
        check(Ok("a a"), &[("a", "c", true)], Ok("c c"));
        check(Ok("a"), &[("b", "c", false)], Err(Why::File));
        check(Ok("a"), &[("b", "c", true)], Err(Why::File));
        check(Ok("a\n"), &[("", "b\n", false)], Ok("a\nb\n"));
        check(Err(Why::Unresolved), &[("", "b", false)], Ok("b"));
        check(Err(Why::Unresolved), &[("a", "b", false)], Err(Why::File));
        check(Err(Why::Encoding), &[("a", "b", false)], Err(Why::Encoding));
    }
}
