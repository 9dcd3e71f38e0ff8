//! [`Start`]: the known state when a text begins to run. This module must not know the source of that state.

use castellan_programs::Arg;

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
    /// The dialect of the shell.
    pub dialect: Dialect,
}

/// The shell that reads a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Dialect {
    /// bash and compatible shells.
    #[default]
    Bash,
    /// zsh: does not split values at blanks, and runs the last command of a pipe in the current shell.
    Zsh,
    /// dash, ash, busybox. These shells do not expand braces; castellan does anyway, which only finds more commands.
    Posix,
}
