//! The settings of sandboxes in a response.

use castellan_policy::{SandboxLimits, SandboxSettings};
use serde::{Deserialize, Serialize};

/// The settings of sandboxes that hold for the requesting process, as words of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxInForce {
    /// `off`, `prefer` or `require`.
    pub mode: String,
    /// `workspace-write` or `read-only`.
    pub files: String,
    /// `.git` is writable, without its settings and hooks.
    pub commits: bool,
    /// Further writable directories.
    pub writable: Vec<String>,
    /// Home and temporary folder are private.
    pub private_home: bool,
    /// `full`, `hosts`, `loopback` or `none`.
    pub network: String,
    /// The hosts of `hosts`.
    pub hosts: Vec<String>,
    /// The permitted requests to hosts.
    pub requests: Vec<String>,
    /// The secrets that stay outside: their variables and hosts, never their values.
    pub secrets: Vec<String>,
    /// Names of variables to keep.
    pub environment: Vec<String>,
    /// The limits of resources; 0: none.
    pub limits: LimitsInForce,
}

/// The limits of resources; 0: none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LimitsInForce {
    /// Processes at once.
    pub processes: u32,
    /// MiB of memory of each process.
    pub memory_mib: u32,
    /// Seconds of computing of each process.
    pub cpu_s: u32,
    /// MiB of each file that is written.
    pub file_mib: u32,
    /// Open files of each process.
    pub open_files: u32,
    /// Seconds until the sandbox is ended.
    pub wall_s: u32,
}

impl From<&SandboxSettings> for SandboxInForce {
    fn from(settings: &SandboxSettings) -> SandboxInForce {
        let SandboxSettings {
            mode,
            files,
            commits,
            writable,
            private_home,
            network,
            hosts,
            requests,
            secrets,
            environment,
            limits,
        } = settings.clone();
        let SandboxLimits { processes, memory_mib, cpu_s, file_mib, open_files, wall_s } = limits;
        SandboxInForce {
            mode: mode.as_str().to_owned(),
            files: files.as_str().to_owned(),
            commits,
            writable,
            private_home,
            network: network.as_str().to_owned(),
            hosts,
            requests,
            secrets,
            environment,
            limits: LimitsInForce { processes, memory_mib, cpu_s, file_mib, open_files, wall_s },
        }
    }
}
