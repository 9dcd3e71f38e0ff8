//! The front matter of a Markdown file: YAML between two lines of `---`, converted to JSON. Claude Code reads from it
//! the hooks of skills, commands and sub-agents. This module must not know hooks. Text that agents may read in two ways
//! is an error, never empty.

use std::collections::{BTreeSet, HashMap};

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value as Json};

use crate::limits::{FRONT_MATTER_BYTES_MAX, FRONT_MATTER_VALUES_MAX, JSON_DEPTH_MAX};

/// Returns the front matter, an object or null, for every possible end: the first `---`, or the first line that begins
/// so.
pub(crate) fn front_matter(text: &str) -> Vec<Result<Json, String>> {
    let body = text.trim_start_matches('\u{feff}').trim_start();
    let Some(rest) = body.strip_prefix("---") else { return Vec::new() };
    let ends = [rest.find("---"), rest.find("\n---"), rest.find("\r---")];
    let texts = ends.into_iter().flatten().filter_map(|end| rest.get(..end)).map(str::trim_end);
    let texts: BTreeSet<&str> = texts.collect();
    texts.into_iter().map(read).collect()
}

/// A container during parsing.
struct Open {
    container: Container,
    anchor: usize,
    values: usize,
}

enum Container {
    List(Vec<Json>),
    Map(Map<String, Json>, Option<String>),
}

/// A complete value, and the number of values in it.
#[derive(Clone)]
struct Node {
    json: Json,
    values: usize,
}

#[derive(Default)]
struct Reader {
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    root: Option<Json>,
}

fn read(text: &str) -> Result<Json, String> {
    if text.len() > FRONT_MATTER_BYTES_MAX {
        return Err(format!("front matter of more than {FRONT_MATTER_BYTES_MAX} bytes"));
    }
    let mut reader = Reader::default();
    for event in Parser::new_from_str(text) {
        let (event, _) = event.map_err(|error| format!("not valid YAML: {}", error.info()))?;
        reader.event(event)?;
    }
    Ok(reader.root.unwrap_or_default())
}

