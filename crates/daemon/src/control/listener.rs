//! Checks the process that listens on the control socket, so that a person gives a PIN or password only to castellan, and
//! a daemon takes over only from castellan. It must not know the request.
//!
//! The check detects a program that has put its own socket there. It does not detect a program that hides its
//! executable, as the daemon itself does on Linux, or a program that has replaced castellan's own executable. On macOS the
//! executable is known by its path only, so a program can swap the file at its path during the check.

use std::fs::Metadata;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use castellan_files::{Links, open_to_read};
use castellan_wire::Home;

use crate::limits::EXECUTABLE_BYTES_MAX;
use crate::platform::{self, DAEMON_IS_HIDDEN, peer_of};

/// The kernel's suffix for the path of a deleted executable.
const DELETED: &str = " (deleted)";

/// Checks whether the listening process may be castellan's daemon. The error names the process.
pub(crate) fn check(stream: &UnixStream) -> Result<(), String> {
    check_of(stream, rustix::process::geteuid().as_raw())
}

/// Checks whether the process that listens for a home may be its daemon.
pub(crate) fn check_for(stream: &UnixStream, home: &Home) -> Result<(), String> {
    let Some(_) = home.system_user() else { return check(stream) };
    // Only root and the daemon's user write in the folder, and only root in the one above.
    let owner = std::fs::symlink_metadata(home.run()).map(|found| found.uid());
    let owner = owner.map_err(|error| format!("`{}`: {error}", home.run().display()))?;
    check_of(stream, owner)
}

fn check_of(stream: &UnixStream, user: u32) -> Result<(), String> {
    let peer = peer_of(stream);
    let peer =
        peer.map_err(|error| format!("it cannot be seen who listens on castellan's socket: {error}"))?;
    let pid = peer.pid;
    if peer.user != user {
        return Err(format!("process {pid} of user {} listens on castellan's socket", peer.user));
    }
    let theirs = Executable::of(pid);
    let ours = Executable::own();
    let is_ours = match (&theirs, &ours) {
        (Ok(theirs), Ok(ours)) => theirs.is_of_the_program(ours),
        // The daemon does not permit other processes to inspect it.
        (Err(error), _) => DAEMON_IS_HIDDEN && error.kind() == io::ErrorKind::PermissionDenied,
        (Ok(_), Err(_)) => false,
    };
    let shown = |path: &Path| path.to_string_lossy().escape_debug().to_string();
    match theirs {
        _ if is_ours => Ok(()),
        Ok(theirs) => Err(format!(
            "process {pid} (`{}`) listens on castellan's socket, and is another program than this castellan",
            shown(&theirs.path)
        )),
        Err(error) => Err(format!(
            "process {pid}, which listens on castellan's socket, cannot be seen: {error}: if castellan was updated, end \
             that process"
        )),
    }
}

/// The executable of a process.
#[derive(Debug)]
struct Executable {
    /// Path of the executed file itself, even if another file has replaced it.
    file: PathBuf,
    there: Metadata,
    path: PathBuf,
}

impl Executable {
    fn of(pid: u32) -> io::Result<Executable> {
        let path = platform::executable(pid)?;
        let file = platform::executable_file(pid)?;
        Ok(Executable { there: file.metadata()?, path, file })
    }

    fn own() -> io::Result<Executable> {
        let file = platform::own_executable_file()?;
        Ok(Executable { there: file.metadata()?, path: platform::own_executable()?, file })
    }

    /// Reports whether this is the same file or a copy of it, or the file that an update has replaced.
    fn is_of_the_program(&self, ours: &Executable) -> bool {
        let is_same = (self.there.dev(), self.there.ino()) == (ours.there.dev(), ours.there.ino());
        let was_there = self.there.nlink() == 0 && self.place() == ours.place();
        is_same || was_there || has_same_bytes(&self.file, &ours.file).unwrap_or(false)
    }

    /// Returns its present or former path.
    fn place(&self) -> PathBuf {
        let path = self.path.to_string_lossy();
        match path.strip_suffix(DELETED) {
            Some(before) if self.there.nlink() == 0 => PathBuf::from(before),
            _ => self.path.clone(),
        }
    }
}

fn has_same_bytes(one: &Path, other: &Path) -> io::Result<bool> {
    let open = |file| open_to_read(file, Links::Followed);
    let (mut one, mut other) = (open(one)?, open(other)?);
    let bytes = one.metadata()?.len();
    if bytes != other.metadata()?.len() || bytes > EXECUTABLE_BYTES_MAX {
        return Ok(false);
    }
    let (mut read, mut expected) = (vec![0; PIECE], vec![0; PIECE]);
    let mut left = bytes;
    while left > 0 {
        let piece = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
        let (Some(read), Some(expected)) = (read.get_mut(..piece), expected.get_mut(..piece)) else {
            return Ok(false);
        };
        one.read_exact(read)?;
        other.read_exact(expected)?;
        if read != expected {
            return Ok(false);
        }
        left -= piece as u64;
    }
    Ok(true)
}

/// Bytes compared at a time.
const PIECE: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn this_program_is_asked_for_what_only_a_person_knows() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("socket");
        let _listener = UnixListener::bind(&socket).unwrap();
        assert_eq!(check(&UnixStream::connect(&socket).unwrap()), Ok(()));
    }

    /// Runs a program until its input ends, calls `meanwhile`, and checks which programs match.
    fn check_running(program: &Path, meanwhile: impl FnOnce(), cases: &[(&Path, bool)]) {
        let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        meanwhile();
        let theirs = Executable::of(child.id()).unwrap();
        for (ours, expected) in cases {
            let there = ours.metadata().unwrap();
            let ours = Executable { file: ours.to_path_buf(), there, path: ours.to_path_buf() };
            assert_eq!(theirs.is_of_the_program(&ours), *expected, "{theirs:?} {ours:?}");
        }
        drop(child.stdin.take());
        child.wait().unwrap();
    }

    #[test]
    fn it_is_the_same_file_a_copy_or_what_was_there_before() {
        let dir = tempfile::tempdir().unwrap();
        let [ours, copy, fake, other] = ["castellan", "copy", "castellan (deleted)", "other"]
            .map(|name| dir.path().canonicalize().unwrap().join(name));
        for file in [&ours, &copy, &fake] {
            std::fs::copy("/bin/cat", file).unwrap();
        }
        std::fs::copy("/bin/sh", &other).unwrap();
        check_running(&ours, || (), &[(&ours, true), (&copy, true), (&other, false)]);
        // An update: another file is at the path.
        let update = || std::fs::rename(&other, &ours).unwrap();
        check_running(&ours, update, &[(&ours, true)]);
        // An equal name is not enough.
        check_running(&fake, || (), &[(&ours, false)]);
    }
}
