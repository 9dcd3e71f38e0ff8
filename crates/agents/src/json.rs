//! Strict JSON for payloads. This parser rejects text that two parsers could read differently: a repeated key in an
//! object, text after the value, a lone surrogate. This module must not know the meaning of keys.
//!
//! A caller names the values that it needs ([`Keep`]). The parser checks all others as strictly, and stores none of them.

mod keys;

use std::cell::Cell;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Json};

use self::keys::{Key, Seen};
use crate::limits::{JSON_DEPTH_MAX, JSON_VALUES_MAX};

/// The values that are stored.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Keep {
    /// The value and all in it.
    All,
    /// Nothing: the value is null.
    Nothing,
    /// An object with these keys only. A list is empty.
    Keys(&'static [(&'static str, Keep)]),
    /// A list of such items. An object is empty.
    Items(&'static Keep),
}

impl Keep {
    fn of(self, wanted: &str) -> Keep {
        match self {
            Keep::All => Keep::All,
            Keep::Nothing | Keep::Items(_) => Keep::Nothing,
            Keep::Keys(keys) => {
                keys.iter().find(|(key, _)| *key == wanted).map_or(Keep::Nothing, |(_, keep)| *keep)
            }
        }
    }

    fn item(self) -> Keep {
        match self {
            Keep::All => Keep::All,
            Keep::Nothing | Keep::Keys(_) => Keep::Nothing,
            Keep::Items(item) => *item,
        }
    }

    fn stores(self) -> bool {
        !matches!(self, Keep::Nothing)
    }
}

/// The reason why a text is not exactly one JSON object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// The text is no JSON, or two parsers could read it differently.
    #[error("it is not valid JSON: {0}")]
    Invalid(String),
    /// The text is another JSON value.
    #[error("it is no JSON object")]
    NoObject,
}

/// Parses a text with exactly one JSON object.
pub(crate) fn parse_object(text: &str) -> Result<Map<String, Json>, JsonError> {
    parse_kept(text, Keep::All)
}

/// Parses a text with exactly one JSON object, and stores only some of its values.
pub(crate) fn parse_kept(text: &str, keep: Keep) -> Result<Map<String, Json>, JsonError> {
    let values = Cell::new(0);
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Strict { depth: 0, values: &values, keep }.deserialize(&mut deserializer);
    let value = value.and_then(|value| deserializer.end().map(|()| value));
    match value.map_err(|error| JsonError::Invalid(error.to_string()))? {
        Json::Object(fields) => Ok(fields),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => {
            Err(JsonError::NoObject)
        }
    }
}

#[derive(Clone, Copy)]
struct Strict<'c> {
    depth: usize,
    values: &'c Cell<usize>,
    keep: Keep,
}

impl<'c> Strict<'c> {
    fn count<E: Error>(self) -> Result<(), E> {
        self.values.set(self.values.get() + 1);
        if self.values.get() > JSON_VALUES_MAX {
            return Err(E::custom(format!("more than {JSON_VALUES_MAX} values")));
        }
        Ok(())
    }

