//! What stands for characters in a literal.

/// The text of a literal's inside; `None` for an escape without a character. An escape that means nothing loses its
/// backslash.
pub(super) fn unescaped(inside: &str) -> Option<String> {
    let mut text = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some((before, after)) = rest.split_once('\\') {
        text.push_str(before);
        let mut letters = after.chars();
        let letter = letters.next()?;
        let mut next = letters.as_str();
        match letter {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'v' => text.push('\u{b}'),
            '\\' | '\'' | '"' | '`' | '$' => text.push(letter),
            '\n' => {}
            '\r' => next = next.strip_prefix('\n').unwrap_or(next),
            'x' => text.push(code(&mut next, 2)?),
            'u' if next.starts_with('{') => {
                let (inside, after) = next.strip_prefix('{')?.split_once('}')?;
                text.push(char::from_u32(u32::from_str_radix(inside, 16).ok()?)?);
                next = after;
            }
            'u' => text.push(code(&mut next, 4)?),
            '0'..='7' => {
                let digits = after.bytes().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
                let (code, after) = after.split_at_checked(digits)?;
                text.push(char::from_u32(u32::from_str_radix(code, 8).ok()?)?);
                next = after;
            }
            other => text.push(other),
        }
        rest = next;
    }
    text.push_str(rest);
    Some(text)
}

/// A character by its number of so many digits, which it takes off the text.
fn code(next: &mut &str, digits: usize) -> Option<char> {
    let (code, after) = next.split_at_checked(digits)?;
    *next = after;
    char::from_u32(u32::from_str_radix(code, 16).ok()?)
}

/// A whole number, in any notation that both languages have.
pub(super) fn number(written: &str) -> Option<i64> {
    let digits: String = written.chars().filter(|c| *c != '_').collect();
    let digits = digits.trim_end_matches('n').to_ascii_lowercase();
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = digits.strip_prefix(prefix) {
            return i64::from_str_radix(digits, radix).ok();
        }
    }
    digits.parse().ok()
}
