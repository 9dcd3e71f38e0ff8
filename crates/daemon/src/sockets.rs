//! The folder, the lock and the two sockets of the home of a daemon. The daemon creates them at its start, or takes them
//! from a service manager or from the daemon before. It restores them when another process removed them. Does not depend on
//! the requests over the sockets.

mod given;
mod lock;
mod pause;
mod socket;

use std::fs::{DirBuilder, Permissions, symlink_metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use castellan_wire::Home;

pub(crate) use self::given::{GivenPair, Owner};
pub(crate) use self::lock::Lock;
pub(crate) use self::pause::Accepted;
pub(crate) use self::socket::Socket;

/// Mode of the lock, which only the daemon opens.
const LOCK_MODE: u32 = 0o600;

/// Modes of the folder and of the sockets in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Modes {
    folder: u32,
    pub(crate) socket: u32,
}

impl Modes {
    /// Returns the modes for a home. The daemon's user alone uses them, or another user reaches the sockets: the daemon of
    /// the system then checks who connects.
    pub(crate) fn of(home: &Home) -> Modes {
        match home.system_user() {
            None => Modes { folder: 0o700, socket: 0o600 },
            Some(_) => Modes { folder: 0o711, socket: 0o666 },
        }
    }
}

/// All files by which clients reach a daemon.
#[derive(Debug)]
pub(crate) struct Sockets {
    folder: PathBuf,
    modes: Modes,
    lock: Lock,
    control: Arc<Socket>,
    hook: Arc<Socket>,
    /// A service manager made the sockets, and keeps them.
    is_managed: bool,
    /// Problems that could not be repaired at the last check.
    unmended: Vec<String>,
}

impl Sockets {
    pub(crate) fn new(
        home: &Home,
        lock: Lock,
        [control, hook]: [Arc<Socket>; 2],
        is_managed: bool,
    ) -> Sockets {
        Sockets {
            folder: home.run(),
            modes: Modes::of(home),
            lock,
            control,
            hook,
            is_managed,
            unmended: Vec::new(),
        }
    }

    /// Returns the control socket and the hook socket.
    pub(crate) fn both(&self) -> [&Arc<Socket>; 2] {
        [&self.control, &self.hook]
    }

    pub(crate) fn lock(&self) -> &Lock {
        &self.lock
    }

    /// Reports whether a service manager made the sockets, and keeps them.
    pub(crate) fn is_managed(&self) -> bool {
        self.is_managed
    }

    /// Restores changed files. Returns a line for each repair and, once, for each problem that cannot be repaired.
    pub(crate) fn mend(&mut self) -> Vec<String> {
        let (mut lines, mut unmended) = (Vec::new(), Vec::new());
        let mut look = |path: &Path, mended: io::Result<Option<&str>>| {
            match mended {
            Ok(None) => {}
            Ok(Some(wrong)) => lines.push(format!("`{}` was made again: {wrong}", path.display())),
            Err(error) => unmended.push(format!(
                "`{}` is not as the daemon made it and cannot be made again: {error}: move what is there away",
                path.display()
            )),
        }
        };
        look(&self.folder, mend_folder(&self.folder, self.modes.folder));
        let lock = self.lock.mend().map(|was_gone| was_gone.then_some("it was another file"));
        look(&self.lock.path, lock);
        for socket in [&self.control, &self.hook] {
            look(&socket.path, socket.mend());
        }
        lines.extend(unmended.iter().filter(|line| !self.unmended.contains(line)).cloned());
        self.unmended = unmended;
        lines
    }

    /// Takes no more connections on either socket. Those of a service manager wait for the next daemon.
    pub(crate) fn close(&self) {
        if self.is_managed {
            return self.both().into_iter().for_each(|socket| socket.pause(Accepted::Served));
        }
        self.hook.close();
        self.control.close();
    }
}

/// Restores a missing or replaced folder of sockets, and its private mode.
fn mend_folder(folder: &Path, mode: u32) -> io::Result<Option<&'static str>> {
    let wrong = match symlink_metadata(folder) {
        Ok(found) if found.is_dir() && found.mode() & 0o777 == mode => return Ok(None),
        Ok(found) if found.is_dir() => {
            std::fs::set_permissions(folder, Permissions::from_mode(mode))?;
            return Ok(Some("its permissions were others"));
        }
        Ok(_) => {
            std::fs::remove_file(folder)?;
            "something else was in its place"
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => "it was gone",
        Err(error) => return Err(error),
    };
    // Does not recreate the home itself: a user who removes the home wants no daemon there.
    DirBuilder::new().mode(mode).create(folder)?;
    Ok(Some(wrong))
}

#[cfg(test)]
mod tests;
