//! [`Start`]: what is known when a text begins to run. It must not know how that was learnt.

use castellan_programs::Arg;

/// What is known of the shell that runs a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Start {
    /// Its directory, absolute.
    pub cwd: Option<String>,
    /// The user's home directory, absolute; it stands for `HOME` when [`Start::env`] has none.
    pub home: Option<String>,
    /// Environment variables that are known.
    pub env: Vec<(String, String)>,
    /// A variable that is not in [`Start::env`] is not set. Otherwise it may have any value.
    pub complete_env: bool,
    /// Aliases: names and what they stand for. They are expanded.
    pub aliases: Vec<(String, String)>,
    /// Functions: names and what stands between their braces.
    pub functions: Vec<(String, String)>,
    /// What it reads from standard input, where that is not what the call gives: nothing.
    pub input: Option<Arg>,
    /// Which shell it is.
    pub dialect: Dialect,
}

/// The shell that reads a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Dialect {
    /// bash, and what reads like it.
    #[default]
    Bash,
    /// zsh: values are not split at blanks, the last command of a pipe runs in the shell itself.
    Zsh,
    /// dash, ash, busybox: no brace expansion in them, yet it is taken as bash's, which finds more.
    Posix,
}
