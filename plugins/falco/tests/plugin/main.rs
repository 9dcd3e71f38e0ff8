//! The built library, loaded and driven through its C interface as Falco does it.
#![cfg(test)]
#![expect(clippy::wildcard_enum_match_arm, reason = "another kind of value fails the test")]
#![expect(unsafe_code, reason = "a library is loaded, and events are damaged in place")]

mod cases;
mod channel;
mod daemon;
mod failures;
mod fields;
mod host;
mod library;
mod rows;
mod settings;
