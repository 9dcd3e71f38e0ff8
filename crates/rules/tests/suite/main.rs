//! The tests of the rule language: an own corpus and properties. What real Falco answers is held against it in `conformance`.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod bad_input;
mod catalogue;
mod corpus;
mod engine;
mod export;
mod files;
mod lints;
mod options;
mod properties;
