//! See `castellan_fuzz_bodies::proxy`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| castellan_fuzz_bodies::proxy(bytes));
