//! [`Reader`]: the end that asks. It keeps connections to one reader, and tells an answer about a file from a reader that
//! is gone.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::descriptor::receive_head;
use crate::limits::{ANSWER_TIME, IDLE_MAX};
use crate::message::{Answer, Question, Sort};

/// Makes a connection to the reader, and checks the other end.
type Connect = Box<dyn Fn() -> io::Result<UnixStream> + Send + Sync>;

/// A reader of one user.
pub struct Reader {
    connect: Connect,
    idle: Mutex<Vec<UnixStream>>,
    failures: AtomicU64,
}

/// The reader has not answered, with the reason.
#[derive(Debug)]
pub struct Gone(pub io::Error);

impl std::fmt::Display for Gone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the reader of the user's files does not answer: {}", self.0)
    }
}

impl std::error::Error for Gone {}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("failures", &self.failures).finish_non_exhaustive()
    }
}

impl Reader {
    /// Returns a reader that is reached by `connect`. No connection is made yet.
    pub fn new(connect: impl Fn() -> io::Result<UnixStream> + Send + Sync + 'static) -> Reader {
        Reader { connect: Box::new(connect), idle: Mutex::default(), failures: AtomicU64::new(0) }
    }

    /// Returns the number of questions that the reader has not answered. A caller compares it before and after its
    /// questions: an error about a file has another meaning if the reader was gone.
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::SeqCst)
    }

    /// Checks that the reader serves.
    pub fn check(&self) -> Result<(), Gone> {
        match self.ask(Sort::Serves, Path::new("/")) {
            Ok((Answer::Done, _)) => Ok(()),
            Ok((answer, _)) => Err(Gone(io::Error::other(format!("it answers {answer:?}")))),
            Err(error) => Err(Gone(error)),
        }
    }

    /// Opens the path in the way of `sort`.
    pub fn open(&self, sort: Sort, path: &Path) -> io::Result<OwnedFd> {
        match self.ask(sort, path)? {
            (Answer::Descriptor, Some(descriptor)) => Ok(descriptor),
            (answer, _) => Err(self.other_than(answer)),
        }
    }

    /// Returns the path that answers a question of the sort `Link` or `Real`.
    pub fn path(&self, sort: Sort, path: &Path) -> io::Result<PathBuf> {
        match self.ask(sort, path)? {
            (Answer::Path(found), _) => Ok(found),
            (answer, _) => Err(self.other_than(answer)),
        }
    }

    /// Checks that the user may execute the file.
    pub fn can_execute(&self, path: &Path) -> io::Result<()> {
        match self.ask(Sort::Execute, path)? {
            (Answer::Done, _) => Ok(()),
            (answer, _) => Err(self.other_than(answer)),
        }
    }

    /// Returns the error in the place of an answer. Any other answer is a failure of the reader.
    fn other_than(&self, answer: Answer) -> io::Error {
        match answer {
            Answer::Error(number) => io::Error::from_raw_os_error(number),
            Answer::Text(text) => io::Error::other(text),
            Answer::Done | Answer::Descriptor | Answer::Path(_) => {
                self.failures.fetch_add(1, Ordering::SeqCst);
                io::Error::other("the reader answers another question")
            }
        }
    }

    /// Asks over an idle connection, or over a new one. A failed connection is not used again.
    fn ask(&self, sort: Sort, path: &Path) -> io::Result<(Answer, Option<OwnedFd>)> {
        let question = Question { sort, path: path.to_owned() }.encode()?;
        // A reader that was started again has closed its connections, so a kept one may be at its end.
        loop {
            let idle = self.lock().pop();
            let Some(stream) = idle else { break };
            match exchange(&stream, &question) {
                Ok(answer) => return Ok(self.keep(stream, answer)),
                Err(error) if is_end(&error) => {}
                Err(error) => return Err(self.failed(error)),
            }
        }
        let answered = (self.connect)().and_then(|stream| {
            stream.set_read_timeout(Some(ANSWER_TIME))?;
            stream.set_write_timeout(Some(ANSWER_TIME))?;
            exchange(&stream, &question).map(|answer| (stream, answer))
        });
        let (stream, answer) = answered.map_err(|error| self.failed(error))?;
        Ok(self.keep(stream, answer))
    }

    fn failed(&self, error: io::Error) -> io::Error {
        self.failures.fetch_add(1, Ordering::SeqCst);
        // The caller must not take the number of this error for one about the file.
        io::Error::other(Gone(error))
    }

    fn keep<T>(&self, stream: UnixStream, answer: T) -> T {
        let mut idle = self.lock();
        if idle.len() < IDLE_MAX {
            idle.push(stream);
        }
        answer
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<UnixStream>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_end(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
    )
}

fn exchange(stream: &UnixStream, question: &[u8]) -> io::Result<(Answer, Option<OwnedFd>)> {
    (&mut &*stream).write_all(question)?;
    let (head, descriptor) = receive_head(stream)?;
    let mut body = vec![0; Answer::body_bytes(head)?];
    (&mut &*stream).read_exact(&mut body)?;
    Ok((Answer::decode(head, body)?, descriptor))
}
