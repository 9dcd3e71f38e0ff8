//! A connection that is read in parts: the bytes that were read too early wait in a buffer.

use std::io::{self, Read};
use std::time::Instant;

use crate::limits::{BUFFER_BYTES, HEAD_BYTES_MAX, HEAD_TIME};

/// A connection and the bytes that were read from it but not used.
pub(crate) struct Source<S> {
    pub(crate) inner: S,
    buffer: Vec<u8>,
    used: usize,
}

/// The reason why a part could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The other side closed the connection, or it failed.
    Gone,
    /// It was silent for too long.
    Slow,
    /// The bytes are wrong.
    Wrong(&'static str),
}

const TOO_LONG: Trouble = Trouble::Wrong("a part of it is too long");

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        // The limit of time of a socket gives the first, on some systems the second.
        let is_slow = matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
        if is_slow { Trouble::Slow } else { Trouble::Gone }
    }
}

impl<S> Source<S> {
    pub(crate) fn new(inner: S) -> Source<S> {
        Source { inner, buffer: Vec::new(), used: 0 }
    }

    /// The bytes that were read and not used.
    pub(crate) fn waiting(&self) -> &[u8] {
        self.buffer.get(self.used..).unwrap_or_default()
    }

    /// Marks bytes as used.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.used = self.used.saturating_add(bytes).min(self.buffer.len());
    }

    /// Returns the waiting bytes, and marks them as used.
    pub(crate) fn take_waiting(&mut self) -> Vec<u8> {
        let waiting = self.waiting().to_vec();
        self.skip(waiting.len());
        waiting
    }
}

impl<S: Read> Source<S> {
    /// Reads more bytes; 0 at the end of the connection.
    pub(crate) fn fill(&mut self) -> io::Result<usize> {
        self.buffer.drain(..self.used.min(self.buffer.len()));
        self.used = 0;
        let old = self.buffer.len();
        self.buffer.resize(old + BUFFER_BYTES, 0);
        let read = loop {
            match self.inner.read(self.buffer.get_mut(old..).unwrap_or_default()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.buffer.truncate(old + read.as_ref().copied().unwrap_or_default());
        read
    }

    /// Waits until bytes are there.
    pub(crate) fn some(&mut self) -> Result<&[u8], Trouble> {
        if self.waiting().is_empty() && self.fill()? == 0 {
            return Err(Trouble::Gone);
        }
        Ok(self.waiting())
    }

    /// Takes bytes until `find` returns the length of a part, which must come in [`HEAD_TIME`] from its first byte.
    pub(crate) fn part(
        &mut self,
        longest: usize,
        find: impl Fn(&[u8]) -> Option<usize>,
    ) -> Result<Vec<u8>, Trouble> {
        self.some()?;
        let start = Instant::now();
        loop {
            let waiting = self.waiting();
            if let Some(end) = find(waiting) {
                if end > longest {
                    return Err(TOO_LONG);
                }
                let part = waiting.get(..end).unwrap_or_default().to_vec();
                self.skip(end);
                return Ok(part);
            }
            if waiting.len() >= longest {
                return Err(TOO_LONG);
            }
            if start.elapsed() > HEAD_TIME {
                return Err(Trouble::Slow);
            }
            if self.fill()? == 0 {
                return Err(Trouble::Gone);
            }
        }
    }

    /// Takes the head of an HTTP message, with the empty line at its end. Lines that end without CR are found too, so
    /// that the reader of the head can reject them.
    pub(crate) fn head(&mut self) -> Result<Vec<u8>, Trouble> {
        self.part(HEAD_BYTES_MAX, |bytes| {
            let mut line = 0;
            loop {
                let end = line + memchr::memchr(b'\n', bytes.get(line..)?)?;
                let content = bytes.get(line..end)?;
                line = end + 1;
                if line > 2 && (content.is_empty() || content == b"\r") {
                    return Some(line);
                }
            }
        })
    }

    /// Takes a number of bytes.
    pub(crate) fn exact(&mut self, bytes: usize) -> Result<Vec<u8>, Trouble> {
        self.part(bytes.max(1), |waiting| (waiting.len() >= bytes).then_some(bytes))
    }
}
