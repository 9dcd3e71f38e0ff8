//! The list of fields for Falco: those of the field table in their order, then those between daemon and engine. The
//! number of a field in a request is its position in this list.

use std::ffi::{CStr, CString};
use std::sync::OnceLock;

use castellan_event::{FIELDS, FieldArg, FieldDef, FieldType};
use castellan_rows::EngineField;
use serde_json::{Value, json};

/// A field by its position in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    /// A field of the field table.
    Row(usize),
    /// A field between daemon and engine.
    Engine(EngineField),
}

impl Field {
    pub(crate) fn at(position: usize) -> Option<Field> {
        if position < FIELDS.len() {
            return Some(Field::Row(position));
        }
        EngineField::ALL.get(position - FIELDS.len()).copied().map(Field::Engine)
    }
}

/// Returns the list as JSON, as Falco reads it.
pub(crate) fn list() -> &'static CStr {
    static LIST: OnceLock<CString> = OnceLock::new();
    LIST.get_or_init(|| {
        let own = FIELDS.iter().map(of_row);
        let engine = EngineField::ALL.iter().map(|field| of_engine(*field));
        let list = Value::Array(own.chain(engine).collect()).to_string();
        // JSON escapes a NUL, so none is left. An empty list would make Falco refuse the plugin.
        CString::new(list).unwrap_or_default()
    })
}

fn of_row(field: &FieldDef<'_>) -> Value {
    let ty = match field.ty {
        FieldType::Text | FieldType::Bytes => "string",
        FieldType::U64 => "uint64",
        FieldType::Bool => "bool",
        FieldType::Ip => "ipaddr",
        FieldType::Net => "ipnet",
    };
    let arg = match field.arg {
        FieldArg::None => Value::Null,
        FieldArg::Key => json!({ "isRequired": true, "isKey": true }),
        FieldArg::Index => json!({ "isRequired": true, "isIndex": true }),
        FieldArg::Optional => json!({ "isKey": true }),
    };
    json!({
        "name": field.name, "type": ty, "isList": field.list, "arg": arg, "desc": field.meaning,
        "addOutput": field.suggested,
    })
}

fn of_engine(field: EngineField) -> Value {
    let (ty, arg) = match field {
        EngineField::Match => ("bool", json!({ "isRequired": true, "isIndex": true })),
        EngineField::Nonce | EngineField::Generation | EngineField::Seen => ("string", Value::Null),
    };
    json!({ "name": field.name(), "type": ty, "isList": false, "arg": arg, "desc": field.meaning() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_position_in_the_list_is_the_number_of_the_field() {
        let list: Value = serde_json::from_slice(list().to_bytes()).unwrap();
        let list = list.as_array().unwrap();
        assert_eq!(list.len(), FIELDS.len() + EngineField::ALL.len());
        for (position, described) in list.iter().enumerate() {
            let name = match Field::at(position).unwrap() {
                Field::Row(field) => FIELDS[field].name,
                Field::Engine(field) => field.name(),
            };
            assert_eq!(described["name"], name);
        }
        assert_eq!(Field::at(list.len()), None);
    }
}
