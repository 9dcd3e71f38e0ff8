//! L2: finds every command that a shell text would run, through quotes, expansions, substitutions, wrappers, functions
//! and text that the shell runs in turn. The crate reports every part that it does not understand as a [`Gap`].
//!
//! `syntax` parses the text to a `tree` as one of four shells. The other modules walk the tree as that shell would,
//! with values instead of processes, and return [`Found`]. `walk` follows statements, `words` expands words, `run`
//! resolves commands, `builtins` models those of the shell. `outputs` computes output of programs, and `state` holds
//! the state of the shell at one point. The crate must not know files: the crate `facts` handles the effects of a
//! program's arguments.

mod arithmetic;
mod builtins;
mod choices;
mod files;
mod found;
mod limits;
mod literals;
mod outputs;
mod patterns;
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
pub use shells::{SH, agent_shells};
pub use start::Start;
pub use syntax::Shell;
pub use tree::Parsed;
pub use walk::{commands, commands_within, program_within};
pub use work::Work;

/// Parses text as the shell would. A part that the parser does not understand is a hole.
pub fn parse(text: &str, shell: Shell) -> Parsed {
    syntax::parse(text, shell, usize::MAX).0
}
