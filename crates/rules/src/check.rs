//! What may be compared with what: Falco 0.43's type gates and its reading of constants. Knows types, not values.

use castellan_event::FieldType;

use crate::ast::{Op, Word};
use crate::catalogue::type_name;
use crate::limits::CONSTANT_BYTES_MAX;
use crate::problem::Fault;

const CODE: &str = "LOAD_ERR_COMPILE_CONDITION";

/// The operators of numbers and booleans; strings have these and more.
const NUMERIC: [Op; 9] = [
    Op::Exists,
    Op::Equal,
    Op::NotEqual,
    Op::Less,
    Op::LessEqual,
    Op::Greater,
    Op::GreaterEqual,
    Op::In,
    Op::Intersects,
];
const BOOLEAN: [Op; 5] = [Op::Exists, Op::Equal, Op::NotEqual, Op::In, Op::Intersects];
const LIST: [Op; 3] = [Op::Exists, Op::In, Op::Intersects];
/// The operators of byte buffers, of which no field has the type.
const BUFFER: [Op; 2] = [Op::BContains, Op::BStartsWith];

/// Checks that an operator can be used with a type.
pub(crate) fn operator(op: Op, ty: FieldType, left: &Word) -> Result<(), Fault> {
    let allowed = match ty {
        FieldType::Text => !BUFFER.contains(&op),
        FieldType::U64 => NUMERIC.contains(&op),
        FieldType::Bool => BOOLEAN.contains(&op),
        FieldType::TextList | FieldType::U64List => LIST.contains(&op),
    };
    if allowed {
        return Ok(());
    }
    let message = format!("`{}` cannot be used with `{}`, a {}", op.as_str(), left.text, type_name(ty));
    let help = match ty {
        FieldType::TextList | FieldType::U64List => {
            Some("use `in` (all elements) or `intersects` (any)".to_owned())
        }
        FieldType::Text => op.as_str().strip_prefix('b').map(|other| format!("use `{other}`")),
        FieldType::U64 | FieldType::Bool => None,
    };
    Err(Fault::new(CODE, left.place, message).help_if(help))
}

/// Checks that an operator can have a field on its right side, of this type.
pub(crate) fn right_field(op: Op, left: FieldType, right: FieldType, place: &Word) -> Result<(), Fault> {
    if matches!(op, Op::Regex | Op::PMatch) {
        let message = format!("`{}` cannot be used with a field on its right side", op.as_str());
        return Err(Fault::new(CODE, place.place, message));
    }
    if left != right {
        let message =
            format!("a {} is compared with `{}`, a {}", type_name(left), place.text, type_name(right));
        return Err(Fault::new(CODE, place.place, message));
    }
    Ok(())
}

/// Checks a constant as such.
pub(crate) fn constant(word: &Word) -> Result<&[u8], Fault> {
    if word.text.len() > CONSTANT_BYTES_MAX {
        let message =
            format!("a constant may have at most {CONSTANT_BYTES_MAX} bytes, this has {}", word.text.len());
        return Err(Fault::new(CODE, word.place, message));
    }
    if word.text.contains('\0') {
        return Err(Fault::new(CODE, word.place, "a constant may not have a NUL"));
    }
    Ok(word.text.as_bytes())
}

/// Reads a number as Falco does: decimal, with a sign, negative ones wrapped around.
pub(crate) fn number(word: &Word) -> Result<u64, Fault> {
    let (negative, digits) = match word.text.as_bytes().first() {
        Some(b'-') => (true, word.text.get(1..)),
        Some(b'+') => (false, word.text.get(1..)),
        _ => (false, word.text.get(..)),
    };
    let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    match digits.and_then(|digits| digits.parse::<u64>().ok()) {
        Some(number) => Ok(if negative { number.wrapping_neg() } else { number }),
        None => Err(Fault::new(CODE, word.place, format!("`{}` is not a whole number", word.text))),
    }
}

/// Reads a boolean: `true` or `false`, nothing else.
pub(crate) fn boolean(word: &Word) -> Result<bool, Fault> {
    word.text
        .parse()
        .map_err(|_| Fault::new(CODE, word.place, format!("`{}` is not `true` or `false`", word.text)))
}

#[cfg(test)]
mod tests {
    use super::{Word, boolean, number};
    use crate::text::Place;

    fn word(text: &str) -> Word {
        Word { text: text.to_owned(), place: Place { file: 0, start: 0, end: 0 } }
    }

    #[test]
    fn numbers_and_booleans() {
        for (text, expected) in [
            ("0", Some(0)),
            ("05", Some(5)),
            ("+5", Some(5)),
            ("-1", Some(u64::MAX)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("4.9", None),
            ("0x10", None),
            ("1e+1", None),
            ("", None),
            ("-", None),
        ] {
            assert_eq!(number(&word(text)).ok(), expected, "{text}");
        }
        for (text, expected) in [("true", Some(true)), ("false", Some(false)), ("TRUE", None), ("1", None)] {
            assert_eq!(boolean(&word(text)).ok(), expected, "{text}");
        }
    }
}
