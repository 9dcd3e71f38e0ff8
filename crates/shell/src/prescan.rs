//! Checks of a text before parsing: the length, and characters that no shell can receive. The parser has its own budget
//! for work and stack, see `third_party/README.md`.

use castellan_event::Why;

use crate::limits::TEXT_BYTES_MAX;

/// Returns the reason not to parse the text, if any.
pub(crate) fn bounded(text: &str) -> Result<(), Why> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(Why::Size);
    }
    // An argument cannot contain NUL: the text that a shell receives depends on the program that starts the shell.
    if text.contains('\0') { Err(Why::Encoding) } else { Ok(()) }
}
