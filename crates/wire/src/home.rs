//! Names of the files in a home directory that hook and daemon share, and the connection to a socket there.
//!
//! A home is one absolute directory. Its folder `run` (0700) holds the sockets; nothing in it outlives an uninstall.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// Exit code of `castellan daemon` when another daemon serves the home.
pub const DAEMON_ALREADY_RUNS: i32 = 5;

/// The whole environment of a started daemon. The variables configure glibc's allocator: after a large call, its memory
/// goes back to the system. By default it stays in one of many heaps that only grow.
pub const DAEMON_ENVIRONMENT: [(&str, &str); 2] =
    [("MALLOC_ARENA_MAX", "2"), ("MALLOC_MMAP_THRESHOLD_", "131072")];

/// An absolute home directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    dir: PathBuf,
}

impl Home {
    /// Returns the home at `dir`; `None` for a relative path, whose meaning depends on the working directory.
    pub fn new(dir: impl Into<PathBuf>) -> Option<Home> {
        let dir = dir.into();
        dir.is_absolute().then_some(Home { dir })
    }

    /// Returns the directory itself.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the 0700 folder of sockets and locks.
    pub fn run(&self) -> PathBuf {
        self.dir.join("run")
    }

    /// Returns the socket for hooks.
    pub fn hook_socket(&self) -> PathBuf {
        self.run().join("hook.sock")
    }

    /// Returns the socket for `castellan`.
    pub fn control_socket(&self) -> PathBuf {
        self.run().join("control.sock")
    }

    /// Returns the marker that exists after a deliberate `castellan stop`: hooks then deny and do not start the daemon.
    pub fn stopped_marker(&self) -> PathBuf {
        self.run().join("stopped")
    }

    /// Returns the lock of the one hook that starts the daemon.
    pub fn start_lock(&self) -> PathBuf {
        self.run().join("start.lock")
    }

    /// Returns the lock that the daemon holds for its whole life.
    pub fn daemon_lock(&self) -> PathBuf {
        self.run().join("daemon.lock")
    }

    /// Returns the file of gaps: one line for each. The next daemon reads and removes it.
    pub fn gaps(&self) -> PathBuf {
        self.run().join("gaps")
    }

    /// Returns the file of gaps that a daemon has taken and is recording.
    pub fn gaps_taken(&self) -> PathBuf {
        self.run().join("gaps.taken")
    }

    /// Returns the file for standard error of a daemon that a hook started.
    pub fn daemon_stderr(&self) -> PathBuf {
        self.run().join("daemon.stderr")
    }
}

/// Bytes of a socket path that `sockaddr_un` accepts on every supported system, without the final NUL.
const SOCKET_PATH_BYTES_MAX: usize = 103;

/// Connects to the socket at `path`, also if the path is longer than a socket address can hold.
pub fn connect(path: &Path) -> io::Result<UnixStream> {
    with_short_path(path, |short| UnixStream::connect(short))
}

/// Listens on a socket at `path`, also if the path is longer than a socket address can hold.
pub fn bind(path: &Path) -> io::Result<UnixListener> {
    with_short_path(path, |short| UnixListener::bind(short))
}

/// Calls `action` with `path`, or with a short name for it through a descriptor of its directory. Only Linux has such names.
pub fn with_short_path<T>(path: &Path, action: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    if path.as_os_str().len() <= SOCKET_PATH_BYTES_MAX {
        return action(path);
    }
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    if !cfg!(target_os = "linux") {
        let why =
            format!("its path is longer than {SOCKET_PATH_BYTES_MAX} bytes: use a home with a shorter path");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    // Opening a pipe in place of the directory would block.
    if !dir.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let dir = File::open(dir)?;
    action(&PathBuf::from(format!("/proc/self/fd/{}", dir.as_raw_fd())).join(name))
}
