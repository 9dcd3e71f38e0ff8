//! L1: what castellan knows of programs, as data. A model says how a program reads its arguments, what each is for, and what
//! the program does. It knows no shell, no files and no rules.
//!
//! The models stand in `models/*.toml`, one file for each family, with their cases beside them; `build.rs` checks them and makes tables of
//! them. Small languages that programs take as arguments (awk, sed, ex) are read in `code`.

mod arg;
mod code;
mod find;
mod invoke;
mod limits;
mod program;

pub use arg::{Arg, Piece};
pub use code::{Does, code, reads};
pub use find::{all, find};
pub use invoke::{FoundPath, Inner, Invocation, Operand, Used, fits, invoke};
pub use program::{
    Attribute, EffectRow, Form, Opt, Place, Program, Slot, SlotRole, Source, Style, Takes, Term, Test,
    Wrapper,
};
