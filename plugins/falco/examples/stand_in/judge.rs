//! Takes the plugin's events and tests the rules on them, one after the other, as Falco's one thread does.

use std::cell::RefCell;
use std::error::Error;
use std::ffi::CString;
use std::process::ExitCode;

use castellan_event::{FieldDef, Row, Value};
use castellan_rows::{EngineField, plain_fields};
use castellan_rules::Loaded;
use castellan_scripted_falco::{Config, Poster, Reports, alerts};
use falco_plugin_runner::{CapturingPluginRunner, Event, ExtractedField, PluginRunner, ScapStatus};

use crate::library;

/// Judges events until the end of the process.
pub(crate) fn serve(config: &Config, loaded: &Loaded) -> Result<ExitCode, Box<dyn Error>> {
    let mut runner = PluginRunner::new();
    runner.register_plugin(library::load(&config.library)?, &CString::new(config.init_config())?)?;
    let host = RefCell::new(runner.start_capture()?);
    let fields = plain_fields();
    let mut poster = Poster::new(config.alerts);
    loop {
        let next = host.borrow_mut().next_event();
        match next {
            Ok(event) => {
                for alert in alerts(&loaded.rules, &EventRow { host: &host, event: &event, fields: &fields })
                {
                    let status = poster.post(&config.path, &config.agent, &alert.body);
                    if status != 200 {
                        return Err(format!("the listener refused an alert: {status}").into());
                    }
                }
            }
            Err(error) if error.downcast_ref::<ScapStatus>() == Some(&ScapStatus::Timeout) => {}
            Err(error) => return Err(error.into()),
        }
    }
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
}

impl Reports for EventRow<'_> {
    fn note(&self, number: u64) {
        self.extract(&format!("{}[{number}]", EngineField::Match.name()));
    }

    fn report(&self) -> Option<String> {
        let Value::Text(text) = self.extract(EngineField::Seen.name()) else { return None };
        Some(String::from_utf8_lossy(&text).into_owned())
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
