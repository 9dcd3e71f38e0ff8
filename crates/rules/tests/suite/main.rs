//! Tests of the rule language: castellan's own corpus and properties. `conformance` compares with a real Falco.
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
