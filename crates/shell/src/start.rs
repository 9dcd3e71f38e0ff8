//! [`Start`]: the known state when a text begins to run. This module must not know the source of that state.

use castellan_programs::Arg;

use crate::syntax::Shell;

/// The known state of the shell that runs a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Start {
    /// The working directory, absolute.
    pub cwd: Option<String>,
    /// The user's home directory, absolute. Used for `HOME` when [`Start::env`] does not contain `HOME`.
    pub home: Option<String>,
    /// Known environment variables.
    pub env: Vec<(String, String)>,
    /// True if variables missing from [`Start::env`] are unset. Otherwise a missing variable may have any value.
    pub complete_env: bool,
    /// Aliases: names and bodies. The walk expands aliases.
    pub aliases: Vec<(String, String)>,
    /// Functions: names and the text between the braces.
    pub functions: Vec<(String, String)>,
    /// Standard input, if it differs from the call's own standard input, which is empty.
    pub input: Option<Arg>,
    /// The shells that may run the text, the likeliest first. An empty list is bash.
    pub shells: Vec<Shell>,
}
