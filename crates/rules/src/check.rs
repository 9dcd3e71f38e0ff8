//! Valid comparisons: Falco's type gates and its parsing of constants. It knows types, not values.

use std::net::IpAddr;

use castellan_event::{FieldType, Net};

use crate::ast::{Check, Modifier, Op, Operand, OperandKind, Right, Word};
use crate::catalogue::{ValueType, a_type};
use crate::limits::CONSTANT_BYTES_MAX;
use crate::networks::Networks;
use crate::problem::Fault;

const CODE: &str = "LOAD_ERR_COMPILE_CONDITION";

/// The operators of numbers. Strings have these and more.
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
/// The operators of booleans, addresses and networks.
const EQUALITY: [Op; 5] = [Op::Exists, Op::Equal, Op::NotEqual, Op::In, Op::Intersects];
const LIST: [Op; 3] = [Op::Exists, Op::In, Op::Intersects];
/// The operators of byte buffers alone.
const BUFFER: [Op; 2] = [Op::BContains, Op::BStartsWith];
/// The operators of byte buffers.
const BYTES: [Op; 10] = [
    Op::Exists,
    Op::Equal,
    Op::NotEqual,
    Op::Contains,
    Op::StartsWith,
    Op::EndsWith,
    Op::BContains,
    Op::BStartsWith,
    Op::In,
    Op::Intersects,
];

/// Checks that an operator can be used with a type.
pub(crate) fn operator(op: Op, ty: ValueType, left: &Word) -> Result<(), Fault> {
    let allowed = match ty.of {
        FieldType::Bytes if ty.list => op == Op::Exists,
        _ if ty.list => LIST.contains(&op),
        FieldType::Text => !BUFFER.contains(&op),
        FieldType::U64 => NUMERIC.contains(&op),
        FieldType::Bool | FieldType::Ip | FieldType::Net => EQUALITY.contains(&op),
        FieldType::Bytes => BYTES.contains(&op),
    };
    if allowed {
        return Ok(());
    }
    let message = format!("`{}` cannot be used with `{}`, {}", op.as_str(), left.text, a_type(ty));
    let help = match ty.of {
        FieldType::Bytes if ty.list => Some("only `exists` works on such a list".to_owned()),
        _ if ty.list => Some("use `in` (all elements) or `intersects` (any)".to_owned()),
        FieldType::Text => op.as_str().strip_prefix('b').map(|other| format!("use `{other}`")),
        FieldType::U64 | FieldType::Bool | FieldType::Bytes | FieldType::Ip | FieldType::Net => None,
    };
    Err(Fault::new(CODE, left.place, message).help_if(help))
}

/// Checks that an operator can have a field of this type on its right side.
pub(crate) fn right_field(op: Op, left: ValueType, right: ValueType, place: &Word) -> Result<(), Fault> {
    if matches!(op, Op::Regex | Op::PMatch) {
        let message = format!("`{}` cannot be used with a field on its right side", op.as_str());
        return Err(Fault::new(CODE, place.place, message));
    }
    if left != right {
        let message = format!("{} is compared with `{}`, {}", a_type(left), place.text, a_type(right));
        return Err(Fault::new(CODE, place.place, message));
    }
    Ok(())
}

/// Reports whether the elements of two lists never equal each other. In Falco 0.43, a transformer of texts adds a NUL to each
/// element of a list, and `in` and `intersects` compare elements with their length.
pub(crate) fn never_equal(check: &Check, left: ValueType) -> bool {
    let is_transformed = |operand: &Operand| matches!(operand.kind, OperandKind::Transformed { .. });
    let right = match &check.right {
        Right::Transformed(operand) => is_transformed(operand),
        Right::Nothing | Right::Value(_) | Right::List(_) | Right::Each(..) | Right::Val(_) => false,
    };
    let is_list_of_texts = left.list && left.of == FieldType::Text;
    is_list_of_texts && matches!(check.op, Op::In | Op::Intersects) && is_transformed(&check.left) != right
}

