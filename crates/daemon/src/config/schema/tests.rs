use super::*;
use crate::config::text::read;
use crate::shipped::DEFAULT_CONFIG;
use castellan_event::Layer;

/// Reports whether a value matches our schema. Supports only the keywords that the schema uses.
fn fits(value: &Json, schema: &Json) -> bool {
    let Json::Object(schema) = schema else { panic!("{schema}") };
    schema.iter().all(|(word, wanted)| match (word.as_str(), value) {
        ("$schema" | "title" | "description", _) => true,
        ("const", value) => value == wanted,
        ("enum", value) => wanted.as_array().unwrap().contains(value),
        ("type", value) => match wanted.as_str().unwrap() {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "integer" => value.is_i64() || value.is_u64(),
            "boolean" => value.is_boolean(),
            other => panic!("{other}"),
        },
        ("minimum", value) => value.as_i64().is_none_or(|value| value >= wanted.as_i64().unwrap()),
        ("maximum", value) => value.as_i64().is_none_or(|value| value <= wanted.as_i64().unwrap()),
        ("minLength", value) => {
            value.as_str().is_none_or(|value| value.len() as u64 >= wanted.as_u64().unwrap())
        }
        ("minProperties", value) => {
            value.as_object().is_none_or(|map| map.len() as u64 >= wanted.as_u64().unwrap())
        }
        ("maxProperties", value) => {
            value.as_object().is_none_or(|map| map.len() as u64 <= wanted.as_u64().unwrap())
        }
        ("items", Json::Array(items)) => items.iter().all(|item| fits(item, wanted)),
        ("oneOf", value) => wanted.as_array().unwrap().iter().filter(|one| fits(value, one)).count() == 1,
        ("anyOf", value) => wanted.as_array().unwrap().iter().any(|one| fits(value, one)),
        ("required", Json::Object(map)) => {
            wanted.as_array().unwrap().iter().all(|key| map.contains_key(key.as_str().unwrap()))
        }
        ("properties", Json::Object(map)) => {
            map.iter().all(|(key, value)| wanted.get(key).is_none_or(|schema| fits(value, schema)))
        }
        ("additionalProperties", Json::Object(map)) => {
            let named = |key: &str| schema.get("properties").is_some_and(|named| named.get(key).is_some());
            map.iter()
                .filter(|(key, _)| !named(key))
                .all(|(_, value)| wanted.as_bool().unwrap_or_else(|| fits(value, wanted)))
        }
        ("items" | "required" | "properties" | "additionalProperties", _) => true,
        (other, _) => panic!("{other}"),
    })
}

/// Checks that schema and parser agree on a text.
fn check(text: &str, expected: bool) {
    let value: Json = toml::from_str(text).unwrap();
    assert_eq!(fits(&value, &json_schema()), expected, "schema: {text}");
    assert_eq!(read(text, Layer::Organisation).is_ok(), expected, "reader: {text}");
}

#[test]
fn schema_and_reader_agree() {
    check(DEFAULT_CONFIG, true);
    check("version = 1", true);
    check("version = 2", false);
    check("mode = \"enforce\"", false);
    for text in [
        "mod = 1",
        "tools = \"true\"",
        "log = 1",
        "rule.x = 1",
        "log.x = 1",
        "locked = [\"mod\"]",
        "locked = [\"version\"]",
    ] {
        check(&format!("version = 1\n{text}"), false);
    }
    for key in settable() {
        let good: Vec<String> = match key.kind {
            Kind::Version => continue,
            Kind::Word(words) => words.iter().map(|word| format!("\"{word}\"")).collect(),
            Kind::Text => vec!["\"x\"".to_owned()],
            Kind::Flag => vec!["true".to_owned()],
            Kind::Count(least) => vec![least.to_string(), u32::MAX.to_string()],
            Kind::Patterns => vec!["[]".to_owned(), "[\"Bash\"]".to_owned()],
            Kind::Texts => vec!["[]".to_owned(), "['/x y']".to_owned()],
            Kind::Names => vec![format!("{:?}", lockable().collect::<Vec<_>>())],
            Kind::Selections => vec!["[{enable = {tag = 'x'}}, {disable = {rule = '*'}}]".to_owned()],
            Kind::Outputs => {
                vec!["[{match = {tags = ['x']}, extra_fields = ['x', {a = 'b'}]}, {}]".to_owned()]
            }
        };
        let bad: &[&str] = match key.kind {
            Kind::Version => continue,
            Kind::Word(_) => &["\"\"", "\"x\"", "1", "true", "[]", "{}"],
            Kind::Text => &["\"\"", "1", "[\"x\"]"],
            Kind::Flag => &["\"true\"", "1"],
            Kind::Count(1) => &["0", "-1", "4294967296", "\"1\"", "true"],
            Kind::Count(_) => &["-1", "4294967296", "\"1\"", "1.5"],
            Kind::Patterns => &["\"Bash\"", "[1]", "[\"\"]", "[[\"Bash\"]]"],
            Kind::Texts => &["'/x'", "[1]", "['']", "[['/x']]"],
            Kind::Names => &["\"mode\"", "[1]", "[\"\"]", "[\"tools\"]"],
            Kind::Selections => &[
                "{}",
                "[1]",
                "[{}]",
                "[{enable = {}}]",
                "[{enable = {tag = ''}}]",
                "[{enable = {tag = 'x', rule = 'y'}}]",
            ],
            Kind::Outputs => &[
                "{}",
                "[1]",
                "[{x = 1}]",
                "[{match = {x = 1}}]",
                "[{extra_fields = ['']}]",
                "[{extra_fields = [{}]}]",
            ],
        };
        for (values, expected) in [(good, true), (bad.iter().map(|bad| (*bad).to_owned()).collect(), false)] {
            for value in values {
                check(&format!("version = 1\n{} = {value}", key.name), expected);
            }
        }
    }
}

#[test]
fn every_key_stands_in_the_reference_and_the_schema() {
    let (markdown, schema) = (markdown(), json_schema());
    for key in KEYS.iter() {
        assert!(markdown.contains(&format!("\n| `{}` |", key.name)), "{}", key.name);
        let path = format!("/properties/{}/description", key.name.replace('.', "/properties/"));
        assert_eq!(schema.pointer(&path).is_some(), key.place != Place::Profile, "{path}");
    }
}
