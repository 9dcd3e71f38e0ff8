//! Patterns that also match hidden names (`dotglob`): rewrites each as equivalent patterns that do not depend on that
//! option. This module must not know the option.

use castellan_event::Why;
use castellan_programs::{Arg, Piece};

use crate::limits::HIDDEN_PATTERNS_MAX;

/// The pattern after the dot of a hidden name, excluding `.` and `..`.
const REST_OF_HIDDEN: &str = "[!.]*";

/// Returns the argument, and its variants for patterns that may begin with a dot.
pub(super) fn with_hidden_names(arg: Arg) -> Vec<Arg> {
    let pieces = arg.pieces();
    let begins = |at: &usize| {
        let before = at.checked_sub(1).and_then(|before| pieces.get(before));
        let is_first = match before {
            None => true,
            Some(Piece::Text(text)) => text.is_empty() && *at == 1 || text.ends_with('/'),
            Some(Piece::Unknown { .. }) => false,
        };
        is_first && matches!(pieces.get(*at), Some(Piece::Unknown { why: Why::Glob, .. }))
    };
    let open: Vec<usize> = (0..pieces.len()).filter(begins).collect();
    if open.len() > HIDDEN_PATTERNS_MAX {
        let written = arg.written().into_owned();
        return vec![arg, Arg::unknown(Why::Budget, written, true)];
    }
    let choices = 0..1_usize << open.len();
    choices
        .map(|chosen| {
            let is_hidden =
                |at: usize| open.iter().position(|one| *one == at).is_some_and(|bit| chosen >> bit & 1 == 1);
            let made = pieces.iter().enumerate().flat_map(|(at, piece)| match is_hidden(at) {
                true => hidden(piece.written()),
                false => vec![piece.clone()],
            });
            Arg::from_pieces(made.collect::<Vec<_>>(), arg.splits())
        })
        .collect()
}

/// Returns the pattern for the hidden names that a pattern matches.
fn hidden(pattern: &str) -> Vec<Piece> {
    let text = |text: &str| Piece::Text(text.to_owned());
    let glob = |written: &str| Piece::Unknown { why: Why::Glob, written: written.to_owned() };
    match pattern.chars().next() {
        // The pattern matches one character, which is the dot.
        Some('?' | '[') if !pattern.contains('(') => vec![text(".")],
        _ => vec![text("."), glob(REST_OF_HIDDEN)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_becomes_those_that_stand_for_hidden_names() {
        let check = |pieces: &[(&str, bool)], expected: &[&str]| {
            let pieces = pieces.iter().map(|(written, is_open)| match is_open {
                true => Piece::Unknown { why: Why::Glob, written: (*written).to_owned() },
                false => Piece::Text((*written).to_owned()),
            });
            let made = with_hidden_names(Arg::from_pieces(pieces.collect::<Vec<_>>(), true));
            let made: Vec<_> = made.iter().map(|arg| arg.written().into_owned()).collect();
            assert_eq!(made, expected);
        };
        check(&[("/h/", false), ("*", true), ("/s.json", false)], &["/h/*/s.json", "/h/.[!.]*/s.json"]);
        check(&[("*", true), (".json", false)], &["*.json", ".[!.]*.json"]);
        check(&[("/h/", false), ("?", true), ("claude", false)], &["/h/?claude", "/h/.claude"]);
        check(&[("a", false), ("*", true)], &["a*"]);
        check(&[("*", true), ("/", false), ("*", true)], &["*/*", ".[!.]*/*", "*/.[!.]*", ".[!.]*/.[!.]*"]);
        let deep: Vec<(&str, bool)> = [("*", true), ("/", false)].repeat(HIDDEN_PATTERNS_MAX + 1);
        check(&deep, &["*/".repeat(HIDDEN_PATTERNS_MAX + 1).as_str(); 2]);
    }
}
