//! [`read`]: the part of YAML that task files need: maps, lists and scalars as JSON. Must not know tasks.

use castellan_event::Why;
use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

use crate::limits::{YAML_DEPTH_MAX, YAML_EVENTS_MAX};

/// A container during parsing, with the key that waits for its value.
enum Open {
    List(Vec<Value>),
    Map(Map<String, Value>, Option<String>),
}

/// Returns the first document of a text. Aliases are rejected.
pub(crate) fn read(text: &str) -> Result<Value, Why> {
    let mut open: Vec<Open> = Vec::new();
    for (number, event) in Parser::new_from_str(text).enumerate() {
        if number > YAML_EVENTS_MAX || open.len() > YAML_DEPTH_MAX {
            return Err(Why::Budget);
        }
        let (event, _) = event.map_err(|_| Why::Syntax)?;
        let value = match event {
            Event::Scalar(text, ScalarStyle::Plain, ..) if matches!(&*text, "" | "~" | "null") => Value::Null,
            Event::Scalar(text, ..) => Value::String(text.into_owned()),
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Map(Map::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(values)) => Value::Array(values),
                Some(Open::Map(values, _)) => Value::Object(values),
                None => return Err(Why::Syntax),
            },
            Event::Alias(_) => return Err(Why::Language),
            Event::DocumentEnd => break,
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) => continue,
        };
        match open.last_mut() {
            None => return Ok(value),
            Some(Open::List(values)) => values.push(value),
            Some(Open::Map(values, key)) => match (key.take(), value) {
                (Some(key), value) => {
                    values.insert(key, value);
                }
                (None, Value::String(text)) => *key = Some(text),
                (None, Value::Null) => *key = Some(String::new()),
                (None, _) => return Err(Why::Language),
            },
        }
    }
    Ok(Value::Null)
}
