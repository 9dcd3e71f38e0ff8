//! Names of the files in a home directory that hook and daemon share, and the connection to a socket there.
//!
//! A home is one absolute directory. Its folder `run` (0700) holds the sockets; nothing in it outlives an uninstall.
//!
//! A home of the system is [`SYSTEM_HOMES`]`/UID`. Its daemon guards the user UID and has a user of its own. Its sockets are in
//! [`SYSTEM_RUN`]`/UID`, where only the daemon's user writes.

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

/// The folder of the system's homes, one for each guarded user. Only root writes in it.
pub const SYSTEM_HOMES: &str = "/var/lib/castellan";

/// The folder of the sockets of these homes. Only root writes in it.
pub const SYSTEM_RUN: &str = "/run/castellan";

/// An absolute home directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    dir: PathBuf,
    /// The guarded user, for a home of the system.
    system_user: Option<u32>,
}

impl Home {
    /// Returns the home at `dir`; `None` for a relative path, whose meaning depends on the working directory.
    pub fn new(dir: impl Into<PathBuf>) -> Option<Home> {
        let dir = dir.into();
        let system_user = user_of_system(&dir);
        dir.is_absolute().then_some(Home { dir, system_user })
    }

    /// Returns the system's home for a user.
    pub fn of_system(user: u32) -> Home {
        Home { dir: Path::new(SYSTEM_HOMES).join(user.to_string()), system_user: Some(user) }
    }

    /// Returns the system's home for a user, unless there is none. Only root removes one, so an agent cannot leave it. A home
    /// that cannot be seen is one: its hook then denies.
    pub fn guarded_by_system(user: u32) -> Option<Home> {
        let home = Home::of_system(user);
        let found = std::fs::symlink_metadata(&home.dir);
        let is_missing = found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        (!is_missing).then_some(home)
    }

    /// Returns the user whom a home of the system guards; `None` for a home of its own user.
    pub fn system_user(&self) -> Option<u32> {
        self.system_user
    }

    /// Returns the directory itself.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the 0700 folder of sockets and locks; 0711 for a home of the system.
    pub fn run(&self) -> PathBuf {
        match self.system_user {
            None => self.dir.join("run"),
            Some(user) => Path::new(SYSTEM_RUN).join(user.to_string()),
        }
    }

    /// Returns the socket of the reader of a guarded user's files, for a home of the system.
    pub fn reader_socket(&self) -> PathBuf {
        self.run().join("reader.sock")
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

/// Parses the directory of a home of the system. Only its one spelling is one.
fn user_of_system(dir: &Path) -> Option<u32> {
    let name = dir.file_name()?.to_str()?;
    let user = name.parse::<u32>().ok().filter(|user| user.to_string() == name)?;
    // Compares the text: `Path` takes `/var//lib` for the same path.
    (dir.as_os_str() == Path::new(SYSTEM_HOMES).join(name).as_os_str()).then_some(user)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_of_the_system_is_known_by_its_one_place() {
        let check = |dir: &str, user: Option<u32>| {
            assert_eq!(Home::new(dir).unwrap().system_user(), user, "{dir}");
        };
        check("/var/lib/castellan/1000", Some(1000));
        check("/var/lib/castellan/0", Some(0));
        for other in [
            "/var/lib/castellan",
            "/var/lib/castellan/",
            "/var/lib/castellan/ada",
            "/var/lib/castellan/01000",
            "/var/lib/castellan/+1000",
            "/var/lib/castellan/-1",
            "/var/lib/castellan/4294967296",
            "/var/lib/castellan/1000/1000",
            "/var//lib/castellan/1000",
            "/var/lib/castellan/../castellan/1000",
            "/home/ada/var/lib/castellan/1000",
        ] {
            check(other, None);
        }
        let home = Home::of_system(1000);
        assert_eq!(Home::new("/var/lib/castellan/1000"), Some(home.clone()));
        assert_eq!(home.hook_socket(), Path::new("/run/castellan/1000/hook.sock"));
        assert_eq!(Home::new("/h").unwrap().hook_socket(), Path::new("/h/run/hook.sock"));
    }
}
