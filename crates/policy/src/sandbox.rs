//! [`SandboxSettings`]: the sandbox of agents that `castellan run` starts, and of single commands. It must not know how a
//! sandbox is made.

use std::str::FromStr;

use castellan_event::{UnknownWord, from_word};

/// Settings about sandboxes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSettings {
    /// Whether agents run in a sandbox.
    pub mode: SandboxMode,
    /// The files that a sandbox may write.
    pub files: SandboxFiles,
    /// `.git` is writable, without its settings and hooks.
    pub commits: bool,
    /// Further writable directories: absolute paths, or `~/` and a path in the home.
    pub writable: Vec<String>,
    /// The home and the temporary folder are empty ones that end with the sandbox.
    pub private_home: bool,
    /// The network that a sandbox reaches.
    pub network: SandboxNetwork,
    /// The hosts of [`SandboxNetwork::Hosts`]: `example.org`, `*.example.org`, with `:443`.
    pub hosts: Vec<String>,
    /// The permitted requests to hosts: `api.example.org GET,HEAD /public/**`.
    pub requests: Vec<String>,
    /// The secrets that stay outside: `GITHUB_TOKEN: github.com, api.github.com`.
    pub secrets: Vec<String>,
    /// Names of variables that a sandbox keeps beside the common ones.
    pub environment: Vec<String>,
    /// The limits of resources.
    pub limits: SandboxLimits,
}

/// The limits of resources; 0: none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SandboxLimits {
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

/// Whether agents run in a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SandboxMode {
    /// Only on request.
    Off,
    /// Wherever the machine enforces it; elsewhere without, with a warning.
    Prefer,
    /// castellan denies the calls of an agent outside of one.
    Require,
}

/// The files that a sandbox may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SandboxFiles {
    /// The workspace.
    WorkspaceWrite,
    /// None.
    ReadOnly,
}

/// The network that a sandbox reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SandboxNetwork {
    /// All that the machine reaches.
    Full,
    /// Listed hosts, through castellan's proxy.
    Hosts,
    /// The sandbox itself.
    Loopback,
    /// Nothing.
    None,
}

impl SandboxSettings {
    /// The settings without a configuration.
    pub const DEFAULT: SandboxSettings = SandboxSettings {
        mode: SandboxMode::Off,
        files: SandboxFiles::WorkspaceWrite,
        commits: false,
        writable: Vec::new(),
        private_home: false,
        network: SandboxNetwork::Hosts,
        hosts: Vec::new(),
        requests: Vec::new(),
        secrets: Vec::new(),
        environment: Vec::new(),
        limits: SandboxLimits {
            processes: 0,
            memory_mib: 0,
            cpu_s: 0,
            file_mib: 0,
            open_files: 0,
            wall_s: 0,
        },
    };
}

impl SandboxMode {
    /// All modes, the mildest first.
    pub const ALL: [SandboxMode; 3] = [SandboxMode::Off, SandboxMode::Prefer, SandboxMode::Require];

    /// Their words.
    pub const WORDS: &'static [&'static str] = &["off", "prefer", "require"];

    /// Returns the word used in configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            SandboxMode::Off => "off",
            SandboxMode::Prefer => "prefer",
            SandboxMode::Require => "require",
        }
    }
}

impl SandboxFiles {
    /// All, the mildest first.
    pub const ALL: [SandboxFiles; 2] = [SandboxFiles::WorkspaceWrite, SandboxFiles::ReadOnly];

    /// Their words.
    pub const WORDS: &'static [&'static str] = &["workspace-write", "read-only"];

    /// Returns the word used in configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            SandboxFiles::WorkspaceWrite => "workspace-write",
            SandboxFiles::ReadOnly => "read-only",
        }
    }
}

impl SandboxNetwork {
    /// All, the mildest first.
    pub const ALL: [SandboxNetwork; 4] =
        [SandboxNetwork::Full, SandboxNetwork::Hosts, SandboxNetwork::Loopback, SandboxNetwork::None];

    /// Their words.
    pub const WORDS: &'static [&'static str] = &["full", "hosts", "loopback", "none"];

    /// Returns the word used in configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            SandboxNetwork::Full => "full",
            SandboxNetwork::Hosts => "hosts",
            SandboxNetwork::Loopback => "loopback",
            SandboxNetwork::None => "none",
        }
    }
}

impl FromStr for SandboxMode {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<SandboxMode, UnknownWord> {
        from_word(&SandboxMode::ALL, SandboxMode::as_str, word)
    }
}

impl FromStr for SandboxFiles {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<SandboxFiles, UnknownWord> {
        from_word(&SandboxFiles::ALL, SandboxFiles::as_str, word)
    }
}

impl FromStr for SandboxNetwork {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<SandboxNetwork, UnknownWord> {
        from_word(&SandboxNetwork::ALL, SandboxNetwork::as_str, word)
    }
}
