//! Files → field table. Every error names the file and the entry.

use castellan_event::{FieldArg, FieldType, Level};
use serde_json::{Map, Value as Json};

use crate::json;
use crate::limits::{FIELDS_MAX, NAME_BYTES_MAX};
use crate::table::{ARGS, Field, FieldTable, TYPES, TableText, generic};

/// The version of the format for reading and writing.
pub(super) const VERSION: u64 = 1;

/// The reason why a file is not a field table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{table}`: {place}{message}")]
pub struct TableError {
    table: String,
    /// An entry, in words, with a colon behind it; empty for the whole file.
    place: String,
    message: String,
}

/// The shape of a file, as far as it changes the meaning of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// castellan's own: unknown keys are errors, and a field has no argument by default.
    Own,
    /// A list of names and types. It does not show which fields take an argument, so all may.
    Plain,
    /// Falco's classes of fields.
    Classes,
}

pub(super) fn read(texts: &[TableText<'_>]) -> Result<FieldTable, TableError> {
    let mut table = FieldTable::default();
    for text in texts {
        let error = |(place, message)| TableError { table: text.name.to_owned(), place, message };
        let json =
            serde_json::from_str(text.text).map_err(|wrong| error(whole(format!("not JSON: {wrong}"))))?;
        add_file(&mut table, &json).map_err(error)?;
    }
    generic::add(&mut table.fields);
    Ok(table)
}

/// A place and the fault there.
type Wrong = (String, String);

fn whole(message: impl Into<String>) -> Wrong {
    (String::new(), message.into())
}

fn add_file(table: &mut FieldTable, json: &Json) -> Result<(), Wrong> {
    let (shape, entries) = match json {
        Json::Object(file) => (Shape::Own, own(table, file)?),
        Json::Array(all) if all.iter().any(|class| class.get("fields").is_some()) => {
            (Shape::Classes, classes(all)?)
        }
        Json::Array(all) => (Shape::Plain, all.iter().collect()),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {
            return Err(whole(format!("a field table is an object or a list, not {}", json::kind(json))));
        }
    };
    let first = table.fields.len();
    for (index, entry) in entries.into_iter().enumerate() {
        let name = entry.get("name").and_then(Json::as_str).map(|name| format!(" (`{name}`)"));
        let place = format!("field {}{}: ", index + 1, name.unwrap_or_default());
        add(table, entry, shape).map_err(|message| (place, message))?;
    }
    for field in table.fields.iter().skip(first) {
        check_of(table, field).map_err(|message| (format!("field `{}`: ", field.name), message))?;
    }
    Ok(())
}

/// Reads the head of a file in castellan's own shape, and returns its entries.
fn own<'j>(table: &mut FieldTable, file: &'j Map<String, Json>) -> Result<Vec<&'j Json>, Wrong> {
    known_keys(file, &["version", "source", "plugins", "fields"]).map_err(whole)?;
    if file.get("version").and_then(Json::as_u64) != Some(VERSION) {
        return Err(whole(format!("`version` must be {VERSION}")));
    }
    if let Some(source) = text(file, "source").map_err(whole)? {
        if table.source.as_deref().is_some_and(|earlier| earlier != source) {
            return Err(whole(format!("`source` is `{source}` here and another in an earlier table")));
        }
        table.source = Some(source.to_owned());
    }
    for plugin in list(file, "plugins").map_err(whole)? {
        let part = |key| plugin.get(key).and_then(Json::as_str).map(str::to_owned);
        let Some(named) = part("name").zip(part("version")) else {
            return Err(whole("each of `plugins` needs a `name` and a `version`"));
        };
        table.plugins.push(named);
    }
    if !file.contains_key("fields") {
        return Err(whole("`fields` is missing"));
    }
    list(file, "fields").map_err(whole)
}

fn classes(all: &[Json]) -> Result<Vec<&Json>, Wrong> {
    let mut entries = Vec::new();
    for (index, class) in all.iter().enumerate() {
        let wrong = |message| (format!("class {}: ", index + 1), message);
        let class = class.as_object().ok_or_else(|| wrong("must be an object".to_owned()))?;
        entries.extend(list(class, "fields").map_err(wrong)?);
    }
    Ok(entries)
}

fn add(table: &mut FieldTable, entry: &Json, shape: Shape) -> Result<(), String> {
    let entry = entry.as_object().ok_or_else(|| format!("must be an object, not {}", json::kind(entry)))?;
    let field = field(entry, shape)?;
    // Falco's lists repeat a field in several classes.
    match table.fields.iter().find(|earlier| earlier.name == field.name) {
        Some(earlier) if shape != Shape::Classes || *earlier != field => {
            return Err("the name is taken by an earlier field".to_owned());
        }
        Some(_) => return Ok(()),
        None => table.fields.push(field),
    }
    if table.fields.len() > FIELDS_MAX { Err(format!("more than {FIELDS_MAX} fields")) } else { Ok(()) }
}

