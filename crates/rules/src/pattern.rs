//! Patterns that are compiled once and matched often: `glob`, `regex` and `pmatch`. They work on bytes, not fields.

mod glob;
mod literals;
mod path;
mod re2;
mod regex;

pub(crate) use glob::Glob;
pub(crate) use path::PathSet;
pub(crate) use re2::RegexError;
pub(crate) use regex::{Clause, Regex, hir, simpler_than_regex};
