//! Rows with values of every form, made from a number.

use std::borrow::Cow;

use castellan_event::{FIELDS, FieldArg, FieldType, Level, Row, Value, field_index};

/// The key whose value is that of the field; other keys have the value of [`Made::others`].
pub(crate) const MARK: &str = "label";

/// A row whose values follow from its number.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    number: u64,
    values: Vec<Value<'static>>,
}

impl Made {
    pub(crate) fn new(number: u64) -> Made {
        let mut made = Made { number, values: Vec::new() };
        made.values = (0..FIELDS.len()).map(|field| made.make(field)).collect();
        made
    }

    /// A row with one value of its own, and nothing else.
    pub(crate) fn with(field: &str, text: &[u8]) -> Made {
        let mut values = vec![Value::Absent; FIELDS.len()];
        values[field_index(field).unwrap()] = Value::Text(Cow::Owned(text.to_vec()));
        Made { number: 0, values }
    }

    /// The value of keys without a mark.
    pub(crate) fn others(&self) -> Value<'static> {
        if self.number.is_multiple_of(2) { Value::U64(0) } else { Value::Absent }
    }

    fn make(&self, field: usize) -> Value<'static> {
        let seed = self.number.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(field as u64 * 0x85eb_ca6b);
        let seed = seed ^ (seed >> 29);
        if seed.is_multiple_of(5) {
            return Value::Absent;
        }
        let def = &FIELDS[field];
        match (def.ty, def.list) {
            (FieldType::Text, false) => text(seed >> 8),
            (FieldType::Text, true) => {
                Value::List((0..(seed >> 4) % 5).map(|one| text((seed >> 8) + one)).collect())
            }
            (FieldType::U64, false) => Value::U64([0, 1, u64::MAX, seed][(seed >> 8) as usize % 4]),
            (FieldType::Bool, false) => Value::Bool(seed & 64 == 0),
            other => panic!("no values of {other:?}"),
        }
    }
}

fn text(seed: u64) -> Value<'static> {
    let bytes = match seed % 8 {
        0 => Vec::new(),
        1 => b"\0".to_vec(),
        2 => b"rm -rf /\0tail\0".to_vec(),
        3 => vec![0xff, b'a', 0x80, b'\n'],
        4 => "é 😀 \u{fffd}".into(),
        5 => vec![b'x'; 300_000],
        6 => vec![b'y'; 256],
        _ => format!("text {seed}").into_bytes(),
    };
    Value::Text(Cow::Owned(bytes))
}

impl Row for Made {
    fn value(&self, field: usize, arg: Option<&str>) -> Value<'_> {
        let is_keyed = FIELDS[field].arg == FieldArg::Key;
        if is_keyed && arg != Some(MARK) { self.others() } else { self.values[field].clone() }
    }

    fn part(&self, _of: Level) -> Option<usize> {
        None
    }
}

/// The bytes that Falco must get for a value: `None` for an absent one, else each element. Falco has no empty list, and
/// no text with a NUL.
pub(crate) fn expected(value: &Value<'_>) -> Option<Vec<Vec<u8>>> {
    match value {
        Value::Absent => None,
        Value::Text(text) => {
            let pieces: Vec<&[u8]> = text.split(|byte| *byte == 0).collect();
            Some(vec![pieces.join("\u{fffd}".as_bytes())])
        }
        Value::U64(number) => Some(vec![number.to_le_bytes().to_vec()]),
        Value::Bool(truth) => Some(vec![vec![u8::from(*truth)]]),
        Value::List(all) if all.is_empty() => None,
        Value::List(all) => Some(all.iter().flat_map(|one| expected(one).unwrap()).collect()),
        other => panic!("{other:?}"),
    }
}
