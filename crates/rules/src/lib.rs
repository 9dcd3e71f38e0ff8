//! L1: the Falco rule language (Falco 0.43): rule files in, a [`RuleSet`] out, which tells the rules that match a row.
//!
//! A file passes through the modules in this order: `source` (YAML with places), `item` (typed items), `definitions` (what
//! they define), `build` (`exceptions`, `expand`: lists and macros, `parse`, `compile`), and at run time `eval` and `format`. Every
//! problem carries its place from the first of them on. The crate is pure, and knows the fields only as a table.

mod ast;
mod build;
mod catalogue;
mod check;
mod compile;
mod definitions;
mod eval;
mod exceptions;
mod expand;
mod format;
mod item;
mod lex;
mod limits;
mod load;
mod parse;
mod pattern;
mod print;
mod priority;
mod problem;
mod program;
mod rule;
mod source;
mod suggest;
mod text;

pub use load::{Loaded, Matching, Options, Source, load};
pub use priority::{Priority, UnknownPriority};
pub use problem::{Problem, Severity};
pub use rule::{Hit, Rule, RuleSet};
