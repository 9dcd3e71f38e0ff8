//! Values as JSON, and JSON as text. Knows nothing of fields and rules.

use castellan_event::Value;
use serde_json::{Map, Value as Json};

/// Converts a typed value to JSON as Falco does: absent is `null`, bytes that are not UTF-8 become U+FFFD.
pub(crate) fn of_value(value: &Value<'_>) -> Json {
    match value {
        Value::Absent => Json::Null,
        Value::Text(bytes) => String::from_utf8_lossy(bytes).into(),
        Value::U64(number) => (*number).into(),
        Value::Bool(value) => (*value).into(),
        Value::Ip(address) => address.to_string().into(),
        Value::Net(net) => net.to_string().into(),
        Value::List(all) => all.iter().map(of_value).collect(),
    }
}

/// Returns the same JSON with the keys of every object sorted.
pub(crate) fn sorted(json: &Json) -> Json {
    match json {
        Json::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| key.as_str());
            Json::Object(entries.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect())
        }
        Json::Array(all) => all.iter().map(sorted).collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => json.clone(),
    }
}

pub(crate) fn object<const N: usize>(entries: [(&str, Json); N]) -> Map<String, Json> {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Returns the kind of a JSON value, in words.
pub(crate) fn kind(json: &Json) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "true or false",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}