    fn inner<E: Error>(self) -> Result<Strict<'c>, E> {
        if self.depth >= JSON_DEPTH_MAX {
            return Err(E::custom(format!("nested more than {JSON_DEPTH_MAX} deep")));
        }
        Ok(Strict { depth: self.depth + 1, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        self.count()?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::from(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::from(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(if self.keep.stores() { Json::from(value) } else { Json::Null })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
        let inner = Strict { keep: self.keep.item(), ..self.inner()? };
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed(inner)? {
            if inner.keep.stores() {
                items.push(item);
            }
        }
        Ok(Json::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Json, A::Error> {
        let inner = self.inner()?;
        let (mut fields, mut seen) = (Map::new(), Seen::default());
        while let Some(key) = object.next_key_seed(Key)? {
            if !seen.add(key.clone()) {
                return Err(A::Error::custom(format!(
                    "an object has the key `{}` twice",
                    key.escape_debug()
                )));
            }
            let keep = self.keep.of(&key);
            let value = object.next_value_seed(Strict { keep, ..inner })?;
            if keep.stores() {
                fields.insert(key.into_owned(), value);
            }
        }
        Ok(Json::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No value of these texts is stored.
    const NONE: Keep = Keep::Keys(&[]);

    #[track_caller]
    fn refused(text: &str, why: &str) {
        for keep in [Keep::All, NONE] {
            let error = parse_kept(text, keep).unwrap_err().to_string();
            assert!(error.contains(why), "{keep:?} {error}");
        }
    }

    #[test]
    fn refuses_what_two_readers_could_read_differently() {
        refused(r#"{"a":1,"a":1}"#, "the key `a` twice");
        refused(r#"{"a":{"b":[{"c":1,"\u0063":2}]}}"#, "the key `c` twice");
        refused(r#"{"a":1} x"#, "trailing");
        refused(r#"{"a":1}{"a":1}"#, "trailing");
        refused("\u{feff}{}", "not valid JSON");
        refused(r#"{"a":"\ud800"}"#, "not valid JSON");
        refused(r#"{"a":"\udc00\ud800"}"#, "not valid JSON");
        refused("{\"a\":\"\n\"}", "not valid JSON");
        refused(r#"{"a":1,}"#, "not valid JSON");
        refused(r#"{"a":NaN}"#, "not valid JSON");
        refused(r#"{"a":1e999}"#, "not valid JSON");
        refused("[]", "no JSON object");
        refused("\"{}\"", "no JSON object");
        refused("", "not valid JSON");
        let many: String = (0..1000).map(|key| format!("\"{key}\":0,")).collect();
        refused(&format!(r#"{{{many}"999":1}}"#), "the key `999` twice");
        refused(&format!(r#"{{{many}"\u0030":1}}"#), "the key `0` twice");
        assert!(parse_kept(&format!(r#"{{{many}"x":{{{many}"x":1}}}}"#), NONE).is_ok());
    }

    #[test]
    fn stores_only_what_is_kept() {
        let keep = Keep::Keys(&[
            ("a", Keep::All),
            ("k", Keep::Keys(&[("b", Keep::All)])),
            ("l", Keep::Items(&Keep::Keys(&[("c", Keep::All)]))),
        ]);
        let check = |text: &str, expected: &str| {
            let fields = parse_kept(text, keep).unwrap();
            assert_eq!(Json::Object(fields).to_string(), expected, "{text}");
        };
        check(r#"{"a":{"x":[1,"t"]},"y":{"a":1}}"#, r#"{"a":{"x":[1,"t"]}}"#);
        check(r#"{"k":{"a":1,"b":"t"},"l":[{"c":1,"d":2},3,"t"]}"#, r#"{"k":{"b":"t"},"l":[{"c":1},3,"t"]}"#);
        check(r#"{"\u0061":1}"#, r#"{"a":1}"#);
        check(r#"{"k":[{"b":1}],"l":{"c":1}}"#, r#"{"k":[],"l":{}}"#);
        check(r#"{"k":"t","l":null}"#, r#"{"k":"t","l":null}"#);
    }

    #[test]
    fn limits_hold() {
        let nested = |depth: usize| format!("{}0{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
        assert!(parse_object(&nested(JSON_DEPTH_MAX)).is_ok());
        refused(&nested(JSON_DEPTH_MAX + 1), "deep");
        refused(&nested(1_000_000), "deep");
        let list = |items: usize| format!(r#"{{"a":[{}0]}}"#, "0,".repeat(items));
        assert!(parse_object(&list(JSON_VALUES_MAX - 3)).is_ok());
        refused(&list(JSON_VALUES_MAX - 2), "values");
    }

    #[test]
    fn keeps_order_and_reads_pairs() {
        let fields = parse_object(r#" {"b":-1,"a":[true,null,1.5,"\ud83d\ude00"]} "#).unwrap();
        assert_eq!(Json::Object(fields).to_string(), r#"{"b":-1,"a":[true,null,1.5,"😀"]}"#);
    }
}
