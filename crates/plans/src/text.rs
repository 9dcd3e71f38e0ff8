//! Texts of plans and calls in messages: bounded, and without letters that a terminal would interpret or not show.

use castellan_event::is_invisible;

use crate::limits::SUBJECT_BYTES_MAX;

/// Returns the start of a text, with `…` where its end is missing.
pub(crate) fn shortened(text: &str) -> String {
    if text.len() <= SUBJECT_BYTES_MAX {
        return text.to_owned();
    }
    let start = text.get(..text.floor_char_boundary(SUBJECT_BYTES_MAX)).unwrap_or_default();
    format!("{start}…")
}

/// Returns a text for a terminal: control characters and others that it does not show are written as `\u{1b}`.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_invisible(letter) {
            shown.extend(letter.escape_unicode());
        } else {
            shown.push(letter);
        }
    }
    shown
}
