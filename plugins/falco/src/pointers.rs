//! The values of a request as C sees them. With `export`, this is the only unsafe code.
#![expect(unsafe_code, reason = "Falco's requests are unions of pointers")]

use std::ffi::{CStr, c_char};
use std::ptr;

use bumpalo::Bump;
use castellan_rows::Found;
use falco_plugin::anyhow::Error;
use falco_plugin::api::ss_plugin_extract_field;

/// The argument of a field in a request.
#[derive(Debug)]
pub(crate) enum Argument<'r> {
    None,
    Key(&'r CStr),
    Index(u64),
}

/// Reads the argument of a request.
pub(crate) fn argument<'r>(request: &ss_plugin_extract_field) -> Argument<'r> {
    if request.arg_present == 0 {
        Argument::None
    } else if request.arg_key.is_null() {
        Argument::Index(request.arg_index)
    } else {
        // SAFETY: Falco's interface says that a key is a C string that outlives the request.
        Argument::Key(unsafe { CStr::from_ptr(request.arg_key) })
    }
}

/// Answers a request. Texts are answered with pointers into the event, which Falco keeps while it judges it, and into
/// `storage`, which the SDK keeps until the next request.
pub(crate) fn answer(
    request: &mut ss_plugin_extract_field,
    found: &Found<'_>,
    storage: &Bump,
) -> Result<(), Error> {
    let pointer = |text: &[u8]| text.as_ptr().cast::<c_char>();
    request.res_len = 1;
    match found {
        Found::Absent => {
            request.res.u64_ = ptr::null_mut();
            request.res_len = 0;
        }
        Found::U64(number) => request.res.u64_ = storage.alloc(*number),
        Found::Bool(truth) => request.res.boolean = storage.alloc(u32::from(*truth)),
        Found::Text(text) => request.res.str_ = storage.alloc(pointer(text)),
        Found::List(list) => {
            let pointers: Result<Vec<*const c_char>, _> =
                list.texts().map(|text| text.map(pointer)).collect();
            let pointers = storage.alloc_slice_copy(&pointers?);
            request.res_len = pointers.len() as u64;
            request.res.str_ = if pointers.is_empty() { ptr::null_mut() } else { pointers.as_mut_ptr() };
        }
    }
    Ok(())
}
