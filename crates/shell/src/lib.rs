//! L2: shell text to commands. It finds every command that a text would run, through quotes, expansions, substitutions,
//! wrappers, functions and text that is run in turn, and says of the rest that it was not understood.
//!
//! `prescan` bounds what the parser is given, `parse` (the only module that names the parser crate) makes a `tree` of it,
//! the rest walks the tree as a shell would, with values instead of processes, and returns what it [`Found`]: `walk` follows
//! statements, `words` expands what stands in them, `run` looks up what a command is, `builtins` are those of the shell,
//! `outputs` what programs write, `state` what is known at one point. It knows nothing of files: what a program does with
//! its arguments is for the crate `facts`.

mod arithmetic;
mod builtins;
mod choices;
mod files;
mod found;
mod limits;
mod literals;
mod outputs;
mod parse;
mod paths;
mod patterns;
mod prescan;
mod run;
mod scope;
mod start;
mod state;
mod text;
pub mod tree;
mod walk;
mod words;
mod work;

pub use files::{Files, interpreter, is_for_shells, shebang};
pub use found::{Found, FoundRedirect, Gap, Item, Origin, Run, Script, Set, Stdin, Wrapped};
pub use parse::{Parsed, parse};
pub use start::{Dialect, Start};
pub use walk::{commands, commands_within, program_within};
pub use work::Work;
