//! Takes the plugin's events and tests the rules on them, one after the other, as Falco's one thread does.

use std::cell::RefCell;
use std::error::Error;
use std::ffi::CString;
use std::process::ExitCode;

use castellan_event::{FieldDef, Row, Value};
use castellan_rows::{EngineField, ROLL_CALL, plain_fields};
use castellan_rules::{Loaded, Rule};
use falco_plugin_runner::{CapturingPluginRunner, Event, ExtractedField, PluginRunner, ScapStatus};
use serde_json::{Map, Value as Json, json};

use crate::alerts::Poster;
use crate::config::Config;
use crate::library;

/// Judges events until the end of the process.
pub(crate) fn serve(config: &Config, loaded: &Loaded) -> Result<ExitCode, Box<dyn Error>> {
    let mut runner = PluginRunner::new();
    runner.register_plugin(library::load(&config.library)?, &CString::new(config.plugin.as_str())?)?;
    let host = RefCell::new(runner.start_capture()?);
    let fields = plain_fields();
    let mut poster = Poster::new(config.alerts, &config.path, &config.agent);
    loop {
        let next = host.borrow_mut().next_event();
        match next {
            Ok(event) => {
                judge(&EventRow { host: &host, event: &event, fields: &fields }, loaded, &mut poster)?
            }
            Err(error) if error.downcast_ref::<ScapStatus>() == Some(&ScapStatus::Timeout) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn judge(row: &EventRow<'_>, loaded: &Loaded, poster: &mut Poster) -> Result<(), Box<dyn Error>> {
    let is_roll_call = row.extract("row.level") == Value::Text(ROLL_CALL.as_bytes().into());
    let hits = loaded.rules.evaluate(row);
    for (at, rule) in loaded.rules.rules().iter().enumerate() {
        let hit = hits.iter().find(|hit| hit.rule == at);
        if let Some(report) = report(rule).filter(|_| rule.enabled && (is_roll_call || hit.is_some())) {
            row.extract(report);
        }
        let Some(hit) = hit else { continue };
        let names = rule.output_fields.iter().map(|field| row.name(*field));
        let own = names.filter(|name| *name == EngineField::Seen.name());
        let own = own.chain(std::iter::once(EngineField::Nonce.name()));
        let output: Map<String, Json> = own.map(|name| (name.to_owned(), row.text(name))).collect();
        let alert = json!({
            "output": hit.message, "output_fields": output, "priority": rule.priority.as_str(), "rule": rule.name,
            "source": "coding_agent", "tags": &*rule.tags,
        });
        poster.post(&alert.to_string())?;
    }
    Ok(())
}

/// Returns the field by which a rule reports its number, with its argument.
fn report(rule: &Rule) -> Option<&str> {
    let (before, rest) = rule.condition.split_once("row.match[")?;
    let end = before.len() + "row.match[".len() + rest.find(']')? + 1;
    rule.condition.get(before.len()..end)
}

/// An event whose values come through the plugin.
struct EventRow<'e> {
    host: &'e RefCell<CapturingPluginRunner>,
    event: &'e Event,
    fields: &'e [FieldDef<'static>],
}

impl EventRow<'_> {
    fn name(&self, field: usize) -> &'static str {
        self.fields.get(field).map_or("", |field| field.name)
    }

    /// Falco takes a failed extraction for an absent value.
    fn extract(&self, name: &str) -> Value<'static> {
        match self.host.borrow_mut().extract_field(self.event, name) {
            Some(Ok(found)) => value(found),
            Some(Err(_)) | None => Value::Absent,
        }
    }

    /// The value of a text as an alert has it.
    fn text(&self, name: &str) -> Json {
        match self.extract(name) {
            Value::Text(text) => String::from_utf8_lossy(&text).into(),
            Value::Absent
            | Value::U64(_)
            | Value::Bool(_)
            | Value::Ip(_)
            | Value::Net(_)
            | Value::List(_) => Json::Null,
        }
    }
}

fn value(found: ExtractedField) -> Value<'static> {
    match found {
        ExtractedField::String(text) => Value::Text(text.into_bytes().into()),
        ExtractedField::U64(number) => Value::U64(number),
        ExtractedField::Bool(truth) => Value::Bool(truth),
        ExtractedField::Vec(all) => Value::List(all.into_iter().map(value).collect()),
        ExtractedField::None
        | ExtractedField::RelTime(_)
        | ExtractedField::AbsTime(_)
        | ExtractedField::IpAddr(_)
        | ExtractedField::IpNet(_) => Value::Absent,
    }
}

impl Row for EventRow<'_> {
    fn value(&self, field: usize, arg: Option<&str>) -> Value<'_> {
        let name = self.name(field);
        // castellan's engine tests in another order than Falco, so it must not report matches by itself.
        if name == EngineField::Match.name() {
            return Value::Bool(true);
        }
        if name == EngineField::Seen.name() {
            return Value::Text(Vec::new().into());
        }
        let found = match arg {
            Some(arg) => self.extract(&format!("{name}[{arg}]")),
            None => self.extract(name),
        };
        let is_list = self.fields.get(field).is_some_and(|field| field.list);
        match found {
            // The runner gives a list of one element as the element. All lists of the table are of texts.
            text @ Value::Text(_) if is_list => Value::List(vec![text]),
            found @ (Value::Absent
            | Value::Text(_)
            | Value::U64(_)
            | Value::Bool(_)
            | Value::Ip(_)
            | Value::Net(_)
            | Value::List(_)) => found,
        }
    }
}