impl Reader {
    fn event(&mut self, event: Event<'_>) -> Result<(), String> {
        let is_tagged = match &event {
            Event::Scalar(.., tag) | Event::SequenceStart(_, tag) | Event::MappingStart(_, tag) => {
                tag.is_some()
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::Alias(_)
            | Event::SequenceEnd
            | Event::MappingEnd => false,
        };
        if is_tagged {
            return Err("a tag of YAML, which agents read differently".to_owned());
        }
        match event {
            Event::Scalar(text, style, anchor, _) => self.add(scalar(&text, style), 1, anchor),
            Event::SequenceStart(anchor, _) => self.open(Container::List(Vec::new()), anchor),
            Event::MappingStart(anchor, _) => self.open(Container::Map(Map::new(), None), anchor),
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(Open { container, anchor, values }) = self.open.pop() else { return Ok(()) };
                let json = match container {
                    Container::List(list) => Json::Array(list),
                    Container::Map(map, _) => Json::Object(map),
                };
                self.add(json, values, anchor)
            }
            Event::Alias(anchor) => {
                let node = self.anchors.get(&anchor).cloned();
                let node = node.ok_or("an alias within its own anchor")?;
                self.add(node.json, node.values, 0)
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    fn open(&mut self, container: Container, anchor: usize) -> Result<(), String> {
        if self.open.len() >= JSON_DEPTH_MAX {
            return Err(format!("YAML of more than {JSON_DEPTH_MAX} levels"));
        }
        self.open.push(Open { container, anchor, values: 1 });
        Ok(())
    }

    fn add(&mut self, json: Json, values: usize, anchor: usize) -> Result<(), String> {
        if values > FRONT_MATTER_VALUES_MAX {
            return Err(format!(
                "YAML of more than {FRONT_MATTER_VALUES_MAX} values, aliases counted each time"
            ));
        }
        if anchor > 0 {
            self.anchors.insert(anchor, Node { json: json.clone(), values });
        }
        let Some(open) = self.open.last_mut() else {
            return match self.root.replace(json) {
                Some(_) => Err("more than one document of YAML".to_owned()),
                None => Ok(()),
            };
        };
        open.values = open.values.saturating_add(values);
        if open.values > FRONT_MATTER_VALUES_MAX {
            return Err(format!(
                "YAML of more than {FRONT_MATTER_VALUES_MAX} values, aliases counted each time"
            ));
        }
        match &mut open.container {
            Container::List(list) => list.push(json),
            Container::Map(map, key) => match key.take() {
                Some(key) if key == "<<" => {
                    return Err("a merge key of YAML, which agents read differently".to_owned());
                }
                Some(key) => {
                    if map.insert(key.clone(), json).is_some() {
                        return Err(format!("the key `{key}` twice in one map"));
                    }
                }
                None => *key = Some(key_of(json)?),
            },
        }
        Ok(())
    }
}

fn scalar(text: &str, style: ScalarStyle) -> Json {
    match text {
        _ if style != ScalarStyle::Plain => Json::String(text.to_owned()),
        "" | "~" | "null" | "Null" | "NULL" => Json::Null,
        "true" | "True" | "TRUE" => Json::Bool(true),
        "false" | "False" | "FALSE" => Json::Bool(false),
        number => match number.parse::<i64>() {
            Ok(number) => Json::from(number),
            Err(_) => Json::String(text.to_owned()),
        },
    }
}

/// JavaScript converts a list with one word into that word if it is a key.
fn key_of(json: Json) -> Result<String, String> {
    match json {
        Json::String(key) => Ok(key),
        Json::Null | Json::Bool(_) | Json::Number(_) => Ok(json.to_string()),
        Json::Array(_) | Json::Object(_) => Err("a list or a map as a key of YAML".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn yaml_is_read_in_every_form() {
        let hooks = json!({ "hooks": { "PreToolUse": [{ "a": "x" }] } });
        for yaml in [
            "hooks:\n  PreToolUse:\n  - a: x",
            r#""ho\u006fks": {PreToolUse: [{a: x}]}"#,
            r#""hooks": {"\x50reToolUse": [{"a": "x"}]}"#,
            "'hooks':\n  ? PreToolUse\n  : - 'a': |-\n        x",
            "{\"hooks\": {\"PreToolUse\": [{\"a\": \"x\"}]}}",
        ] {
            let text = format!("\u{feff}\n---\n{yaml}\n---\nbody\n");
            assert_eq!(front_matter(&text), [Ok(hooks.clone())], "{yaml}");
        }
        let alias = "---\nx: &a [{a: x}]\nhooks: {PreToolUse: *a}\n---\n";
        let expected = json!({ "x": [{ "a": "x" }], "hooks": { "PreToolUse": [{ "a": "x" }] } });
        assert_eq!(front_matter(alias), [Ok(expected)]);
        assert_eq!(front_matter("---\nname: x\r\n---\r\n"), [Ok(json!({ "name": "x" }))]);
        for text in ["", "text", "---", "--\nhooks: 1\n--", "# x\n---\nhooks: 1\n---\n"] {
            assert_eq!(front_matter(text), [], "{text}");
        }
        // The front matter may end at two places.
        let two = front_matter("---\nname: a---b\nhooks: 1\n---\n");
        assert_eq!(two, [Ok(json!({ "name": "a" })), Ok(json!({ "name": "a---b", "hooks": 1 }))]);
    }

    #[test]
    fn what_may_be_read_in_two_ways_is_not_read() {
        let bomb = (1..20).fold("a0: &a0 [x]".to_owned(), |text, level| {
            let before = level - 1;
            format!("{text}\na{level}: &a{level} [*a{before}, *a{before}, *a{before}, *a{before}]")
        });
        for yaml in [
            "a: [",
            "a: 1\na: 2",
            "x: &a {hooks: 1}\n<<: *a",
            "hooks: !!map {}",
            "hooks: !include x",
            "[a]: 1",
            "a: &a [*a]",
            &format!("a: {}", "[".repeat(200)),
            &bomb,
            &"a: b\n".repeat(100_000),
        ] {
            let found = front_matter(&format!("---\n{yaml}\n---\n"));
            assert!(matches!(found.as_slice(), [Err(_)]), "{found:?} of {} bytes", yaml.len());
        }
    }
}
