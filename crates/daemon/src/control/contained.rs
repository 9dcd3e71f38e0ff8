//! Contained commands in requests and responses.

use std::path::PathBuf;

use castellan_sandbox::Capabilities;
use serde::{Deserialize, Serialize};

/// A command that may run contained, for the process that redeemed its ticket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContainedRun {
    /// The text of the agent.
    pub command: String,
    /// The workspace: absolute, symlinks resolved. It is the only directory that the command may write.
    pub workspace: String,
    /// The home of the user, as castellan knows it. The environment of the agent may name another one.
    pub user_home: String,
    /// Directories that may also be the home.
    pub other_homes: Vec<PathBuf>,
    /// Installations of programs that the command can read.
    #[serde(default)]
    pub tools: Vec<PathBuf>,
    /// Hosts that the command reaches.
    pub hosts: Vec<String>,
    /// Names of variables that the settings keep.
    pub environment: Vec<String>,
    /// What the machine enforces.
    pub capabilities: Capabilities,
}

/// The end of a contained command, as its process saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContainedEnd {
    /// The exit code; `None` if nothing ran.
    pub code: Option<u8>,
    /// The reason why nothing ran; empty if the command ran.
    pub failure: String,
    /// The last directory of its shell, if it reported one.
    pub directory: Option<String>,
    /// Packets that had no way to their destination: the command wanted to reach a host.
    #[serde(default)]
    pub unreachable: u64,
}

/// The daemon's answer to the end of a contained command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContainedOutcome {
    /// The directory to which the agent's shell may change: in the workspace, symlinks resolved.
    pub directory: Option<String>,
    /// Number of files that the command created or changed; `None` if that is not known.
    pub written: Option<usize>,
}
