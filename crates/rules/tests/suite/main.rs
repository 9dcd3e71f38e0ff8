//! The tests of the rule language: recorded answers of real Falco, real rule files, an own corpus, and properties.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod catalogue;
mod corpus;
mod falco_cases;
mod files;
mod properties;
mod real_rules;
