//! Bounds what the parser is given.

use castellan_event::Why;

use crate::limits::TEXT_BYTES_MAX;

/// Says why text must not be parsed.
pub(crate) fn bounded(text: &str) -> Result<(), Why> {
    if text.len() > TEXT_BYTES_MAX { Err(Why::Size) } else { Ok(()) }
}
