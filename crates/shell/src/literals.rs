//! Spellings of text: escapes for bytes, and shell quoting. This module must not know the reader of the text.

use castellan_event::single_quoted;
use std::borrow::Cow;

/// The set of escapes that a program accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escapes {
    /// `$'...'` and the format of `printf`: `\101`.
    Format,
    /// `echo -e`: `\0101`, and `\c` ends everything.
    Echo,
    /// `%b` of `printf`: both `\0101` and `\101`, and `\c` ends everything.
    Argument,
}

/// Decodes escapes. Also returns true if `\c` ended the text. Returns `None` for invalid UTF-8.
pub(crate) fn unescaped(text: &str, escapes: Escapes) -> Option<(String, bool)> {
    let mut bytes: Vec<u8> = Vec::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(one) = chars.next() {
        if one != '\\' {
            push(&mut bytes, one);
            continue;
        }
        let Some(letter) = chars.next() else {
            bytes.push(b'\\');
            break;
        };
        let plain = match letter {
            'a' => Some(7),
            'b' => Some(8),
            'e' | 'E' => Some(27),
            'f' => Some(12),
            'n' => Some(10),
            'r' => Some(13),
            't' => Some(9),
            'v' => Some(11),
            '\\' => Some(b'\\'),
            '\'' | '"' | '?' if escapes == Escapes::Format => u8::try_from(letter).ok(),
            _ => None,
        };
        if let Some(byte) = plain {
            bytes.push(byte);
            continue;
        }
        match letter {
            'c' if escapes != Escapes::Format => {
                return String::from_utf8(bytes).ok().map(|text| (text, true));
            }
            'x' => match number(&mut chars, 16, 2) {
                Some(value) => bytes.push(u8::try_from(value).ok()?),
                None => bytes.extend(b"\\x"),
            },
            'u' | 'U' => match number(&mut chars, 16, if letter == 'u' { 4 } else { 8 }) {
                Some(value) => push(&mut bytes, char::from_u32(value)?),
                None => {
                    bytes.push(b'\\');
                    push(&mut bytes, letter);
                }
            },
            '0' if escapes != Escapes::Format => {
                bytes.push(u8::try_from(number(&mut chars, 8, 3).unwrap_or(0) & 0xff).ok()?);
            }
            '0'..='7' if escapes != Escapes::Echo => {
                let mut value = letter.to_digit(8)?;
                for _ in 0..2 {
                    let Some(digit) = chars.peek().and_then(|one| one.to_digit(8)) else { break };
                    value = value * 8 + digit;
                    chars.next();
                }
                bytes.push(u8::try_from(value & 0xff).ok()?);
            }
            other => {
                bytes.push(b'\\');
                push(&mut bytes, other);
            }
        }
    }
    String::from_utf8(bytes).ok().map(|text| (text, false))
}

fn push(bytes: &mut Vec<u8>, one: char) {
    bytes.extend(one.encode_utf8(&mut [0; 4]).as_bytes());
}

fn number(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, base: u32, digits: usize) -> Option<u32> {
    let mut value = None;
    for _ in 0..digits {
        let Some(digit) = chars.peek().and_then(|one| one.to_digit(base)) else { break };
        value = Some(value.unwrap_or(0u32).wrapping_mul(base).wrapping_add(digit));
        chars.next();
    }
    value
}

/// Decodes the contents of `$'...'`. Returns `None` also for `\cX` and `\x{...}`, which only these quotes support.
pub(crate) fn ansi_quoted(text: &str) -> Option<String> {
    if text.contains("\\c") || text.contains("\\x{") {
        return None;
    }
    let (mut made, _) = unescaped(text, Escapes::Format)?;
    // A zero byte ends the value.
    made.truncate(made.find('\0').unwrap_or(made.len()));
    Some(made)
}

/// Returns the text as a user would type it, with quotes only if needed.
pub(crate) fn typed(text: &str) -> Cow<'_, str> {
    let is_mark = |one| matches!(one, '_' | '-' | '.' | '/' | ':' | '=' | '@' | '%' | '+' | ',' | '^' | '~');
    let plain = |one: char| one.is_alphanumeric() || is_mark(one);
    if !text.is_empty() && text.chars().all(plain) { text.into() } else { single_quoted(text).into() }
}

/// Returns true if a text may be a variable name.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|one: char| one.is_ascii_alphabetic() || one == '_')
        && text.chars().all(|one| one.is_ascii_alphanumeric() || one == '_')
}
