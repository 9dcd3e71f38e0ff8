//! L1: the Falco rule language (Falco 0.43 and 0.44). It loads rule files into a [`RuleSet`], which finds the rules
//! that match a row.
//!
//! A file passes through the modules in this order: `source` (YAML with places), `item` (typed items), `definitions`
//! (defined names), `build` (`exceptions`, `expand`: lists and macros, `parse`, `compile`), and at run time `eval` and
//! `format`. `append` and `select` apply the configuration; `describe` and `export` describe the result. Every problem
//! carries its place from `source` on. The crate is pure, and knows the fields only as a table.

mod append;
mod ast;
mod bits;
mod build;
mod catalogue;
mod check;
mod compile;
mod definitions;
mod describe;
mod eval;
mod exceptions;
mod expand;
mod export;
mod fold;
mod format;
mod index;
mod item;
mod lex;
mod limits;
mod lint;
mod load;
mod networks;
mod options;
mod parse;
mod pattern;
#[cfg(feature = "plain")]
mod plain;
#[cfg(feature = "plain")]
mod plain_tree;
mod print;
mod priority;
mod problem;
mod program;
mod rule;
mod rule_set;
mod select;
mod source;
mod source_text;
mod suggest;
mod tag_words;
mod text;
mod yaml;

pub use describe::{Description, ListDescription, MacroDescription, RuleDescription};
pub use format::REMEDY_MARK;
pub use load::{Loaded, load};
pub use options::{AppendOutput, Engine, ExtraField, Matching, Options, Selected, Selection};
#[cfg(feature = "plain")]
pub use plain::{NotDescribed, Plain};
pub use priority::{Priority, UnknownPriority};
pub use problem::{Problem, Severity};
pub use rule::{Hit, Part, RowsHit, Rule};
pub use rule_set::RuleSet;
pub use source_text::Source;
pub use suggest::did_you_mean;
pub use tag_words::TagWords;
pub use yaml::{Yaml, YamlValue};
