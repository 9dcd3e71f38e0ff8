//! Transformers: functions from a value to a value. An absent value stays absent, and so does one that a transformer cannot
//! be applied to (text that is not base64).

use std::borrow::Cow;

use castellan_event::Value;

use crate::ast::Transformer;

/// Applies a transformer.
pub(super) fn apply<'r>(by: Transformer, value: &Value<'r>) -> Value<'r> {
    match (by, value) {
        (Transformer::Len, Value::Text(text)) => Value::U64(text.len() as u64),
        (Transformer::Len, Value::TextList(all)) => Value::U64(all.len() as u64),
        (Transformer::Len, Value::U64List(all)) => Value::U64(all.len() as u64),
        (_, Value::Text(text)) => change(by, text).map_or(Value::Absent, Value::Text),
        (_, Value::TextList(all)) => all
            .iter()
            .map(|text| change(by, text))
            .collect::<Option<_>>()
            .map_or(Value::Absent, Value::TextList),
        (_, Value::Absent | Value::U64(_) | Value::Bool(_) | Value::U64List(_)) => Value::Absent,
    }
}

fn change<'r>(by: Transformer, text: &Cow<'r, [u8]>) -> Option<Cow<'r, [u8]>> {
    match by {
        Transformer::ToLower if text.iter().any(u8::is_ascii_uppercase) => {
            Some(Cow::Owned(text.to_ascii_lowercase()))
        }
        Transformer::ToUpper if text.iter().any(u8::is_ascii_lowercase) => {
            Some(Cow::Owned(text.to_ascii_uppercase()))
        }
        Transformer::ToLower | Transformer::ToUpper => Some(text.clone()),
        Transformer::Basename => Some(basename(text)),
        Transformer::B64 => decode(text).map(Cow::Owned),
        Transformer::Len => None,
    }
}

/// What follows the last `/`.
fn basename<'r>(text: &Cow<'r, [u8]>) -> Cow<'r, [u8]> {
    let start = text.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.get(start..).unwrap_or_default()),
        Cow::Owned(text) => Cow::Owned(text.get(start..).unwrap_or_default().to_vec()),
    }
}

/// Decodes base64; padding may be missing.
fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let unpadded = match text {
        [rest @ .., b'=', b'='] | [rest @ .., b'='] if text.len().is_multiple_of(4) => rest,
        rest => rest,
    };
    if unpadded.len() % 4 == 1 {
        return None;
    }
    let mut decoded = Vec::with_capacity(unpadded.len() / 4 * 3 + 2);
    for group in unpadded.chunks(4) {
        let mut bits = 0u32;
        for byte in group {
            bits = bits << 6 | sextet(*byte)?;
        }
        bits <<= 6 * (4 - group.len());
        let [_, bytes @ ..] = bits.to_be_bytes();
        let (whole, left_over) = bytes.split_at_checked(group.len() - 1)?;
        // Bits that no byte takes must be zero, as Falco's decoder demands.
        if left_over.iter().any(|byte| *byte != 0) {
            return None;
        }
        decoded.extend(whole);
    }
    Some(decoded)
}

fn sextet(byte: u8) -> Option<u32> {
    let value = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn base64() {
        for (text, expected) in [
            ("", Some("")),
            ("YWJj", Some("abc")),
            ("YWJjZA==", Some("abcd")),
            ("YWJjZA", Some("abcd")),
            ("YWJjZGU=", Some("abcde")),
            ("YWJjZ", None),
            ("ABC", None),
            ("//", None),
            ("!!", None),
            ("YWJj\n", None),
        ] {
            assert_eq!(decode(text.as_bytes()).as_deref(), expected.map(str::as_bytes), "{text}");
        }
    }
}
