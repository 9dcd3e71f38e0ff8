//! Whether a text parses: what stands in its tree for text that was not understood.

use castellan_event::Why;
use castellan_shell::Parsed;

/// How far a text parses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parses {
    /// To its end.
    Whole,
    /// But for parts that are over a limit.
    UpToLimit,
    /// Some of it is taken for no shell text.
    Not,
}

/// The holes of a parsed text are those of its tree, at whatever depth.
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
