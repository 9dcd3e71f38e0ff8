use std::borrow::Cow;

use castellan_event::{FieldArg, FieldType, Value};
use proptest::prelude::*;

use super::*;
use crate::event::Event;
use crate::part::Found;

const GENERATION: Generation = Generation([5; 32]);
const MARK: &str = "label";

/// A row with any values. The values of fields with keys are those of the key [`MARK`].
#[derive(Debug, Clone)]
struct AnyRow {
    values: Vec<Value<'static>>,
    others: Value<'static>,
    part: Option<usize>,
}

impl Row for AnyRow {
    fn value(&self, field: usize, arg: Option<&str>) -> Value<'_> {
        let is_keyed = FIELDS[field].arg == FieldArg::Key;
        assert_eq!(is_keyed, arg.is_some(), "keys are asked of fields with keys only");
        if is_keyed && arg != Some(MARK) { self.others.clone() } else { self.values[field].clone() }
    }

    fn part(&self, of: Level) -> Option<usize> {
        if of == Level::Call { self.part } else { None }
    }
}

fn text() -> impl Strategy<Value = Value<'static>> {
    let bytes = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        // NULs alone, at both ends and side by side.
        prop::collection::vec(prop_oneof![Just(0), Just(b'a')], 0..6),
        Just(vec![b'x'; 70_000]),
    ];
    bytes.prop_map(|bytes| Value::Text(Cow::Owned(bytes)))
}

fn value(field: usize) -> BoxedStrategy<Value<'static>> {
    let field = &FIELDS[field];
    let present = match (field.ty, field.list) {
        (FieldType::Text, false) => text().boxed(),
        (FieldType::Text, true) => prop::collection::vec(text(), 0..4).prop_map(Value::List).boxed(),
        (FieldType::U64, false) => any::<u64>().prop_map(Value::U64).boxed(),
        (FieldType::Bool, false) => any::<bool>().prop_map(Value::Bool).boxed(),
        other => panic!("no values of {other:?}"),
    };
    prop_oneof![1 => Just(Value::Absent), 3 => present].boxed()
}

fn row() -> impl Strategy<Value = AnyRow> {
    let values: Vec<_> = (0..FIELDS.len()).map(value).collect();
    let number = prop_oneof![Just(Value::Absent), any::<u64>().prop_map(Value::U64)];
    (values, number).prop_map(|(values, others)| AnyRow { values, others, part: None })
}

fn nonces(count: usize) -> Vec<Nonce> {
    (0..count).map(|number| Nonce([number as u8 + 1; 16])).collect()
}

/// The value in an event that a value of a row must become.
fn expected(value: &Value<'_>) -> Option<Vec<Vec<u8>>> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match value {
        Value::Absent => None,
        Value::Text(bytes) if std::str::from_utf8(bytes).is_ok() => {
            Some(vec![text(bytes).replace('\0', "\u{fffd}").into_bytes()])
        }
        Value::Text(bytes) => {
            let replaced = bytes
                .iter()
                .flat_map(|byte| if *byte == 0 { "\u{fffd}".as_bytes().to_vec() } else { vec![*byte] });
            Some(vec![replaced.collect()])
        }
        Value::U64(number) => Some(vec![number.to_le_bytes().to_vec()]),
        Value::Bool(truth) => Some(vec![vec![u8::from(*truth)]]),
        Value::List(list) => Some(list.iter().flat_map(|one| expected(one).unwrap()).collect()),
        other @ (Value::Ip(_) | Value::Net(_)) => panic!("{other:?}"),
    }
}

fn found(found: &Found<'_>) -> Option<Vec<Vec<u8>>> {
    let text = |bytes: &[u8]| bytes.strip_suffix(b"\0").unwrap().to_vec();
    match found {
        Found::Absent => None,
        Found::Text(bytes) => Some(vec![text(bytes)]),
        Found::U64(number) => Some(vec![number.to_le_bytes().to_vec()]),
        Found::Bool(truth) => Some(vec![vec![u8::from(*truth)]]),
        Found::List(list) => Some(list.texts().map(|one| text(one.unwrap())).collect()),
    }
}

