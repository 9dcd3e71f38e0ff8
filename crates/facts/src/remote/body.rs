//! Finds what the body of a request asks for: documents of GraphQL, and operations of other protocols. The body is JSON,
//! a form, or the text of a program that makes one of them, so the reader looks for a key and the text behind it. Linear
//! in the text.

use std::borrow::Cow;

/// Returns the texts of each value of a key, without quotes and escapes: `"query": "..."`, `query: '...'`, `query=...`.
pub(super) fn values(text: &str, key: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(key)).map(|at| from + at) {
        from = at + key.len();
        let before = text.get(..at).unwrap_or_default();
        if before.ends_with(|letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '\\' | '-')) {
            continue;
        }
        // A quote that is escaped belongs to a text in the body.
        let quote = before.chars().next_back().filter(|letter| matches!(letter, '"' | '\''));
        if quote.is_some() && before.strip_suffix(['"', '\'']).is_some_and(|before| before.ends_with('\\')) {
            continue;
        }
        let Some(rest) = text.get(from..) else { break };
        let after = quote.map_or(Some(rest), |quote| rest.strip_prefix(quote));
        let Some((value, length)) = after.and_then(value) else { continue };
        from += rest.len() - after.map_or(0, str::len) + length;
        found.push(value);
    }
    found
}

/// Writes out the letters that JSON escapes, so that keys and words are found: `\u0071uery`.
pub(super) fn with_letters(text: &str) -> Cow<'_, str> {
    let mut parts = text.split("\\u");
    let first = parts.next().unwrap_or_default();
    if first.len() == text.len() {
        return Cow::Borrowed(text);
    }
    let mut whole = first.to_owned();
    for part in parts {
        let code = part.get(..4).and_then(|code| u8::from_str_radix(code, 16).ok()).map(char::from);
        match code.filter(char::is_ascii_alphabetic) {
            Some(letter) => {
                whole.push(letter);
                whole.push_str(part.get(4..).unwrap_or_default());
            }
            None => whole.extend(["\\u", part]),
        }
    }
    Cow::Owned(whole)
}

/// Returns the first document that begins a list: `["mutation { ... }"]`.
pub(super) fn listed(text: &str) -> Option<String> {
    let at = text.find("[\"mutation")?;
    Some(quoted(text.get(at + 2..)?, '"').0)
}

/// Reads a value behind its key, with its length in bytes.
fn value(after: &str) -> Option<(String, usize)> {
    let signed = after.trim_start().strip_prefix([':', '='])?;
    let rest = signed.strip_prefix('>').unwrap_or(signed).trim_start();
    let start = after.len() - rest.len();
    if let Some(quote) = rest.chars().next().filter(|letter| matches!(letter, '"' | '\'' | '`')) {
        let (value, length) = quoted(rest.get(1..)?, quote);
        return Some((value, start + 1 + length));
    }
    // A field of a form.
    let is_form = after.starts_with('=');
    let value = rest.split('&').next().filter(|_| is_form)?;
    Some((percent_decoded(value), start + value.len()))
}

/// Reads up to the closing quote. Two more quotes open a long text, as in Python.
fn quoted(rest: &str, quote: char) -> (String, usize) {
    let long = format!("{quote}{quote}");
    if let Some(text) = rest.strip_prefix(&long).filter(|_| quote != '`') {
        let end = text.find(&format!("{long}{quote}")).unwrap_or(text.len());
        return (text.get(..end).unwrap_or_default().to_owned(), 2 + end);
    }
    let mut value = String::new();
    let mut letters = rest.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            _ if letter == quote => return (value, at + 1),
            '\\' => match letters.next() {
                // The end of a line ends a comment.
                Some((_, 'n' | 'r')) => value.push('\n'),
                Some((_, 't')) => value.push(' '),
                Some((at, 'u')) => {
                    let code = rest.get(at + 1..at + 5).and_then(|code| u32::from_str_radix(code, 16).ok());
                    value.extend(code.and_then(char::from_u32));
                    letters.by_ref().take(code.map_or(0, |_| 4)).for_each(drop);
                }
                Some((_, other)) => value.push(other),
                None => {}
            },
            letter => value.push(letter),
        }
    }
    (value, rest.len())
}

/// Decodes `%20` and `+` of a form.
pub(super) fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let code = behind.get(..2).filter(|_| *first == b'%').and_then(|code| str::from_utf8(code).ok());
        let decoded = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        bytes.push(decoded.unwrap_or(if *first == b'+' { b' ' } else { *first }));
        rest = behind.get(if decoded.is_some() { 2 } else { 0 }..).unwrap_or_default();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{values, with_letters};

    #[test]
    fn values_of_a_key_are_found() {
        let cases: &[(&str, &[&str])] = &[
            (
                r#"{"query":"mutation { a(id: \"x\") }","variables":{"query":"b"}}"#,
                &["mutation { a(id: \"x\") }", "b"],
            ),
            (r#"{"query": {"match_all": {}}}"#, &[]),
            (r#"{"query":"a\n\u0062\t"}"#, &["a\nb "]),
            ("{query: 'mutation { a }'}", &["mutation { a }"]),
            ("{query: `mutation { a }`, b: 1}", &["mutation { a }"]),
            ("{'query': \"\"\"mutation { a(b: \"c\") }\"\"\"}", &["mutation { a(b: \"c\") }"]),
            ("query=mutation+%7B+a+%7D&x=1", &["mutation { a }"]),
            ("a=1&query=mutation { a }", &["mutation { a }"]),
            (r#"{"content":"send {\"query\":\"mutation { a }\"}"}"#, &[]),
            (r#"{"subquery":"a","query_id":"b"}"#, &[]),
            ("query=%", &["%"]),
            ("{\"query\":\"open", &["open"]),
            ("query", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(values(text, "query"), *expected, "{text}");
        }
    }

    #[test]
    fn escaped_letters_are_letters() {
        for (text, expected) in [
            (r"\u0071uery", "query"),
            (r"mut\u0061tion \u004d", "mutation M"),
            (r"\u0022 \u00 \u", r"\u0022 \u00 \u"),
            ("a", "a"),
        ] {
            assert_eq!(with_letters(text), expected, "{text}");
        }
    }
}
