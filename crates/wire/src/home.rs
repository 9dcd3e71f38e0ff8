//! The names of what lies in a home directory and is shared by hook and daemon, and how to reach a socket there.
//!
//! A home is one absolute directory. Its folder `run` (0700) holds the sockets; nothing in it outlives an uninstall.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// Exit code of `castellan daemon` when another daemon serves the home.
pub const DAEMON_ALREADY_RUNS: i32 = 5;

/// The environment that a daemon is started with, and all of it. It is for the allocator (glibc's): what a large call took goes back to
/// the system when it is over, instead of into one of many heaps that only grow.
pub const DAEMON_ENVIRONMENT: [(&str, &str); 2] =
    [("MALLOC_ARENA_MAX", "2"), ("MALLOC_MMAP_THRESHOLD_", "131072")];

/// An absolute home directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    dir: PathBuf,
}

impl Home {
    /// Returns the home at `dir`, or `None` for a relative path: it would depend on who runs where.
    pub fn new(dir: impl Into<PathBuf>) -> Option<Home> {
        let dir = dir.into();
        dir.is_absolute().then_some(Home { dir })
    }

    /// The directory itself.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The 0700 folder of sockets and locks.
    pub fn run(&self) -> PathBuf {
        self.dir.join("run")
    }

    /// The socket for hooks.
    pub fn hook_socket(&self) -> PathBuf {
        self.run().join("hook.sock")
    }

    /// The socket for `castellan`.
    pub fn control_socket(&self) -> PathBuf {
        self.run().join("control.sock")
    }

    /// Present after a deliberate `castellan stop`: hooks then deny and do not start the daemon.
    pub fn stopped_marker(&self) -> PathBuf {
        self.run().join("stopped")
    }

    /// Locked by the one hook that starts the daemon.
    pub fn start_lock(&self) -> PathBuf {
        self.run().join("start.lock")
    }

    /// Locked by the daemon for as long as it lives.
    pub fn daemon_lock(&self) -> PathBuf {
        self.run().join("daemon.lock")
    }

    /// What a hook could not tell a daemon: one line each, read and removed by the next daemon.
    pub fn gaps(&self) -> PathBuf {
        self.run().join("gaps")
    }

    /// Gaps that a daemon has taken and is recording.
    pub fn gaps_taken(&self) -> PathBuf {
        self.run().join("gaps.taken")
    }

    /// Standard error of a daemon that a hook started.
    pub fn daemon_stderr(&self) -> PathBuf {
        self.run().join("daemon.stderr")
    }
}

/// Bytes of a socket path that `sockaddr_un` takes on every supported system, the final NUL left out.
const SOCKET_PATH_BYTES_MAX: usize = 103;

/// Connects to the socket at `path`, also where the path is longer than a socket address can hold.
pub fn connect(path: &Path) -> io::Result<UnixStream> {
    with_short_path(path, |short| UnixStream::connect(short))
}

/// Listens on a socket at `path`, also where the path is longer than a socket address can hold.
pub fn bind(path: &Path) -> io::Result<UnixListener> {
    with_short_path(path, |short| UnixListener::bind(short))
}

/// Calls `action` with `path`, or with a short name for it through a descriptor of its directory.
fn with_short_path<T>(path: &Path, action: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    if path.as_os_str().len() <= SOCKET_PATH_BYTES_MAX {
        return action(path);
    }
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    // A pipe in its place would not open.
    if !dir.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let dir = File::open(dir)?;
    action(&PathBuf::from(format!("/proc/self/fd/{}", dir.as_raw_fd())).join(name))
}
