//! The parsed share of a text, from the holes in its tree.

use castellan_event::Why;
use castellan_shell::Parsed;

/// Characters of a line that are shown.
const SHOWN_MAX: usize = 120;

/// The result of parsing a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parses {
    /// Completely parsed.
    Whole,
    /// Parsed, except for parts over a limit.
    UpToLimit,
    /// A part has a syntax error.
    Not,
}

/// Returns the result of parsing. `holes` of a parsed text contains the holes at every depth of its tree.
pub(crate) fn parses(parsed: &Parsed) -> Parses {
    let has = |whys: &[Why]| parsed.holes.iter().any(|hole| whys.contains(&hole.why));
    if has(&[Why::Syntax]) {
        Parses::Not
    } else if has(&[Why::Nesting, Why::Size, Why::Budget]) {
        Parses::UpToLimit
    } else {
        Parses::Whole
    }
}

/// Returns the line, from 1, and the text of the first hole with a syntax error.
pub(crate) fn first_line(parsed: &Parsed, text: &str) -> Option<(usize, String)> {
    let syntax = parsed.holes.iter().filter(|hole| hole.why == Why::Syntax);
    let start = syntax.map(|hole| hole.span.start).min()?;
    let before = text.get(..usize::try_from(start).ok()?)?;
    let number = before.matches('\n').count();
    let line: String = text.lines().nth(number)?.trim().chars().take(SHOWN_MAX).collect();
    Some((number + 1, line))
}

#[cfg(test)]
mod tests {
    use castellan_shell::tree::{Hole, Span};

    use super::*;

    #[test]
    fn the_first_hole_counts() {
        let hole = |why, start| Hole { why, span: Span { start, end: start + 1 } };
        let parsed = |holes| Parsed { holes, ..castellan_shell::parse("", castellan_shell::Shell::Bash) };
        assert_eq!(parses(&parsed(vec![hole(Why::Unsupported, 0)])), Parses::Whole);
        assert_eq!(parses(&parsed(vec![hole(Why::Budget, 0)])), Parses::UpToLimit);
        let two = parsed(vec![hole(Why::Syntax, 5), hole(Why::Budget, 0), hole(Why::Syntax, 3)]);
        assert_eq!(parses(&two), Parses::Not);
        assert_eq!(first_line(&two, "a\n  b c\nd"), Some((2, "b c".to_owned())));
    }
}
