//! L1: castellan's knowledge of programs, as data. A model describes the arguments of a program, their purpose, and the
//! program's effects. It knows no shell, no files and no rules.
//!
//! The models are in `models/*.toml`, one file for each family, with their cases beside them; `build.rs` checks them
//! and generates tables. `knowledge/` has properties of programs and verbs of systems that models do not show. Module `code` parses small languages that programs take as arguments (awk, sed, ex); its
//! readers of awk and sed serve other crates, too.

mod arg;
mod code;
mod find;
mod invoke;
pub mod lexicons;
mod limits;
mod name;
mod program;
mod system;
mod traits;
mod words;

pub use arg::{Arg, Piece};
pub use code::{Does, awk, code, reads, sed};
pub use find::{all, find};
pub use invoke::{FoundPath, Inner, Invocation, Operand, Used, invoke};
pub use name::base_name;
pub use program::{
    Attribute, EffectRow, Form, Opt, Place, Program, Slot, SlotRole, Source, Style, Takes, Term, Test,
    Wrapper,
};
pub use system::{Options, System};
pub use traits::Trait;
pub use words::Quoting;
