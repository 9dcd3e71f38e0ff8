//! Exports the table of keys: a JSON schema for editors, and the reference in the documentation.

use serde_json::{Map, Value as Json, json};

use super::keys::{KEYS, Key, Kind, Merge, Place};

/// Returns a JSON schema (draft 2020-12) of `config.toml`, for editors that check TOML. It covers the files of all
/// layers; the descriptions name the layers that may set a key.
pub fn json_schema() -> Json {
    let mut root = Map::new();
    let mut tables: Vec<(&str, Map<String, Json>)> = Vec::new();
    for key in settable() {
        match key.name.split_once('.') {
            None => drop(root.insert(key.name.to_owned(), of_key(key))),
            Some((table, name)) => {
                if tables.last().is_none_or(|(last, _)| *last != table) {
                    tables.push((table, Map::new()));
                }
                if let Some((_, keys)) = tables.last_mut() {
                    keys.insert(name.to_owned(), of_key(key));
                }
            }
        }
    }
    for (table, keys) in tables {
        root.insert(table.to_owned(), object(keys, &[]));
    }
    let Json::Object(mut schema) = object(root, &["version"]) else { return Json::Null };
    schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".to_owned(), json!("castellan's config.toml"));
    Json::Object(schema)
}

/// The table of keys in Markdown.
pub fn markdown() -> String {
    let mut text = String::from("| key | values | default | layers | meaning |\n|---|---|---|---|---|\n");
    for key in KEYS.iter() {
        let default = match (key.default, key.place) {
            ("", Place::Every) if key.kind != Kind::Version => "by profile".to_owned(),
            ("", _) => String::new(),
            (default, _) => format!("`{default}`"),
        };
        let about = key.about.replace('|', "\\|");
        let (name, values, layers) = (key.name, values(key.kind), layers(key));
        text.push_str(&format!("| `{name}` | {values} | {default} | {layers} | {about} |\n"));
    }
    text
}

fn settable() -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(|key| key.place != Place::Profile)
}

fn of_key(key: &Key) -> Json {
    let mut schema = of_kind(key);
    if let Json::Object(schema) = &mut schema {
        let place = match key.place {
            Place::Every | Place::Profile => "",
            Place::Organisation => " In the organisation's file alone.",
            Place::AboveProject => " Not in a project's file.",
        };
        schema.insert("description".to_owned(), json!(format!("{}{place}", key.about)));
    }
    schema
}

fn of_kind(key: &Key) -> Json {
    let text = json!({"type": "string", "minLength": 1});
    match key.kind {
        Kind::Version => json!({"const": 1}),
        Kind::Word(words) => json!({"enum": words}),
        Kind::Text => text,
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Count(least) => json!({"type": "integer", "minimum": least, "maximum": u32::MAX}),
        Kind::Patterns | Kind::Texts => json!({"type": "array", "items": text}),
        Kind::Names => json!({"type": "array", "items": {"enum": lockable().collect::<Vec<_>>()}}),
        Kind::Selections => {
            let of = |key: &str| object(one(key, text.clone()), &[key]);
            let what = json!({"oneOf": [of("rule"), of("tag")]});
            let switch = |key: &str| object(one(key, what.clone()), &[key]);
            json!({"type": "array", "items": {"oneOf": [switch("enable"), switch("disable")]}})
        }
        Kind::Outputs => outputs(),
    }
}

fn outputs() -> Json {
    let text = json!({"type": "string"});
    let texts = json!({"type": "array", "items": text});
    let named =
        json!({"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": text});
    json!({"type": "array", "items": {
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "match": {
                "type": "object",
                "additionalProperties": false,
                "properties": {"source": text, "rule": text, "tags": texts},
            },
            "extra_output": text,
            "extra_fields": {"type": "array", "items": {"anyOf": [{"type": "string", "minLength": 1}, named]}},
            "suggested_output": {"type": "boolean"},
        },
    }})
}

/// Returns the names that `locked` may contain.
pub(super) fn lockable() -> impl Iterator<Item = &'static str> {
    settable().filter(|key| key.merge != Merge::Own).map(|key| key.name)
}

fn object(properties: Map<String, Json>, required: &[&str]) -> Json {
    json!({"type": "object", "additionalProperties": false, "properties": properties, "required": required})
}

fn one(key: &str, value: Json) -> Map<String, Json> {
    Map::from_iter([(key.to_owned(), value)])
}

fn values(kind: Kind) -> String {
    match kind {
        Kind::Version => "`1`".to_owned(),
        Kind::Word(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        Kind::Text => "a text".to_owned(),
        Kind::Flag => "`true`, `false`".to_owned(),
        Kind::Count(least) => format!("a number from {least}"),
        Kind::Patterns => "a list of patterns".to_owned(),
        Kind::Texts => "a list of texts".to_owned(),
        Kind::Names => "a list of keys".to_owned(),
        Kind::Selections | Kind::Outputs => "a list of tables".to_owned(),
    }
}

/// Returns the layers that may set a key, and its merge rule.
fn layers(key: &Key) -> &'static str {
    match (key.place, key.merge) {
        (Place::Organisation, _) => "organisation",
        (_, Merge::Own) => "every file",
        (Place::Profile, _) => "none: by profile; the strictest",
        (Place::Every, Merge::Strictest) => "all: the strictest",
        (Place::Every, Merge::United) => "all: together",
        (Place::Every, Merge::Lifting) => "all: each for itself",
        (Place::Every, Merge::Highest) => "all: the highest",
        (Place::AboveProject, Merge::Strictest) => "organisation, user: the strictest",
        (Place::AboveProject, Merge::United | Merge::Lifting) => "organisation, user: together",
        (Place::AboveProject, Merge::Highest) => "organisation, user: the highest",
    }
}

#[cfg(test)]
mod tests;
