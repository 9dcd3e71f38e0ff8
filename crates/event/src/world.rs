//! The queries of the pure core to the world, and the answers.
//!
//! Neither the analysis of a call nor `decide` reads a file itself. They ask through a [`Recorder`], or return the
//! missing queries. The answers go into the record, so that a call can be replayed against other rules.

mod answers;
mod recorder;

pub use answers::Answers;
pub use recorder::Recorder;

/// A question about the world. Equal questions have one answer within a decision.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Query {
    /// The real path of `path`, seen from directory `base`, symlinks resolved.
    RealPath {
        /// The directory that a relative path is relative to.
        base: String,
        /// The path as written.
        path: String,
    },
    /// The kind of file at this absolute path, symlinks followed.
    FileKind {
        /// The path.
        path: String,
    },
    /// The contents of the file at this absolute path.
    Contents {
        /// The path.
        path: String,
    },
    /// The file that runs when `name` is looked up in these directories.
    Executable {
        /// A name without a slash.
        name: String,
        /// Directories in the form of `PATH`: absolute ones, separated by colons.
        path: String,
    },
    /// The repository that holds this directory.
    Repository {
        /// The directory, absolute.
        of: String,
    },
    /// The file of this directory that was changed last, among those with such names.
    Newest {
        /// The directory, absolute.
        directory: String,
        /// Start of the file name.
        prefix: String,
        /// End of the file name.
        suffix: String,
    },
    /// Number of names and size of the regular file at this absolute path, symlinks followed.
    Inode {
        /// The path.
        path: String,
    },
    /// The kind of content of the regular file at this absolute path, symlinks followed.
    Head {
        /// The path.
        path: String,
    },
    /// Other names of the regular file at this absolute path, symlinks followed.
    OtherNames {
        /// The path.
        path: String,
        /// The directories whose entries may be such names: absolute ones, without those below.
        directories: Vec<String>,
    },
    /// The state of the agent's process.
    Process {
        /// The process id.
        pid: u32,
    },
}

/// The answer to a [`Query`] of the same variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The path with symlinks resolved; missing parts are kept as written. There is no answer for a circle of symlinks,
    /// or if a directory on the way may not be read.
    RealPath(String),
    /// The kind of file.
    FileKind(FileKind),
    /// The contents; `None` if it is not a regular file, cannot be read or is longer than the world's limit.
    Contents(Option<Vec<u8>>),
    /// The file, symlinks resolved; `None` when there is none.
    Executable(Option<String>),
    /// The nearest directory with a `.git`, at or above the directory; `None` outside repositories.
    Repository(Option<String>),
    /// The name of the file in the directory; `None` when there is none.
    Newest(Option<String>),
    /// The numbers; `None` when it is not a regular file.
    Inode(Option<Inode>),
    /// True for binary content: a NUL among the first bytes. `None` when it is not a regular file, or cannot be read.
    Head(Option<bool>),
    /// Absolute paths, symlinks resolved, in the order of the directories. The path itself is not among them. There is no
    /// answer if a directory has more entries than the world's limit, or cannot be read.
    OtherNames(Vec<String>),
    /// The process; `None` when it cannot be read.
    Process(Option<Process>),
}

/// The numbers of a regular file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Inode {
    /// Number of its names (hard links).
    pub links: u64,
    /// Its size in bytes.
    pub size: u64,
}

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// Nothing.
    Missing,
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A character or block device.
    Device,
    /// A FIFO: another process reads the data that is written to it.
    Fifo,
    /// A socket.
    Socket,
    /// castellan may not look at the path; the file may exist or not.
    Unreadable,
}

/// The state that a process was started with. The process may have changed it since: a fact about the call, never
/// policy.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Process {
    /// The environment variables that the analysis can use: `NAME`, value.
    pub env: Vec<(String, String)>,
    /// The home directory of its user, from the user database.
    pub home: String,
    /// The process runs as the superuser.
    pub is_root: bool,
    /// The absolute paths in `env` and `home` that contain symlinks: as written, symlinks resolved.
    pub links: Vec<(String, String)>,
    /// Mount points of file systems of other machines, as the process sees them.
    pub network: Vec<String>,
}

impl Process {
    /// Returns the value of an environment variable.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.env.iter().find(|(one, _)| one == name).map(|(_, value)| value.as_str())
    }

    /// Returns a path of `env` or `home` with symlinks resolved.
    pub fn real<'p>(&'p self, path: &'p str) -> &'p str {
        self.links.iter().find(|(one, _)| one == path).map_or(path, |(_, real)| real)
    }
}

/// A source of answers: the daemon's file system, a test's table, a record during replay.
pub trait World {
    /// Answers one query. `None` if the source has no answer (a replay without the record).
    fn answer(&self, query: &Query) -> Option<Answer>;

    /// Has a helper read a program. The bytes of request and answer belong to the languages. `sha256`: the hash of the
    /// program's language and text. `None`: the helper was given up, or this world has none.
    fn program(&self, sha256: &str, request: &[u8]) -> Option<Vec<u8>> {
        let _ = (sha256, request);
        None
    }
}
