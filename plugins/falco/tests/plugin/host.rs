//! A host for the library.

use std::ffi::CString;
use std::time::{Duration, Instant};

use falco_plugin_runner::{CapturingPluginRunner, Event, ExtractedField, PluginRunner, ScapStatus};

use crate::library::{Api, load};

/// The time in which something must happen.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Loads the library that cargo built beside this test.
pub(crate) fn api() -> &'static Api {
    let test = std::env::current_exe().unwrap();
    let name = libloading::library_filename("coding_agent");
    load(&test.parent().unwrap().join(name)).unwrap()
}

/// Initialises the plugin.
pub(crate) fn initialised(settings: &str) -> Result<PluginRunner, String> {
    let mut runner = PluginRunner::new();
    let settings = CString::new(settings).unwrap();
    runner.register_plugin(api(), &settings).map_err(|error| error.to_string())?;
    Ok(runner)
}

/// A Falco without rules: it takes events and reads their fields.
pub(crate) struct Host(CapturingPluginRunner);

impl Host {
    pub(crate) fn start(settings: &str) -> Host {
        Host(initialised(settings).unwrap().start_capture().unwrap())
    }

    /// Returns the next event, or `None` after one wait of the plugin.
    pub(crate) fn poll(&mut self) -> Option<Event> {
        match self.0.next_event() {
            Ok(event) => Some(event),
            Err(error) => {
                assert_eq!(error.downcast_ref::<ScapStatus>(), Some(&ScapStatus::Timeout), "{error:#}");
                None
            }
        }
    }

    pub(crate) fn event(&mut self) -> Event {
        let until = Instant::now() + LONG;
        while Instant::now() < until {
            if let Some(event) = self.poll() {
                return event;
            }
        }
        panic!("no event came");
    }

    /// Reads a field. The error is Falco's return code.
    pub(crate) fn field(&mut self, event: &Event, field: &str) -> Result<ExtractedField, i32> {
        self.0.extract_field(event, field).expect("the plugin has the field")
    }

    pub(crate) fn text(&mut self, event: &Event, field: &str) -> Option<String> {
        match self.field(event, field).unwrap() {
            ExtractedField::String(text) => Some(text.into_string().unwrap()),
            ExtractedField::None => None,
            other => panic!("{field}: {other:?}"),
        }
    }

    /// Reads the report on a row as the last rule does: it tests the generation first.
    pub(crate) fn seen(&mut self, event: &Event) -> Option<String> {
        assert_eq!(self.text(event, "row.generation").unwrap(), "02".repeat(32));
        self.text(event, "row.seen")
    }

    pub(crate) fn stop(self) -> PluginRunner {
        self.0.stop_capture().unwrap()
    }
}

/// Returns the bytes of a value as Falco gets it: `None` for an absent one, else each element.
pub(crate) fn bytes(field: &ExtractedField) -> Option<Vec<Vec<u8>>> {
    match field {
        ExtractedField::None => None,
        ExtractedField::String(text) => Some(vec![text.as_bytes().to_vec()]),
        ExtractedField::U64(number) => Some(vec![number.to_le_bytes().to_vec()]),
        ExtractedField::Bool(truth) => Some(vec![vec![u8::from(*truth)]]),
        ExtractedField::Vec(all) => Some(all.iter().flat_map(|one| bytes(one).unwrap()).collect()),
        other => panic!("{other:?}"),
    }
}
