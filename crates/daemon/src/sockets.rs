//! The folder, the lock and the two sockets of the home of a daemon. The daemon creates them at its start and restores
//! them when another process removed them. Does not depend on the requests over the sockets.

use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions, TryLockError, symlink_metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use castellan_files::{Links, open_with};
use castellan_wire::{Home, bind};

/// Mode of the folder.
const FOLDER_MODE: u32 = 0o700;

/// Mode of the lock and of the sockets.
const FILE_MODE: u32 = 0o600;

/// A socket that others connect to by a path.
#[derive(Debug)]
pub(crate) struct Socket {
    path: PathBuf,
    bound: RwLock<Bound>,
    is_closed: AtomicBool,
}

/// A listener and the file at its path when it was created. No other file gets this inode while the listener is open.
#[derive(Debug, Clone)]
struct Bound {
    listener: Arc<UnixListener>,
    place: Place,
}

/// Device and inode of a file.
type Place = (u64, u64);

impl Socket {
    /// Listens at `path` and replaces an existing file: the caller holds the lock.
    pub(crate) fn listen(path: PathBuf) -> io::Result<Socket> {
        let bound = RwLock::new(listen(&path)?);
        Ok(Socket { path, bound, is_closed: AtomicBool::new(false) })
    }

    /// Waits for the next connection. Returns an error after [`Socket::close`].
    pub(crate) fn accept(&self) -> io::Result<UnixStream> {
        loop {
            let Bound { listener, .. } = self.bound();
            match listener.accept() {
                Ok((stream, _)) => return Ok(stream),
                // The socket was recreated meanwhile.
                Err(_) if !self.is_closed() && !Arc::ptr_eq(&listener, &self.bound().listener) => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::SeqCst)
    }

    /// Takes no more connections. Leaves a file at the path that another process created.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        let bound = self.bound();
        if place_of(&self.path).is_ok_and(|place| place == bound.place) {
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// Wakes all callers of [`Socket::accept`].
    pub(crate) fn wake(&self) {
        let _ = rustix::net::shutdown(&self.bound().listener, rustix::net::Shutdown::Both);
    }

    /// Recreates the socket if the path leads elsewhere. Returns the problem; `None` if there was none.
    fn mend(&self) -> io::Result<Option<&'static str>> {
        let before = self.bound();
        let wrong = match symlink_metadata(&self.path) {
            Ok(found) if place(&found) != before.place => "something else is in its place",
            Ok(found) if found.mode() & 0o777 != FILE_MODE => {
                std::fs::set_permissions(&self.path, Permissions::from_mode(FILE_MODE))?;
                return Ok(Some("its permissions were others"));
            }
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => "it is gone",
            Err(error) => return Err(error),
        };
        *self.bound.write().unwrap_or_else(PoisonError::into_inner) = listen(&self.path)?;
        let _ = rustix::net::shutdown(&before.listener, rustix::net::Shutdown::Both);
        Ok(Some(wrong))
    }

    fn bound(&self) -> Bound {
        self.bound.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Listens at a path and replaces an existing file.
fn listen(path: &Path) -> io::Result<Bound> {
    clear(path)?;
    let listener = Arc::new(bind(path)?);
    std::fs::set_permissions(path, Permissions::from_mode(FILE_MODE))?;
    let found = symlink_metadata(path)?;
    if !found.file_type().is_socket() {
        return Err(io::Error::other("somebody else puts files there all the time"));
    }
    Ok(Bound { listener, place: place(&found) })
}

/// Removes the file at a path. Removes a folder only if it is empty, because castellan never made one there.
fn clear(path: &Path) -> io::Result<()> {
    let removed = match symlink_metadata(path) {
        Ok(found) if found.is_dir() => std::fs::remove_dir(path),
        Ok(_) => std::fs::remove_file(path),
        Err(error) => Err(error),
    };
    removed.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

fn place_of(path: &Path) -> io::Result<Place> {
    symlink_metadata(path).map(|found| place(&found))
}

fn place(found: &Metadata) -> Place {
    (found.dev(), found.ino())
}

/// The lock of the daemon that serves the home, held until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    file: File,
}

impl Lock {
    /// Takes the lock; `None` if another process has it.
    pub(crate) fn take(path: PathBuf) -> io::Result<Option<Lock>> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(FILE_MODE);
        let file = open_with(&mut options, &path, Links::Refused)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock { path, file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Takes the lock again if another file is at its path, where a starting daemon looks. Returns whether it did.
    fn mend(&mut self) -> io::Result<bool> {
        let own = place(&self.file.metadata()?);
        if place_of(&self.path).is_ok_and(|found| found == own) {
            return Ok(false);
        }
        if symlink_metadata(&self.path).is_ok_and(|found| !found.is_file()) {
            clear(&self.path)?;
        }
        match Lock::take(self.path.clone())? {
            Some(lock) => *self = lock,
            // Another daemon is starting; it ends when it finds the log locked.
            None => return Err(io::Error::other("another process holds it")),
        }
        Ok(true)
    }
}

/// All files by which clients reach a daemon.
#[derive(Debug)]
pub(crate) struct Sockets {
    folder: PathBuf,
    lock: Lock,
    control: Arc<Socket>,
    hook: Arc<Socket>,
    /// Problems that could not be repaired at the last check.
    unmended: Vec<String>,
}

impl Sockets {
    pub(crate) fn new(home: &Home, lock: Lock, control: Arc<Socket>, hook: Arc<Socket>) -> Sockets {
        Sockets { folder: home.run(), lock, control, hook, unmended: Vec::new() }
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
        look(&self.folder, mend_folder(&self.folder));
        let lock = self.lock.mend().map(|was_gone| was_gone.then_some("it was another file"));
        look(&self.lock.path, lock);
        for socket in [&self.control, &self.hook] {
            look(&socket.path, socket.mend());
        }
        lines.extend(unmended.iter().filter(|line| !self.unmended.contains(line)).cloned());
        self.unmended = unmended;
        lines
    }

    /// Takes no more connections on either socket.
    pub(crate) fn close(&self) {
        self.hook.close();
        self.control.close();
    }
}

/// Restores a missing or replaced folder of sockets, and its private mode.
fn mend_folder(folder: &Path) -> io::Result<Option<&'static str>> {
    let wrong = match symlink_metadata(folder) {
        Ok(found) if found.is_dir() && found.mode() & 0o777 == FOLDER_MODE => return Ok(None),
        Ok(found) if found.is_dir() => {
            std::fs::set_permissions(folder, Permissions::from_mode(FOLDER_MODE))?;
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
    DirBuilder::new().mode(FOLDER_MODE).create(folder)?;
    Ok(Some(wrong))
}

#[cfg(test)]
mod tests;
