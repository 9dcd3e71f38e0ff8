//! Patterns of a plan: commands, paths, hosts, branches. Each parses its text, matches values, and tests whether it
//! includes another pattern. They know no calls.

mod branch;
mod command;
mod host;
mod path;
mod word;

use thiserror::Error;

pub use branch::BranchPattern;
pub use command::CommandPattern;
pub use host::HostPattern;
pub use path::PathPattern;
pub(crate) use path::{Subject, below, matched_below};

/// The reason why the text of a pattern is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PatternError {
    /// Nothing is there.
    #[error("it is empty: write a value, or remove the entry")]
    Empty,
    /// A `*` in the head of a command.
    #[error("the head of a command has no `*`: name each program in an entry of its own")]
    StarInHead,
    /// A head that names a directory.
    #[error("the head of a command names no program: write its name first")]
    NoHead,
    /// An open quote.
    #[error("a single quote is not closed: close it, or write `\\'`")]
    Quote,
    /// Nothing after a backslash.
    #[error("it ends in `\\`: write the escaped character, or remove the `\\`")]
    Escape,
    /// A `*` beside quotes in one word.
    #[error("a word has quotes and a `*` outside of them: quote the whole word, or nothing of it")]
    StarAndQuote,
    /// `..` in a path.
    #[error("a path has no `..`: write it without")]
    Parent,
    /// A path that begins with one slash or an unknown home.
    #[error("begin a path with `//` for an absolute one, with `~/` for one in the home, else with a name")]
    PathBegin,
    /// A host that is no name.
    #[error("write a host as `example.org`, or `*.example.org` with all hosts below it")]
    Host,
    /// A text that git does not take as a branch.
    #[error("write a branch as `name`, or with `*` for any text, without blanks")]
    Branch,
}
