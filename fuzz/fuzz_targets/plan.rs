//! See `castellan_fuzz_bodies::plan`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| castellan_fuzz_bodies::plan(bytes));
