//! Transformers: functions from a value to a value. The result is absent for an absent value, and for a value that does
//! not fit the transformer (text that is not base64).

use std::borrow::Cow;

use castellan_event::Value;

use crate::ast::{Function, Transformer};

pub(super) fn apply<'r>(by: Transformer, value: &Value<'r>) -> Value<'r> {
    match (by, value) {
        (Transformer::Len, Value::Text(text)) => Value::U64(text.len() as u64),
        (Transformer::Len, Value::List(all)) => Value::U64(all.len() as u64),
        (_, Value::Text(text)) => change(by, text).map_or(Value::Absent, Value::Text),
        (_, Value::List(all)) => {
            let changed: Vec<_> = all.iter().map(|one| apply(by, one)).collect();
            if changed.contains(&Value::Absent) { Value::Absent } else { Value::List(changed) }
        }
        (_, Value::Absent | Value::U64(_) | Value::Bool(_) | Value::Ip(_) | Value::Net(_)) => Value::Absent,
    }
}

/// Applies a function of several arguments.
pub(super) fn call<'r>(by: Function, args: &[&Value<'r>], option: Option<&str>) -> Value<'r> {
    let result = match by {
        Function::Join => join(args),
        Function::Concat => texts(args.iter().copied()).map(|texts| texts.concat()),
        Function::GetOpt => getopt(args, option),
    };
    result.map_or(Value::Absent, |text| Value::Text(Cow::Owned(text)))
}

fn join(args: &[&Value<'_>]) -> Option<Vec<u8>> {
    let [Value::Text(separator), Value::List(list)] = args else { return None };
    texts(list).map(|texts| texts.join(&**separator))
}

/// Returns the value of an option as POSIX's `getopt` finds it: options end at the first operand. A flag has the empty
/// text; the last use of an option applies.
fn getopt(args: &[&Value<'_>], option: Option<&str>) -> Option<Vec<u8>> {
    let [Value::List(list), Value::Text(known)] = args else { return None };
    let mut found = None;
    let mut rest = texts(list)?.into_iter();
    while let Some([b'-', cluster @ ..]) = rest.next() {
        if matches!(cluster, [] | [b'-']) {
            break;
        }
        let mut flags = cluster;
        while let [flag, behind @ ..] = flags {
            flags = behind;
            let value: &[u8] = match takes_value(known, *flag) {
                None | Some(false) => &[],
                Some(true) if behind.is_empty() => match rest.next() {
                    Some(value) => value,
                    None => return found,
                },
                Some(true) => std::mem::take(&mut flags),
            };
            if takes_value(known, *flag).is_some() && option.map(str::as_bytes) == Some(&[*flag]) {
                found = Some(value.to_vec());
            }
        }
    }
    found
}

/// Reports whether an option takes a value (`c:`); `None` for an unknown option.
fn takes_value(known: &[u8], flag: u8) -> Option<bool> {
    let at = known.iter().position(|byte| *byte == flag && flag != b':')?;
    Some(known.get(at + 1) == Some(&b':'))
}

/// Returns the texts of values; `None` if a value is not a text.
fn texts<'v>(values: impl IntoIterator<Item = &'v Value<'v>>) -> Option<Vec<&'v [u8]>> {
    let text = |value: &'v Value<'v>| match value {
        Value::Text(text) => Some(&**text),
        Value::Absent | Value::U64(_) | Value::Bool(_) | Value::Ip(_) | Value::Net(_) | Value::List(_) => {
            None
        }
    };
    values.into_iter().map(text).collect()
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

/// Returns the text after the last `/`.
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
        // Unused bits must be zero, as in Falco's decoder.
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
    use castellan_event::Value;

    use super::{decode, getopt};

    #[test]
    fn options() {
        for (args, known, option, expected) in [
            ("-a -b v x", "ab:", "a", Some("")),
            ("-a -b v x", "ab:", "b", Some("v")),
            ("-abv", "ab:", "b", Some("v")),
            ("-abv", "ab:", "a", Some("")),
            ("-abv", "ab:", "v", None),
            ("-b 1 -b 2", "b:", "b", Some("2")),
            ("-b -a", "ab:", "b", Some("-a")),
            ("-b -a", "ab:", "a", None),
            ("x -a", "a", "a", None),
            ("-- -a", "a", "a", None),
            ("- -a", "a", "a", None),
            ("-z -a", "a", "a", Some("")),
            ("-z", "a", "z", None),
            ("-b", "b:", "b", None),
            ("-:", "b:", ":", None),
            ("", "a", "a", None),
        ] {
            let text = |text: &'static str| Value::Text(text.as_bytes().into());
            let list = Value::List(args.split(' ').map(text).collect());
            let found = getopt(&[&list, &text(known)], Some(option));
            assert_eq!(found.as_deref(), expected.map(str::as_bytes), "getopt({args}, {known})[{option}]");
        }
    }

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
