//! The steps of the launcher: all that it does, and nothing that it decides.

use serde::{Deserialize, Serialize};

use crate::bytes::Bytes;

/// What the launcher applies, in this order: placeholders, namespaces, network, steps, directory, privileges, Landlock,
/// seccomp, limits, command. If one part fails, nothing runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Plan {
    /// Directories that the launcher makes outside for the time of the run.
    pub placeholders: Vec<Placeholder>,
    /// A directory outside that the caller makes before, and removes after the run.
    pub scratch: Option<Bytes>,
    /// A control group for the command.
    pub cgroup: Option<Cgroup>,
    /// The namespaces; none where the launcher cannot make them.
    pub namespaces: Option<Namespaces>,
    /// Bubblewrap, which makes the namespaces and mounts, and starts the launcher in them. It has no steps then.
    pub bubblewrap: Option<Bubblewrap>,
    /// Switches the loopback interface of the network namespace on.
    pub loopback: bool,
    /// Ports on 127.0.0.1 of the network namespace, whose listening sockets go to the caller, in this order.
    pub listeners: Vec<u16>,
    /// Mounts and files of the namespaces.
    pub steps: Vec<Step>,
    /// Rules of Landlock.
    pub landlock: Option<Landlock>,
    /// The filter of system calls.
    pub seccomp: Vec<Instruction>,
    /// Limits of each process.
    pub limits: Vec<(Resource, u64)>,
    /// The working directory.
    pub directory: Bytes,
    /// Variables, `NAME=value`.
    pub environment: Vec<Bytes>,
    /// The program and its arguments.
    pub command: Vec<Bytes>,
    /// Keeps the caller's session and terminal.
    pub terminal: bool,
    /// Milliseconds until everything ends.
    pub wall_ms: Option<u64>,
}

/// A directory that is made where a protected path is missing, because only an existing directory can be mounted over. The
/// last sandbox that uses it removes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placeholder {
    /// Its path.
    pub path: Bytes,
}

/// A control group (version 2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cgroup {
    /// The directory that the launcher makes and removes.
    pub path: Bytes,
    /// Files in it, with their text.
    pub settings: Vec<(Bytes, Bytes)>,
}

/// Namespaces of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Namespaces {
    /// The user, inside as outside.
    pub uid: u32,
    /// The group, inside as outside.
    pub gid: u32,
    /// With a network of its own.
    pub network: bool,
}

/// A start of bubblewrap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bubblewrap {
    /// Its program.
    pub program: Bytes,
    /// Its options. Those that show and start the launcher follow.
    pub options: Vec<Bytes>,
}

/// Flags of a mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MountFlags {
    /// Nothing can be written.
    pub read_only: bool,
    /// Device files do not work.
    pub no_devices: bool,
    /// Nothing can be executed.
    pub no_execution: bool,
}

/// A missing mount point in a private place, which a step makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Make {
    /// It exists.
    No,
    /// A directory, with those above it.
    Directory,
    /// An empty file, with the directories above it.
    File,
}

/// One change of the mounts. Each path is opened without following any symlink: one that was planted since the survey
/// makes the start fail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// Copies a tree of mounts for a later `Attach` with the same number. Copies keep what a later step covers.
    Copy {
        /// The number, counted from 0.
        slot: u16,
        /// The root of the tree.
        path: Bytes,
        /// Flags of all its mounts.
        flags: MountFlags,
    },
    /// Sets flags of a mount and of those below it, and separates them from the mounts outside.
    Restrict {
        /// The mount.
        path: Bytes,
        /// Flags to set.
        flags: MountFlags,
        /// With the mounts below it.
        recursive: bool,
    },
    /// Mounts a copy.
    Attach {
        /// Its number.
        slot: u16,
        /// The mount point.
        at: Bytes,
        /// Makes the mount point.
        make: Make,
    },
    /// Mounts a tree at another path, with flags.
    Bind {
        /// The root of the tree.
        from: Bytes,
        /// The mount point.
        at: Bytes,
        /// Flags of all its mounts.
        flags: MountFlags,
        /// Makes the mount point.
        make: Make,
        /// The text of the symlink that is the mount point; it is not followed. The root of the tree is the symlink too, if it
        /// has the same path.
        link: Option<Bytes>,
    },
    /// Mounts an empty file system in memory.
    Private {
        /// The mount point.
        at: Bytes,
        /// Mode of its root.
        mode: u32,
        /// Bytes that fit.
        bytes: u64,
        /// Makes the mount point.
        make: Make,
        /// Programs in it can be executed.
        execution: bool,
    },
    /// Mounts a new `/proc`.
    Processes {
        /// The mount point.
        at: Bytes,
        /// Makes the mount point.
        make: Make,
    },
    /// Mounts a new instance of pseudo terminals.
    Terminals {
        /// The mount point.
        at: Bytes,
    },
    /// Makes a directory in a private place.
    Directory {
        /// The path.
        at: Bytes,
        /// Its mode.
        mode: u32,
    },
    /// Makes an empty file in a private place.
    File {
        /// The path.
        at: Bytes,
        /// Its mode.
        mode: u32,
    },
    /// Makes a symlink in a private place.
    Link {
        /// The path.
        at: Bytes,
        /// Its text.
        to: Bytes,
    },
    /// Writes a setting of the namespaces.
    Write {
        /// The file.
        path: Bytes,
        /// The text.
        text: Bytes,
    },
    /// Makes a mount the root, and removes the old root.
    Root {
        /// The mount.
        at: Bytes,
    },
}

/// Rules of Landlock. Handled rights without a rule are denied.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Landlock {
    /// Handled rights on files.
    pub files: u64,
    /// Handled rights on the network.
    pub network: u64,
    /// Scopes.
    pub scopes: u64,
    /// Rights beneath paths.
    pub rules: Vec<Rule>,
    /// Ports to which TCP connections can be made.
    pub ports: Vec<u16>,
    /// Rights on the files behind the standard streams, so that `/dev/stdout` can be opened.
    pub streams: u64,
}

/// Rights beneath a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// The path.
    pub path: Bytes,
    /// The rights.
    pub rights: u64,
    /// The path may be missing: then nothing is permitted.
    pub optional: bool,
}

/// One instruction of a filter: `struct sock_filter`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instruction {
    /// Operation.
    pub code: u16,
    /// Instructions to skip if true.
    pub yes: u8,
    /// Instructions to skip if false.
    pub no: u8,
    /// Operand.
    pub k: u32,
}

/// A limit of each process (`setrlimit`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Resource {
    /// RLIMIT_NPROC.
    Processes,
    /// RLIMIT_DATA, bytes: memory that the process can write. RLIMIT_AS would also count what runtimes only reserve.
    Data,
    /// RLIMIT_CPU, seconds.
    Cpu,
    /// RLIMIT_FSIZE, bytes.
    FileSize,
    /// RLIMIT_NOFILE.
    OpenFiles,
    /// RLIMIT_CORE, bytes.
    Core,
}
