//! The field table of the recorded cases, some more fields, and rows from their JSON events.

use std::borrow::Cow;

use castellan_event::{FieldArg, FieldDef, FieldType, Level, Net, Row, Value};
use serde_json::Value as Json;

pub(crate) static FIELDS: &[FieldDef<'static>] = &[
    FieldDef { suggested: true, ..field("correlation.id", FieldType::U64, FieldArg::None) },
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
    FieldDef { list: true, ..field("test.strs", FieldType::Text, FieldArg::None) },
    FieldDef { list: true, ..field("test.nums", FieldType::U64, FieldArg::None) },
    field("test.kv", FieldType::Text, FieldArg::Key),
    field("test.idx", FieldType::Text, FieldArg::Index),
    // Types that are not in the recorded table.
    field("test.ip", FieldType::Ip, FieldArg::None),
    field("test.net", FieldType::Net, FieldArg::None),
    field("test.bytes", FieldType::Bytes, FieldArg::None),
    field("test.bytes2", FieldType::Bytes, FieldArg::None),
    FieldDef { list: true, ..field("test.ips", FieldType::Ip, FieldArg::None) },
    FieldDef { list: true, ..field("test.nets", FieldType::Net, FieldArg::None) },
    FieldDef { list: true, ..field("test.bools", FieldType::Bool, FieldArg::None) },
    FieldDef { list: true, ..field("test.buffers", FieldType::Bytes, FieldArg::None) },
    field("test.optional", FieldType::Text, FieldArg::Optional),
    FieldDef { level: Level::Command, ..field("test.command", FieldType::Text, FieldArg::None) },
];

const fn field(name: &'static str, ty: FieldType, arg: FieldArg) -> FieldDef<'static> {
    FieldDef { name, ty, list: false, level: Level::Call, arg, suggested: false, words: &[], meaning: "" }
}

/// An event: field name to value; a missing key is an absent field.
pub(crate) struct JsonRow<'j>(pub(crate) &'j Json);

impl Row for JsonRow<'_> {
    fn value(&self, field: usize, arg: Option<&str>) -> Value<'_> {
        let def = &FIELDS[field];
        let json = match (def.name, arg) {
            ("test.kv", Some(key)) => &self.0["test.kv"][key],
            ("test.optional", Some(key)) => &self.0[format!("test.optional[{key}]")],
            ("test.idx", Some(index)) => &self.0["test.strs"][index.parse::<usize>().unwrap()],
            (name, _) => &self.0[name],
        };
        value(def.ty, json)
    }
}

fn value(ty: FieldType, json: &Json) -> Value<'_> {
    match (ty, json) {
        (_, Json::Null) => Value::Absent,
        (_, Json::Array(all)) => Value::List(all.iter().map(|one| value(ty, one)).collect()),
        // The value of a network field may be an address in the network.
        (FieldType::Ip | FieldType::Net, json) => {
            let written = json.as_str().unwrap();
            Net::parse(written).map_or_else(|| Value::Ip(written.parse().unwrap()), Value::Net)
        }
        (FieldType::U64, json) => Value::U64(json.as_u64().unwrap()),
        (FieldType::Bool, json) => Value::Bool(json.as_bool().unwrap()),
        (_, json) => Value::Text(text(json)),
    }
}

fn text(json: &Json) -> Cow<'_, [u8]> {
    Cow::Borrowed(json.as_str().unwrap().as_bytes())
}

/// Returns a value as in Falco's output fields.
pub(crate) fn json_of(value: &Value<'_>) -> Json {
    match value {
        Value::Absent => Json::Null,
        Value::Text(text) => String::from_utf8_lossy(text).into(),
        Value::U64(number) => (*number).into(),
        Value::Bool(value) => (*value).into(),
        Value::Ip(address) => address.to_string().into(),
        Value::Net(net) => net.to_string().into(),
        Value::List(all) => all.iter().map(json_of).collect(),
    }
}
