//! L2: shell text to commands. It finds every command that a text would run, through quotes, expansions, substitutions,
//! wrappers, functions and text that is run in turn, and says of the rest that it was not understood.
//!
//! `prescan` bounds what the parser is given, `parse` (the only module that names the parser crate) makes a `tree` of it,
//! the rest walks the tree as a shell would, with values instead of processes, and returns what it [`Found`]. It knows
//! nothing of files: what a program does with its arguments is for the crate `facts`.

mod found;
mod limits;
mod parse;
mod prescan;
pub mod tree;

pub use found::{Found, FoundRedirect, Gap, Item, Origin, Run, Set, Stdin, Wrapped};
pub use parse::{Parsed, parse};