fn field(entry: &Map<String, Json>, shape: Shape) -> Result<Field, String> {
    if shape == Shape::Own {
        known_keys(entry, &["name", "type", "list", "argument", "level", "suggested", "meaning", "of"])?;
    }
    let name = text(entry, "name")?.ok_or("`name` is missing")?;
    if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.bytes().all(is_name_byte) {
        return Err("a name consists of letters, digits, `_`, `-` and `.`".to_owned());
    }
    if ["commands", "effects"].contains(&name) {
        return Err(format!("`{name}` holds the finer rows of an event and cannot be a field"));
    }
    let (ty, of_list) = value_type(text(entry, "type")?.ok_or("`type` is missing")?)?;
    Ok(Field {
        name: name.to_owned(),
        ty,
        list: of_list || flag(entry, "list")? || flag(entry, "is_list")?,
        level: level(entry)?,
        arg: argument(entry, shape)?,
        suggested: flag(entry, "suggested")?,
        meaning: text(entry, "meaning")?.or(text(entry, "desc")?).unwrap_or_default().to_owned(),
        of: text(entry, "of")?.map(str::to_owned),
        generic: None,
    })
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Parses a name of a type; `LIST(...)` around it is a list.
fn value_type(written: &str) -> Result<(FieldType, bool), String> {
    let lower = written.to_ascii_lowercase();
    let inner = lower.strip_prefix("list(").and_then(|rest| rest.strip_suffix(')'));
    let name = inner.unwrap_or(&lower);
    let found = TYPES.iter().find(|(_, names)| names.contains(&name));
    let (ty, _) = found.ok_or_else(|| {
        let ours: Vec<&str> = TYPES.iter().filter_map(|(_, names)| names.first().copied()).collect();
        format!("`{written}` is not a type; use one of {}, or a name that Falco has for it", ours.join(", "))
    })?;
    Ok((*ty, inner.is_some()))
}

fn level(entry: &Map<String, Json>) -> Result<Level, String> {
    let Some(word) = text(entry, "level")? else { return Ok(Level::Call) };
    let found = Level::ALL.into_iter().find(|level| level.as_str() == word);
    found.ok_or_else(|| format!("`level` is call, command or effect, not `{word}`"))
}

fn argument(entry: &Map<String, Json>, shape: Shape) -> Result<FieldArg, String> {
    match entry.get("argument") {
        None | Some(Json::Null) if shape == Shape::Plain => Ok(FieldArg::Optional),
        None | Some(Json::Null) => Ok(FieldArg::None),
        // Falco's list shows whether an argument is required. Its kind (key or index) is only in the text for people.
        Some(Json::Object(falco)) => {
            Ok(if flag(falco, "required")? { FieldArg::Key } else { FieldArg::Optional })
        }
        Some(word) => {
            let found = ARGS.iter().find(|(_, name)| word.as_str() == Some(name));
            let (arg, _) =
                found.ok_or_else(|| format!("`argument` is none, key, index or optional, not {word}"))?;
            Ok(*arg)
        }
    }
}

/// Checks that the field is an index into a list of the same type.
fn check_of(table: &FieldTable, field: &Field) -> Result<(), String> {
    let Some(of) = &field.of else { return Ok(()) };
    if field.arg != FieldArg::Index {
        return Err("`of` is for fields with an index".to_owned());
    }
    let fits =
        table.find(of).is_some_and(|list| list.list && list.ty == field.ty && list.arg == FieldArg::None);
    if fits {
        Ok(())
    } else {
        Err(format!("`of` names `{of}`, which is no list of the same type in the table"))
    }
}

fn known_keys(map: &Map<String, Json>, known: &[&str]) -> Result<(), String> {
    let unknown = map.keys().find(|key| !known.contains(&key.as_str()));
    unknown.map_or(Ok(()), |key| Err(format!("unknown key `{key}`; known are: {}", known.join(" "))))
}

fn text<'j>(map: &'j Map<String, Json>, key: &str) -> Result<Option<&'j str>, String> {
    match map.get(key) {
        None | Some(Json::Null) => Ok(None),
        Some(value) => value.as_str().map(Some).ok_or_else(|| wanted(key, "a string", value)),
    }
}

fn flag(map: &Map<String, Json>, key: &str) -> Result<bool, String> {
    map.get(key).map_or(Ok(false), |value| value.as_bool().ok_or_else(|| wanted(key, "true or false", value)))
}

fn list<'j>(map: &'j Map<String, Json>, key: &str) -> Result<Vec<&'j Json>, String> {
    map.get(key).map_or(Ok(Vec::new()), |value| {
        value.as_array().map(|all| all.iter().collect()).ok_or_else(|| wanted(key, "a list", value))
    })
}

fn wanted(key: &str, what: &str, value: &Json) -> String {
    format!("`{key}` must be {what}, not {}", json::kind(value))
}
