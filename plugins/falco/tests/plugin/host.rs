//! A host for the library, with the functions that Falco looks up by their names.

use std::ffi::CString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use falco_plugin_runner::{CapturingPluginRunner, Event, ExtractedField, PluginRunner, ScapStatus};
use libloading::Library;

/// The time in which something must happen.
pub(crate) const LONG: Duration = Duration::from_secs(60);

type Api = falco_plugin::api::plugin_api;

/// Loads the library that cargo built beside this test.
fn api() -> &'static Api {
    let test = std::env::current_exe().unwrap();
    let name = libloading::library_filename("coding_agent");
    let path: PathBuf = test.parent().unwrap().join(name);
    // SAFETY: the library is castellan's own plugin; loading it runs no code.
    let library: &'static Library = Box::leak(Box::new(unsafe { Library::new(&path) }.unwrap()));
    // SAFETY: all fields are optional functions.
    let mut api: Api = unsafe { std::mem::zeroed() };
    macro_rules! look_up {
        ($($($place:ident).+ = $name:literal;)+) => {
            // SAFETY: the SDK gives each function the type that Falco's interface says.
            $(api.$($place).+ = Some(*unsafe { library.get($name) }.unwrap());)+
        };
    }
    look_up! {
        get_required_api_version = b"plugin_get_required_api_version";
        get_init_schema = b"plugin_get_init_schema";
        init = b"plugin_init";
        destroy = b"plugin_destroy";
        get_last_error = b"plugin_get_last_error";
        get_name = b"plugin_get_name";
        get_description = b"plugin_get_description";
        get_contact = b"plugin_get_contact";
        get_version = b"plugin_get_version";
        __bindgen_anon_1.get_id = b"plugin_get_id";
        __bindgen_anon_1.get_event_source = b"plugin_get_event_source";
        __bindgen_anon_1.open = b"plugin_open";
        __bindgen_anon_1.close = b"plugin_close";
        __bindgen_anon_1.next_batch = b"plugin_next_batch";
        __bindgen_anon_1.event_to_string = b"plugin_event_to_string";
        __bindgen_anon_2.get_fields = b"plugin_get_fields";
        __bindgen_anon_2.get_extract_event_types = b"plugin_get_extract_event_types";
        __bindgen_anon_2.get_extract_event_sources = b"plugin_get_extract_event_sources";
        __bindgen_anon_2.extract_fields = b"plugin_extract_fields";
    }
    Box::leak(Box::new(api))
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
