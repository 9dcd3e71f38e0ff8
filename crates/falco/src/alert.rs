//! Alerts as Falco 0.43 prints them: one line of text, or one JSON object with sorted keys. Time and host are inputs.

use serde_json::{Map, Value as Json};

use crate::event::Match;
use crate::json;
use crate::stamp::Stamp;

/// Returns the alert as one line of text: `<time>: <Priority> <message>`. Control characters are escaped.
pub fn text(found: &Match<'_>, stamp: &Stamp) -> String {
    let mut line = String::new();
    for char in output(found, stamp).chars() {
        match char {
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            char if char.is_control() => line.push_str(&format!("\\u{:04x}", u32::from(char))),
            char => line.push(char),
        }
    }
    line
}

/// Returns the alert as a JSON object, with all keys that Falco can write, sorted.
pub fn json(found: &Match<'_>, stamp: &Stamp) -> Json {
    let rule = found.rule;
    // Falco puts the time of the text's prefix here, as a number.
    let time = std::iter::once(("evt.time".to_owned(), stamp.unix_ns.into()));
    let own = found.output_fields.iter().map(|(name, value)| (name.clone(), value.clone()));
    let fields = json::sorted(&Json::Object(own.chain(time).collect::<Map<_, _>>()));
    Json::Object(json::object([
        ("hostname", stamp.hostname.as_str().into()),
        ("message", found.message.as_str().into()),
        ("output", output(found, stamp).into()),
        ("output_fields", fields),
        ("priority", rule.priority.as_str().into()),
        ("rule", rule.name.as_str().into()),
        ("source", (&*rule.source).into()),
        ("tags", rule.tags.to_vec().into()),
        ("time", stamp.rfc3339.as_str().into()),
    ]))
}

fn output(found: &Match<'_>, stamp: &Stamp) -> String {
    format!("{}: {} {}", stamp.time_of_day(), found.rule.priority.as_str(), found.message)
}
