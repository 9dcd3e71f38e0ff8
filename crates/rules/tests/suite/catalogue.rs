//! The field table that the recorded cases were made with, and rows read from their JSON events.

use std::borrow::Cow;

use castellan_event::{FieldArg, FieldDef, FieldType, Level, Row, Value};
use serde_json::Value as Json;

pub(crate) static FIELDS: &[FieldDef] = &[
    field("correlation.id", FieldType::U64, FieldArg::None),
    field("agent.name", FieldType::Text, FieldArg::None),
    field("agent.hook_event_name", FieldType::Text, FieldArg::None),
    field("agent.session_id", FieldType::Text, FieldArg::None),
    field("agent.cwd", FieldType::Text, FieldArg::None),
    field("agent.real_cwd", FieldType::Text, FieldArg::None),
    field("tool.use_id", FieldType::Text, FieldArg::None),
    field("tool.name", FieldType::Text, FieldArg::None),
    field("tool.input", FieldType::Text, FieldArg::None),
    field("tool.input_command", FieldType::Text, FieldArg::None),
    field("tool.file_path", FieldType::Text, FieldArg::None),
    field("tool.real_file_path", FieldType::Text, FieldArg::None),
    field("tool.mcp_server", FieldType::Text, FieldArg::None),
    field("test.str", FieldType::Text, FieldArg::None),
    field("test.str2", FieldType::Text, FieldArg::None),
    field("test.num", FieldType::U64, FieldArg::None),
    field("test.bool", FieldType::Bool, FieldArg::None),
    field("test.strs", FieldType::TextList, FieldArg::None),
    field("test.nums", FieldType::U64List, FieldArg::None),
    field("test.kv", FieldType::Text, FieldArg::Key),
    field("test.idx", FieldType::Text, FieldArg::Index),
];

const fn field(name: &'static str, ty: FieldType, arg: FieldArg) -> FieldDef {
    FieldDef { name, ty, level: Level::Call, arg, meaning: "" }
}

/// An event: field name to value; a missing key is an absent field.
pub(crate) struct JsonRow<'j>(pub(crate) &'j Json);

impl Row for JsonRow<'_> {
    fn value(&self, field: usize, arg: Option<&str>) -> Value<'_> {
        let def = &FIELDS[field];
        let json = match (def.name, arg) {
            ("test.kv", Some(key)) => &self.0["test.kv"][key],
            ("test.idx", Some(index)) => &self.0["test.strs"][index.parse::<usize>().unwrap()],
            (name, _) => &self.0[name],
        };
        match (def.ty, json) {
            (_, Json::Null) => Value::Absent,
            (FieldType::Text, json) => Value::Text(text(json)),
            (FieldType::U64, json) => Value::U64(json.as_u64().unwrap()),
            (FieldType::Bool, json) => Value::Bool(json.as_bool().unwrap()),
            (FieldType::TextList, json) => {
                Value::TextList(json.as_array().unwrap().iter().map(text).collect())
            }
            (FieldType::U64List, json) => {
                Value::U64List(json.as_array().unwrap().iter().map(|one| one.as_u64().unwrap()).collect())
            }
        }
    }
}

fn text(json: &Json) -> Cow<'_, [u8]> {
    Cow::Borrowed(json.as_str().unwrap().as_bytes())
}