fn events(bytes: Vec<u8>) -> Result<Vec<Vec<u8>>, Defect> {
    let mut call = CallRows::read(bytes)?;
    let mut events = Vec::new();
    while let Some(event) = call.next_event()? {
        events.push(event);
    }
    Ok(events)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_value_of_every_row_arrives(rows in prop::collection::vec(row(), 1..4)) {
        let nonces = nonces(rows.len());
        let events = events(encode(&rows, &[MARK], GENERATION, &nonces).unwrap()).unwrap();
        prop_assert_eq!(events.len(), rows.len());
        for ((row, event), nonce) in rows.iter().zip(&events).zip(&nonces) {
            let event = Event::read(event).unwrap();
            prop_assert_eq!(event.nonce().to_vec(), format!("{nonce}\0").into_bytes());
            prop_assert_eq!(event.generation().to_vec(), format!("{GENERATION}\0").into_bytes());
            for (field, def) in FIELDS.iter().enumerate() {
                let keys: &[Option<&[u8]>] = match def.arg {
                    FieldArg::Key => &[Some(b"label"), Some(b"labels"), Some(b"")],
                    FieldArg::None | FieldArg::Index | FieldArg::Optional => &[None],
                };
                for key in keys {
                    let is_mark = key.is_none_or(|key| key == MARK.as_bytes());
                    let value = if is_mark { &row.values[field] } else { &row.others };
                    let read = event.value(field, *key).unwrap();
                    prop_assert_eq!(found(&read), expected(value), "{} {:?}", def.name, key);
                }
            }
        }
    }

    /// Bytes that someone changed give an error or other values, but no panic and no text without its end.
    #[test]
    fn changed_bytes_do_no_harm(row in row(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8), cut in any::<prop::sample::Index>()) {
        let mut bytes = encode(&[row], &[MARK], GENERATION, &nonces(1)).unwrap();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let mut short = bytes.clone();
        short.truncate(cut.index(bytes.len()));
        for bytes in [bytes, short] {
            for event in events(bytes).unwrap_or_default() {
                let Ok(event) = Event::read(&event) else { continue };
                for field in 0..FIELDS.len() {
                    match event.value(field, Some(b"label")) {
                        Ok(Found::Text(text)) => prop_assert_eq!(text.iter().position(|byte| *byte == 0), Some(text.len() - 1)),
                        Ok(Found::List(list)) => prop_assert!(list.texts().all(|text| text.is_ok_and(|text| text.ends_with(b"\0")))),
                        Ok(Found::Absent | Found::U64(_) | Found::Bool(_)) | Err(_) => {}
                    }
                }
            }
        }
    }
}

fn plain(input: &str, part: Option<usize>) -> AnyRow {
    let mut values = vec![Value::Absent; FIELDS.len()];
    values[castellan_event::field_index("tool.input").unwrap()] =
        Value::Text(Cow::Owned(input.as_bytes().to_vec()));
    AnyRow { values, others: Value::Absent, part }
}

#[test]
fn rows_share_the_fields_of_their_call() {
    let input = "x".repeat(1_000_000);
    let rows: Vec<AnyRow> = (0..50).map(|_| plain(&input, Some(0))).collect();
    let bytes = encode(&rows, &[], GENERATION, &nonces(50)).unwrap();
    assert!(bytes.len() < 1_200_000, "{}", bytes.len());
    assert!(events(bytes).unwrap().iter().all(|event| event.len() > 1_000_000));
}

#[test]
fn what_is_too_much_is_an_error() {
    let check = |rows: &[AnyRow], nonce_count: usize, error: &str| {
        let encoded = encode(rows, &[], GENERATION, &nonces(nonce_count));
        assert!(
            encoded.as_ref().is_err_and(|found| found.to_string().contains(error)),
            "{error}: {:?}",
            encoded.err()
        );
    };
    check(&vec![plain("x", Some(0)); ROWS_MAX + 1], 1, "rows");
    check(&vec![plain(&"x".repeat(CALL_BYTES_MAX / 4), None); 5], 5, "longer");
    check(&[plain("x", None), plain("x", None)], 1, "nonces");
    let mut wrong = plain("x", None);
    wrong.values[0] = Value::Bool(true);
    check(&[wrong], 1, "correlation.id");
}
