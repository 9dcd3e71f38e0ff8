//! The engine beside a scripted Falco, which judges rows by the exported rules and posts alerts over HTTP.
#![cfg(test)]
#![expect(clippy::wildcard_enum_match_arm, reason = "another kind of value fails the test")]

mod falco;
mod http;
mod one_call;
mod unreliable;
mod world;
