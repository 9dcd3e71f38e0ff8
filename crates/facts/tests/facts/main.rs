//! Calls, and the effects that castellan understands of them.
#![cfg(test)]

mod bad_input;
mod bad_scripts;
mod boundary;
mod call;
mod contained;
mod dialects;
mod inherited;
mod limits;
#[expect(unreachable_pub, reason = "the file is a module of castellan-corpus")]
#[path = "../../../../corpus/src/limits.rs"]
mod listed;
mod machine;
mod models;
mod path;
mod repositories;
mod scripts;
mod snapshot;
mod url;
mod written;
