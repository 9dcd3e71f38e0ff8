//! [`ContainedPolicy`]: what a contained command may do, and the settings of its sandbox. It must not know paths.

use std::path::PathBuf;

use castellan_policy::{SandboxFiles, SandboxMode, SandboxNetwork};

use crate::control::{LimitsInForce, SandboxInForce};

/// The policy of a contained command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ContainedPolicy {
    /// Hosts that the command reaches through castellan's proxy: those that its effects name. Code that nobody has read
    /// reaches none.
    pub(crate) hosts: Vec<String>,
    /// Names of variables that the settings keep.
    pub(crate) environment: Vec<String>,
    /// Homes by the environment of the agent. Their secrets are hidden like those of the user's home.
    pub(crate) homes: Vec<PathBuf>,
    /// Installations of programs, by the environment of the agent.
    pub(crate) tools: Vec<PathBuf>,
}

/// Returns the settings of a contained command's sandbox: it writes its workspace without settings and version control,
/// reads no secret, and reaches `hosts` alone. `environment`: the names of further variables.
pub fn contained_settings(hosts: &[String], environment: &[String]) -> SandboxInForce {
    let network = if hosts.is_empty() { SandboxNetwork::Loopback } else { SandboxNetwork::Hosts };
    SandboxInForce {
        mode: SandboxMode::Require.as_str().to_owned(),
        files: SandboxFiles::WorkspaceWrite.as_str().to_owned(),
        commits: false,
        writable: Vec::new(),
        private_home: false,
        network: network.as_str().to_owned(),
        hosts: hosts.to_vec(),
        requests: Vec::new(),
        secrets: Vec::new(),
        environment: environment.to_vec(),
        limits: LimitsInForce::default(),
    }
}
