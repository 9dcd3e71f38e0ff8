//! Checks an event against the field table: every key is a field of the right level, every value has its type.

use std::net::IpAddr;

use castellan_event::{FieldArg, FieldType, Level, Net};
use serde_json::{Map, Value as Json};

use crate::json;
use crate::limits::{ROWS_MAX, SHOWN_CHARS_MAX};
use crate::table::{Field, FieldTable};

/// Returns the first fault of an event.
pub(super) fn event(event: &Json, table: &FieldTable) -> Result<(), String> {
    let event = object(event, "an event")?;
    let mut rows = 1;
    part(event, Level::Call, table, &mut rows)
}

/// Checks one part of an event, and the finer parts in it.
fn part(part: &Map<String, Json>, level: Level, table: &FieldTable, rows: &mut usize) -> Result<(), String> {
    for (key, json) in part {
        match (key.as_str(), level) {
            ("commands", Level::Call) => finer(json, key, Level::Command, table, rows)?,
            ("effects", Level::Call | Level::Command) => finer(json, key, Level::Effect, table, rows)?,
            (key, level) => value(key, json, level, table)?,
        }
    }
    Ok(())
}

fn finer(json: &Json, key: &str, level: Level, table: &FieldTable, rows: &mut usize) -> Result<(), String> {
    let all = json.as_array().ok_or_else(|| format!("`{key}` must be a list, not {}", json::kind(json)))?;
    *rows = rows.saturating_add(all.len());
    if *rows > ROWS_MAX {
        return Err(format!("more than {ROWS_MAX} rows: split the event"));
    }
    all.iter().try_for_each(|one| part(object(one, &format!("each of `{key}`"))?, level, table, rows))
}

fn value(key: &str, json: &Json, level: Level, table: &FieldTable) -> Result<(), String> {
    let field = table.find(key).ok_or_else(|| format!("there is no field `{key}` in the table"))?;
    if field.level != level && (field.level, level) != (Level::Written, Level::Effect) {
        let (own, here) = (field.level.as_str(), level.as_str());
        return Err(format!("`{key}` is a field of level {own} and stands in a part of level {here}"));
    }
    if let Some(of) = &field.of {
        return Err(format!("`{key}` is taken from `{of}`: give that"));
    }
    match (field.arg, json) {
        (_, Json::Null) => Ok(()),
        (FieldArg::Key, Json::Object(map)) | (FieldArg::Optional, Json::Object(map)) => {
            map.values().filter(|one| !one.is_null()).try_for_each(|one| typed(field, one))
        }
        (FieldArg::Key, other) => Err(wanted(field, "an object of its keys", other)),
        (FieldArg::Index, Json::Array(all)) => all.iter().try_for_each(|one| typed(field, one)),
        (FieldArg::Index, other) => Err(wanted(field, "a list of its values", other)),
        (FieldArg::None | FieldArg::Optional, json) => typed(field, json),
    }
}

fn typed(field: &Field, json: &Json) -> Result<(), String> {
    if !field.list {
        return single(field, json);
    }
    let all = json.as_array().ok_or_else(|| wanted(field, "a list", json))?;
    all.iter().try_for_each(|one| single(field, one))
}

fn single(field: &Field, json: &Json) -> Result<(), String> {
    let text = json.as_str();
    let (fits, what) = match field.ty {
        FieldType::Text | FieldType::Bytes => (text.is_some(), "a string"),
        FieldType::U64 => (json.is_u64(), "a whole number from 0"),
        FieldType::Bool => (json.is_boolean(), "true or false"),
        FieldType::Ip => (text.is_some_and(|text| text.parse::<IpAddr>().is_ok()), "an address"),
        FieldType::Net => {
            (text.is_some_and(|text| Net::parse(text).is_some()), "a network such as `10.0.0.0/8`")
        }
    };
    if fits { Ok(()) } else { Err(wanted(field, what, json)) }
}

fn wanted(field: &Field, what: &str, json: &Json) -> String {
    let got =
        if json.is_string() || json.is_number() { format!("`{json}`") } else { json::kind(json).to_owned() };
    let cut: String = got.chars().take(SHOWN_CHARS_MAX).collect();
    format!("`{}` must be {what}, not {cut}", field.name)
}

fn object<'j>(json: &'j Json, what: &str) -> Result<&'j Map<String, Json>, String> {
    json.as_object().ok_or_else(|| format!("{what} must be an object, not {}", json::kind(json)))
}
