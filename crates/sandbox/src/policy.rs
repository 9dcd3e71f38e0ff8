//! The request: what a command may do.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A request. All paths are absolute. Nothing in it depends on the machine: [`crate::plan`] reports what the machine enforces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// What the command reads and writes.
    pub files: Files,
    /// What it reaches.
    pub network: Network,
    /// How much of the machine it uses.
    pub limits: Limits,
    /// Its whole environment. The caller has removed what the command must not have; the plan removes variables that point
    /// to hidden sockets, and sets those of the proxy and of private places.
    pub environment: Vec<(OsString, OsString)>,
    /// Variables that name a directory below the private `/tmp`, by its name there, unless the environment has them: caches of
    /// programs that fail if they cannot write.
    pub caches: Vec<(OsString, OsString)>,
    /// The directory in which it starts. It is shown read-only where no other rule shows it.
    pub directory: PathBuf,
    /// Keeps the caller's terminal and job control. Without it the command gets a session of its own and no terminal.
    pub terminal: bool,
}

/// Rules for files. The rule for the longest path applies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Files {
    /// What can be read, before the other rules.
    pub read: Read,
    /// Directories and files that can be written. Each must exist.
    pub writable: Vec<PathBuf>,
    /// Paths beneath writable directories that stay read-only, and cannot be created, replaced, removed or moved.
    pub protected: Vec<PathBuf>,
    /// Paths that can be neither read nor written, whatever other rules say.
    pub secret: Vec<PathBuf>,
    /// Sockets of services outside: agents of keys, Docker, a session bus. They are hidden like secrets.
    pub sockets: Vec<PathBuf>,
    /// Gives the command an empty `/tmp` of its own, and sets TMPDIR to it.
    pub private_tmp: bool,
    /// Sets HOME to an empty directory in the private `/tmp`.
    pub private_home: bool,
}

/// What can be read, before the other rules.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Read {
    /// Everything that the user can read. `/run` is empty, devices are a few harmless ones.
    #[default]
    Everything,
    /// These paths and no other, beside writable ones.
    Only(Vec<PathBuf>),
}

/// What the command reaches over the network.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Network {
    /// Nothing.
    #[default]
    None,
    /// A loopback interface of its own.
    Loopback,
    /// Hosts that a filtering proxy of the caller permits.
    Hosts {
        /// Ports on the real loopback where the caller's proxy listens already. They are used only where the sandbox cannot
        /// have a network of its own: there the plan has no `listeners`.
        outside: Option<Ports>,
    },
    /// Everything.
    Full,
}

/// Ports of a proxy on a loopback interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ports {
    /// HTTP CONNECT and absolute-form HTTP.
    pub http: u16,
    /// SOCKS5.
    pub socks: u16,
}

impl Ports {
    /// Ports inside a sandbox with a network of its own.
    pub const INSIDE: Ports = Ports { http: 3128, socks: 1080 };
}

/// Limits of resources. `None` is the limit of the caller.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Limits {
    /// Processes and threads at a time.
    pub processes: Option<u64>,
    /// Bytes of memory: of all processes where control groups can be used, else of each process's data.
    pub memory_bytes: Option<u64>,
    /// Seconds of processor time of each process.
    pub cpu_s: Option<u64>,
    /// Bytes of each written file.
    pub file_bytes: Option<u64>,
    /// Open files of each process.
    pub open_files: Option<u64>,
    /// Milliseconds until everything in the sandbox ends.
    pub wall_ms: Option<u64>,
    /// Bytes of each private place (`/tmp`, `/run`, `/dev/shm`). The default is [`crate::limits::PRIVATE_BYTES`].
    pub private_bytes: Option<u64>,
}

impl Policy {
    /// Reads everything but secrets, writes only its own `/tmp`, and has no network.
    #[must_use]
    pub fn read_only(directory: &Path) -> Policy {
        Policy {
            files: Files { private_tmp: true, ..Files::default() },
            network: Network::None,
            limits: Limits::default(),
            environment: Vec::new(),
            caches: Vec::new(),
            directory: directory.to_owned(),
            terminal: false,
        }
    }

    /// As [`Policy::read_only`], and writes the workspace.
    #[must_use]
    pub fn workspace_write(workspace: &Path) -> Policy {
        let mut policy = Policy::read_only(workspace);
        policy.files.writable.push(workspace.to_owned());
        policy
    }
}
