//! L2: finds every command that a shell text would run, through quotes, expansions, substitutions, wrappers, functions
//! and text that the shell runs in turn. The crate reports every part that it does not understand as a [`Gap`].
//!
//! `prescan` bounds the input of the parser. `parse`, the only module that names the parser crate, builds a `tree`. The
//! other modules walk the tree as a shell would, with values instead of processes, and return [`Found`]. `walk` follows
//! statements, `words` expands words, `run` resolves commands, `builtins` models those of the shell. `outputs` computes
//! output of programs, and `state` holds the state of the shell at one point. The crate must not know files: the
//! crate `facts` handles the effects of a program's arguments.

mod arithmetic;
mod builtins;
mod choices;
mod files;
mod found;
mod limits;
mod literals;
mod outputs;
mod parse;
mod patterns;
mod prescan;
mod run;
mod scope;
mod shells;
mod start;
mod state;
#[doc(hidden)]
pub mod syntax;
mod text;
pub mod tree;
mod walk;
mod words;
mod work;

pub use files::{Files, interpreter, is_for_shells, shebang};
pub use found::{Found, FoundRedirect, Gap, Item, Origin, Run, Script, Set, Stdin, Wrapped};
pub use parse::parse;
pub use start::{Dialect, Start};
pub use tree::Parsed;
pub use walk::{commands, commands_within, program_within};
pub use work::Work;
