//! [`AgentStart`]: how an agent was started, as far as it decides which hooks the agent has.

use std::path::PathBuf;

/// The start data of an agent that determine the sources of its hooks.
#[derive(Debug, Clone, Default)]
pub struct AgentStart {
    /// The directory of its own files; `None` if it cannot be determined.
    pub dir: Option<PathBuf>,
    /// Its working directory.
    pub cwd: PathBuf,
    /// Its command line; `None` if it cannot be read.
    pub arguments: Option<Vec<Vec<u8>>>,
    /// The variable of its environment that switches its hooks off.
    pub off_variable: Option<&'static str>,
}
