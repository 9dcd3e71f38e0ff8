//! Whether a text parses: no part of its tree stands for text that does not.

use castellan_event::Why;
use castellan_shell::Parsed;

/// `holes` of a parsed text are those of its tree, at whatever depth.
pub(crate) fn parses(parsed: &Parsed) -> bool {
    parsed.holes.iter().all(|hole| hole.why != Why::Syntax)
}