/// Checks length and characters of a constant.
pub(crate) fn constant(word: &Word) -> Result<&[u8], Fault> {
    if word.text.len() > CONSTANT_BYTES_MAX {
        let message = format!("the constant has {} bytes, more than {CONSTANT_BYTES_MAX}", word.text.len());
        return Err(Fault::new(CODE, word.place, message));
    }
    if word.text.contains('\0') {
        return Err(Fault::new(CODE, word.place, "a constant must not have a NUL"));
    }
    Ok(word.text.as_bytes())
}

/// Parses a number like Falco: decimal, with a sign. Negative numbers wrap around; numbers beyond 64 bits are the largest.
pub(crate) fn number(word: &Word) -> Result<u64, Fault> {
    let (negative, digits) = match word.text.as_bytes().first() {
        Some(b'-') => (true, word.text.get(1..)),
        Some(b'+') => (false, word.text.get(1..)),
        _ => (false, word.text.get(..)),
    };
    let is_number = |digits: &&str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match digits.filter(is_number).map(str::parse::<u64>) {
        Some(Ok(number)) => Ok(if negative { number.wrapping_neg() } else { number }),
        Some(Err(_)) => Ok(u64::MAX),
        None => Err(Fault::new(CODE, word.place, format!("`{}` is not a whole number", word.text))),
    }
}

/// Parses the hexadecimal digits of a byte buffer, two for each byte.
pub(crate) fn bytes(word: &Word) -> Result<Vec<u8>, Fault> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let byte = |pair: &[u8]| match pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    };
    word.text.as_bytes().chunks(2).map(byte).collect::<Option<Vec<u8>>>().ok_or_else(|| {
        let message = format!("`{}` is not hexadecimal", word.text);
        Fault::new(CODE, word.place, message).help("write two digits for each byte, such as `7f454c46`")
    })
}

/// Parses the constants in a comparison with an address or a network.
pub(crate) fn networks(ty: ValueType, words: &[Word]) -> Result<Networks, Fault> {
    let read = if ty.of == FieldType::Net { network } else { address };
    words.iter().map(read).collect::<Result<Vec<_>, _>>().map(Networks::new)
}

fn address(word: &Word) -> Result<Net, Fault> {
    word.text.parse::<IpAddr>().map(Net::from).map_err(|_| {
        let help = match Net::parse(&word.text) {
            Some(_) => "the field is an address: write an address, not a network",
            None => "write an address such as `10.0.0.1` or `fe80::1`",
        };
        Fault::new(CODE, word.place, format!("`{}` is not an address", word.text)).help(help)
    })
}

fn network(word: &Word) -> Result<Net, Fault> {
    Net::parse(&word.text).ok_or_else(|| {
        let help = "write a network as address and prefix, such as `10.0.0.0/8`";
        Fault::new(CODE, word.place, format!("`{}` is not a network", word.text)).help(help)
    })
}

/// Checks that a modifier can be used with a type.
pub(crate) fn modifier(modifier: Modifier, ty: ValueType, left: &Word) -> Result<(), Fault> {
    if !ty.list {
        return Ok(());
    }
    let message = format!("`{}` cannot be used with `{}`, {}", modifier.as_str(), left.text, a_type(ty));
    let help = "use `in` (all elements) or `intersects` (any)";
    Err(Fault::new(CODE, left.place, message).help(help))
}

/// Parses a boolean: only `true` or `false`.
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
        Word { text: text.to_owned(), place: Place::NOWHERE }
    }

    #[test]
    fn numbers_and_booleans() {
        for (text, expected) in [
            ("0", Some(0)),
            ("05", Some(5)),
            ("+5", Some(5)),
            ("-1", Some(u64::MAX)),
            ("18446744073709551615", Some(u64::MAX)),
            ("-18446744073709551615", Some(1)),
            ("18446744073709551616", Some(u64::MAX)),
            ("-18446744073709551616", Some(u64::MAX)),
            ("99999999999999999999999999", Some(u64::MAX)),
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
