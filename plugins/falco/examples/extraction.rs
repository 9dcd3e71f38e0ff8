//! Measures the extraction of each field through the C interface: `cargo run --release --example extraction`. Prints
//! nanoseconds for each field with short values, and for texts of 512 KiB.
#![expect(unsafe_code, reason = "the functions of the C interface")]

use std::ffi::{CString, c_char};
use std::hint::black_box;
use std::ptr;
use std::time::Instant;

use castellan_event::{FIELDS, FieldArg, FieldType, Row, Value};
use castellan_rows::{CallRows, Generation, Nonce, encode};
use coding_agent as _;
use falco_plugin::api::{
    ss_plugin_event_input, ss_plugin_extract_field, ss_plugin_extract_field__bindgen_ty_1,
    ss_plugin_field_extract_input, ss_plugin_init_input, ss_plugin_owner_t, ss_plugin_t,
    ss_plugin_table_reader_vtable_ext,
};

const ROUNDS: u32 = 20_000;
const LIMIT_NS: u128 = 3_000;

unsafe extern "C-unwind" {
    fn plugin_init(input: *const ss_plugin_init_input, code: *mut i32) -> *mut ss_plugin_t;
    fn plugin_extract_fields(
        plugin: *mut ss_plugin_t,
        event: *const ss_plugin_event_input,
        input: *const ss_plugin_field_extract_input,
    ) -> i32;
}

unsafe extern "C-unwind" fn no_error(_: *mut ss_plugin_owner_t) -> *const c_char {
    ptr::null()
}

/// A row in which each field has a value.
struct Full {
    text: Vec<u8>,
}

impl Row for Full {
    fn value(&self, field: usize, _arg: Option<&str>) -> Value<'_> {
        let text = || Value::Text(self.text.as_slice().into());
        match FIELDS.get(field).map(|field| (field.ty, field.list)) {
            Some((FieldType::U64, _)) => Value::U64(7),
            Some((FieldType::Bool, _)) => Value::Bool(true),
            Some((_, true)) => Value::List(vec![text(), text(), text()]),
            _ => text(),
        }
    }
}

/// An event as Falco has it in memory: header, lengths of two parameters, the plugin's number, the data.
fn in_memory(text: &[u8]) -> Vec<u8> {
    let row = Full { text: text.to_vec() };
    let call = encode(&[row], &["label"], Generation([2; 32]), &[Nonce([3; 16])]).unwrap_or_default();
    let data = CallRows::read(call).ok().and_then(|mut call| call.next_event().ok().flatten());
    let data = data.unwrap_or_default();
    let length = 26 + 8 + 4 + data.len();
    let mut event = Vec::with_capacity(length);
    event.extend([0; 16]);
    event.extend((length as u32).to_le_bytes());
    event.extend(322u16.to_le_bytes());
    event.extend(2u32.to_le_bytes());
    event.extend(4u32.to_le_bytes());
    event.extend((data.len() as u32).to_le_bytes());
    event.extend(28u32.to_le_bytes());
    event.extend(data);
    event
}

fn main() {
    let hash = "01".repeat(32);
    let settings = format!(
        r#"{{"socket":"/run/rows.sock","user":"uid:0","key":"hex:{hash}","generation":"hex:{hash}"}}"#
    );
    let settings = CString::new(settings).unwrap_or_default();
    // SAFETY: all fields are pointers and functions that may be missing.
    let mut input: ss_plugin_init_input = unsafe { std::mem::zeroed() };
    input.config = settings.as_ptr();
    input.get_owner_last_error = Some(no_error);
    let mut code = 0;
    // SAFETY: the input is complete and outlives the call.
    let plugin = unsafe { plugin_init(&input, &mut code) };
    assert_eq!(code, 0, "the plugin starts");
    let mut worst = 0;
    for (name, text) in [("short", b"a value".to_vec()), ("512 KiB", vec![b'x'; 1 << 19])] {
        let event = in_memory(&text);
        println!("texts: {name}");
        for (number, field) in FIELDS.iter().enumerate() {
            let ns = measure(plugin, &event, number as u32, field.arg == FieldArg::Key);
            worst = worst.max(ns);
            println!("  {:24} {ns:6} ns", field.name);
        }
    }
    println!("worst: {worst} ns (limit {LIMIT_NS} ns)");
    std::process::exit(i32::from(worst > LIMIT_NS));
}

/// Nanoseconds of one extraction, the mean of many.
fn measure(plugin: *mut ss_plugin_t, event: &[u8], field: u32, has_key: bool) -> u128 {
    // SAFETY: a table of functions that the plugin never calls.
    let mut tables: ss_plugin_table_reader_vtable_ext = unsafe { std::mem::zeroed() };
    let event = ss_plugin_event_input {
        evt: event.as_ptr().cast_mut().cast(),
        evtnum: 1,
        evtsrc: c"coding_agent".as_ptr(),
    };
    let key = if has_key { c"label".as_ptr() } else { ptr::null() };
    let mut request = ss_plugin_extract_field {
        res: ss_plugin_extract_field__bindgen_ty_1 { u64_: ptr::null_mut() },
        res_len: 0,
        field_id: field,
        field: ptr::null(),
        arg_key: key,
        arg_index: 0,
        arg_present: u32::from(has_key),
        ftype: 0,
        flist: 0,
    };
    // SAFETY: what is missing here are pointers that the plugin does not follow.
    let mut input: ss_plugin_field_extract_input = unsafe { std::mem::zeroed() };
    (input.num_fields, input.fields, input.table_reader_ext) = (1, &mut request, &mut tables);
    let start = Instant::now();
    for _ in 0..ROUNDS {
        // SAFETY: all pointers are valid for the call.
        let code = unsafe { plugin_extract_fields(plugin, &event, black_box(&input)) };
        assert_eq!(code, 0, "field {field}");
    }
    let mean = start.elapsed().as_nanos() / u128::from(ROUNDS);
    assert!(request.res_len > 0, "field {field} has a value");
    mean
}
