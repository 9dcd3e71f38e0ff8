//! [`Event`]: an event as a JSON object, field name → value, and the rules that match it. With `commands` and
//! `effects`, an event has rows of every level. An effect with a field of level `written` belongs to a file that is
//! written. It knows fields by their table only.

mod check;

use std::borrow::Cow;
use std::collections::BTreeMap;

use castellan_event::{FieldArg, FieldType, Level, Net, Row, Value};
use castellan_rules::{Matching, Rule, RuleSet};
use serde_json::{Map, Value as Json};

use crate::json;
use crate::stamp::Stamp;
use crate::table::{Field, FieldTable, Generic};

/// The source of events: the properties that all its events share.
#[derive(Debug, Clone, Copy)]
pub struct EventSource<'t> {
    /// The fields that an event may have.
    pub table: &'t FieldTable,
    /// The name of the source.
    pub name: &'t str,
    /// Time and machine of the events.
    pub stamp: &'t Stamp,
}

/// An event, checked against the table.
#[derive(Debug, Clone)]
pub struct Event<'t> {
    source: EventSource<'t>,
    number: u64,
    json: Map<String, Json>,
    /// The event as compact JSON, keys sorted.
    info: String,
}

/// The reason why a text or JSON is not an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("event {number}: {message}")]
pub struct EventError {
    number: u64,
    message: String,
}

/// A row of an event: the event itself, one of its commands, or one of the effects.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventRow<'e> {
    event: &'e Event<'e>,
    command: Option<&'e Map<String, Json>>,
    effect: Option<&'e Map<String, Json>>,
}

/// A rule that matched an event.
#[derive(Debug, Clone)]
pub struct Match<'r> {
    /// The event's number, from 1.
    pub event: u64,
    /// The rule.
    pub rule: &'r Rule,
    /// Level of the first row that the rule matched.
    pub level: Level,
    /// The output, rendered on that row.
    pub message: String,
    /// The output fields on that row, keys sorted.
    pub output_fields: Map<String, Json>,
}

impl<'t> EventSource<'t> {
    /// Parses an event from JSON text. The caller counts events from 1. The error names the first wrong part.
    pub fn read(self, number: u64, text: &str) -> Result<Event<'t>, EventError> {
        let json = serde_json::from_str(text);
        let json = json.map_err(|error| EventError { number, message: not_json(&error) })?;
        self.event(number, json)
    }

    /// Checks an event that is already JSON. The error names the first wrong part.
    pub fn event(self, number: u64, json: Json) -> Result<Event<'t>, EventError> {
        let checked = check::event(&json, self.table).map_err(|message| EventError { number, message });
        checked?;
        let info = json::sorted(&json).to_string();
        let json = if let Json::Object(map) = json { map } else { Map::new() };
        Ok(Event { source: self, number, json, info })
    }
}

/// Returns the JSON error with its column. The caller knows the line.
fn not_json(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let what = said.split_once(" at line ").map_or(said.as_str(), |(what, _)| what);
    format!("not JSON at column {}: {what}", error.column())
}

