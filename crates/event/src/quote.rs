//! A word of shell text.

/// Returns the text in single quotes, as one word for every Bourne shell: `it's` becomes `'it'\''s'`.
pub fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
