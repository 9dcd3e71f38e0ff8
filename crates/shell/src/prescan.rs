//! What is known of text before it is parsed: that it is too long, or that no shell can be given it. Work and stack of the
//! parser itself are bounded by its own budget, see `third_party/README.md`.

use castellan_event::Why;

use crate::limits::TEXT_BYTES_MAX;

/// Says why text must not be parsed.
pub(crate) fn bounded(text: &str) -> Result<(), Why> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(Why::Size);
    }
    // An argument cannot hold it: what a shell gets of such text depends on who starts it.
    if text.contains('\0') { Err(Why::Encoding) } else { Ok(()) }
}
