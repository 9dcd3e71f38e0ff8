//! The end that looks: answers each question of a connection with the rights of this process.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use castellan_files::{Links, open_to_read};
use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags};

use crate::descriptor::send;
use crate::limits::{CONNECTIONS_MAX, STACK_BYTES};
use crate::message::{Answer, Question, Sort};

/// Serves connections until the listener fails. `is_allowed` decides about the other end of a connection; one that it
/// rejects gets no answer.
pub fn serve(listener: &UnixListener, is_allowed: impl Fn(&UnixStream) -> bool) -> io::Error {
    let open = Arc::new(());
    loop {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return error,
        };
        // Over the limit the daemon gets no answer, and denies.
        if !is_allowed(&stream) || Arc::strong_count(&open) > CONNECTIONS_MAX {
            continue;
        }
        let counted = Arc::clone(&open);
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        // Without a thread, the daemon sees the end of the connection.
        let _ = thread.spawn(move || {
            let _ = answer_all(&stream);
            drop(counted);
        });
    }
}

fn answer_all(stream: &UnixStream) -> io::Result<()> {
    while let Some(question) = Question::read(&mut &*stream)? {
        let (answer, descriptor) = answer_of(&question);
        send(stream, &answer.encode(), descriptor.as_ref().map(AsFd::as_fd))?;
    }
    Ok(())
}

fn answer_of(question: &Question) -> (Answer, Option<OwnedFd>) {
    match answer(question) {
        Ok(Given::Done) => (Answer::Done, None),
        Ok(Given::Path(path)) => (Answer::Path(path), None),
        Ok(Given::Descriptor(descriptor)) => (Answer::Descriptor, Some(descriptor)),
        Err(error) => (Answer::of_error(&error), None),
    }
}

/// The answer to a question.
#[derive(Debug)]
enum Given {
    /// Yes.
    Done,
    /// A path: the target of a symlink, or a real path.
    Path(PathBuf),
    /// An open descriptor that cannot write.
    Descriptor(OwnedFd),
}

/// Answers a question with the rights of this process.
fn answer(question: &Question) -> io::Result<Given> {
    let path = question.path.as_path();
    match question.sort {
        Sort::Read => open_to_read(path, Links::Followed).map(|file| Given::Descriptor(file.into())),
        Sort::ReadNoLink => open_to_read(path, Links::Refused).map(|file| Given::Descriptor(file.into())),
        Sort::List => open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK),
        Sort::Look => look(path, OFlags::empty()),
        Sort::LookNoLink => look(path, OFlags::NOFOLLOW),
        Sort::Link => std::fs::read_link(path).map(Given::Path),
        Sort::Real => std::fs::canonicalize(path).map(Given::Path),
        Sort::Execute => {
            rustix::fs::accessat(CWD, path, Access::EXEC_OK, AtFlags::EACCESS)?;
            Ok(Given::Done)
        }
        Sort::Serves => Ok(Given::Done),
    }
}

/// Opens the place of a file without opening the file.
#[cfg(target_os = "linux")]
fn look(path: &Path, links: OFlags) -> io::Result<Given> {
    open(path, OFlags::PATH | links)
}

/// Only Linux opens a place. castellan has no readers elsewhere.
#[cfg(not(target_os = "linux"))]
fn look(_path: &Path, _links: OFlags) -> io::Result<Given> {
    Err(io::ErrorKind::Unsupported.into())
}

fn open(path: &Path, flags: OFlags) -> io::Result<Given> {
    Ok(Given::Descriptor(rustix::fs::open(path, flags | OFlags::CLOEXEC | OFlags::NOCTTY, Mode::empty())?))
}