impl Event<'_> {
    /// Returns the rows, coarse first: the event, its commands, each command's effects, and effects without a command.
    pub(crate) fn rows(&self) -> Vec<EventRow<'_>> {
        let whole = EventRow { event: self, command: None, effect: None };
        let commands = objects(&self.json, "commands");
        let of_commands = commands.iter().flat_map(|command| {
            let row = EventRow { command: Some(command), ..whole };
            objects(command, "effects")
                .into_iter()
                .map(move |effect| EventRow { effect: Some(effect), ..row })
        });
        let own = objects(&self.json, "effects").into_iter();
        let own = own.map(|effect| EventRow { effect: Some(effect), ..whole });
        let of_event = commands.iter().map(|command| EventRow { command: Some(command), ..whole });
        std::iter::once(whole).chain(of_event).chain(of_commands).chain(own).collect()
    }

    /// Returns the matching rules in their order, each once, with the first row that it matched. With
    /// [`Matching::First`], returns the first rule alone; the rules must have been loaded with it too.
    pub fn matches<'r>(&self, rules: &'r RuleSet, matching: Matching) -> Vec<Match<'r>> {
        let mut first = BTreeMap::new();
        for row in self.rows() {
            for hit in rules.evaluate(&row) {
                first.entry(hit.rule).or_insert((row, hit.message));
            }
        }
        let found = first.into_iter().filter_map(|(index, (row, message))| {
            let fields = rules.output_fields(&row, index).into_iter();
            let output_fields = fields.map(|(name, value)| (name, json::of_value(&value))).collect();
            let rule = rules.rules().get(index)?;
            Some(Match { event: self.number, rule, level: row.level(), message, output_fields })
        });
        match matching {
            Matching::All => found.collect(),
            Matching::First => found.take(1).collect(),
        }
    }

    /// Reports whether an effect belongs to a file that is written: it has a field that only such effects have.
    fn is_written(&self, effect: &Map<String, Json>) -> bool {
        let level = |key: &String| self.source.table.find(key).map(|field| field.level);
        effect.keys().any(|key| level(key) == Some(Level::Written))
    }

    fn generic(&self, generic: Generic) -> Value<'_> {
        let stamp = self.source.stamp;
        match generic {
            Generic::Number => Value::U64(self.number),
            Generic::RawTime => Value::U64(stamp.unix_ns),
            Generic::Time => text(stamp.time_of_day()),
            Generic::Iso8601 => text(&stamp.rfc3339),
            Generic::Source => text(self.source.name),
            Generic::Info => text(&self.info),
            Generic::Hostname => text(&stamp.hostname),
        }
    }
}

impl Row for EventRow<'_> {
    fn value(&self, field: usize, arg: Option<&str>) -> Value<'_> {
        let Some(field) = self.event.source.table.get(field) else { return Value::Absent };
        let part = match field.level {
            Level::Call => Some(&self.event.json),
            Level::Command => self.command,
            Level::Effect | Level::Written => self.effect,
        };
        match (part.and_then(|part| find(part, field, arg)), field.generic) {
            (Some(json), _) => value(field.ty, json),
            (None, Some(generic)) => self.event.generic(generic),
            (None, None) if field.name == "row.level" => text(self.level().as_str()),
            (None, None) => Value::Absent,
        }
    }

    fn level(&self) -> Level {
        match (self.command, self.effect) {
            (_, Some(effect)) if self.event.is_written(effect) => Level::Written,
            (_, Some(_)) => Level::Effect,
            (Some(_), None) => Level::Command,
            (None, None) => Level::Call,
        }
    }
}

fn objects<'j>(part: &'j Map<String, Json>, key: &str) -> Vec<&'j Map<String, Json>> {
    let list = part.get(key).and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Json::as_object).collect()
}

/// Finds the JSON value of a field in a part of an event. An argument selects an element of an object or list.
fn find<'j>(part: &'j Map<String, Json>, field: &Field, arg: Option<&str>) -> Option<&'j Json> {
    let found = part.get(field.of.as_deref().unwrap_or(&field.name))?;
    let value = match (field.arg, arg, found) {
        (FieldArg::Index, Some(index), found) => found.get(index.parse::<usize>().ok()?)?,
        (FieldArg::Key | FieldArg::Optional, Some(key), found) => found.as_object()?.get(key)?,
        (FieldArg::Optional, None, Json::Object(_)) => return None,
        (_, _, found) => found,
    };
    Some(value).filter(|value| !value.is_null())
}

fn value(ty: FieldType, json: &Json) -> Value<'_> {
    match (ty, json) {
        (_, Json::Array(all)) => Value::List(all.iter().map(|one| value(ty, one)).collect()),
        (FieldType::U64, Json::Number(number)) => number.as_u64().map_or(Value::Absent, Value::U64),
        (FieldType::Bool, Json::Bool(truth)) => Value::Bool(*truth),
        (FieldType::Text | FieldType::Bytes, Json::String(written)) => text(written),
        (FieldType::Ip, Json::String(address)) => address.parse().map_or(Value::Absent, Value::Ip),
        (FieldType::Net, Json::String(net)) => Net::parse(net).map_or(Value::Absent, Value::Net),
        _ => Value::Absent,
    }
}

fn text(text: &str) -> Value<'_> {
    Value::Text(Cow::Borrowed(text.as_bytes()))
}

#[cfg(test)]
mod tests;
