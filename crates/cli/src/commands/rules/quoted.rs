//! [`quoted`]: a JSON value as YAML that hides nothing from the person who reads the file.

use castellan_event::is_invisible;
use serde_json::Value as Json;

/// Returns the value in one line. Each invisible character of its texts becomes an escape, which YAML reads unchanged.
pub(super) fn quoted(value: impl Into<Json>) -> String {
    let mut shown = String::new();
    for c in value.into().to_string().chars() {
        // Invisible characters occur only within the quotes of a text.
        if is_invisible(c) { shown.push_str(&format!("\\U{:08x}", u32::from(c))) } else { shown.push(c) }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_escaped() {
        for (text, expected) in [
            ("ls -l \"ä\"", r#""ls -l \"ä\"""#),
            ("rm \u{202e}fdp.x", r#""rm \U0000202efdp.x""#),
            ("a\u{7f}\u{e0041}", r#""a\U0000007f\U000e0041""#),
        ] {
            assert_eq!(quoted(text), expected);
        }
    }
}
