//! The built library, with the functions that Falco looks up by their names.

use std::path::Path;

use libloading::Library;

pub(crate) type Api = falco_plugin::api::plugin_api;

/// Loads a library and keeps it until the end of the process.
pub(crate) fn load(path: &Path) -> Result<&'static Api, libloading::Error> {
    // SAFETY: the library is castellan's own plugin; loading it runs no code.
    let library: &'static Library = Box::leak(Box::new(unsafe { Library::new(path) }?));
    // SAFETY: all fields are optional functions.
    let mut api: Api = unsafe { std::mem::zeroed() };
    macro_rules! look_up {
        ($($($place:ident).+ = $name:literal;)+) => {
            // SAFETY: the SDK gives each function the type that Falco's interface says.
            $(api.$($place).+ = Some(*unsafe { library.get($name) }?);)+
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
    Ok(Box::leak(Box::new(api)))
}
