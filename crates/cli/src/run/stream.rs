//! The agent's standard output: copied to that of `castellan run`, byte for byte, and read line by line. A slow reader
//! makes the agent wait, as without `castellan run`.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};

use super::between::{Between, wait_for_space};
use super::lines::{Line, Lines};
use crate::limits::{STREAM_CHUNK_BYTES, STREAM_LINE_BYTES_MAX};

/// Returns the standard output without a buffer.
pub(crate) fn output() -> io::Result<File> {
    let own: OwnedFd = io::stdout().as_fd().try_clone_to_owned()?;
    Ok(File::from(own))
}

/// Copies until the end, and calls `each` with every line after it was written. If nobody reads any more, the copy ends,
/// and the agent's next write fails. An error: the reader got bytes that this process could not read.
pub(crate) fn copy(from: impl Read + AsFd, to: File, each: impl FnMut(Line<'_>)) -> io::Result<()> {
    let between = Between::new(&to);
    let (lines, chunk) = (Lines::new(STREAM_LINE_BYTES_MAX), vec![0; STREAM_CHUNK_BYTES]);
    let mut copy = Copy { to, lines, chunk, each };
    let is_over = match between {
        Some(between) => copy.pages(&from, between)?,
        None => false,
    };
    if !is_over {
        copy.bytes(from);
    }
    copy.lines.end(copy.each);
    Ok(())
}

#[derive(Debug)]
struct Copy<F> {
    to: File,
    lines: Lines,
    chunk: Vec<u8>,
    each: F,
}

impl<F: FnMut(Line<'_>)> Copy<F> {
    /// Copies by pages. Returns false if the system cannot do that, with nothing of the agent's pipe lost.
    fn pages(&mut self, from: impl AsFd, mut between: Between) -> io::Result<bool> {
        loop {
            let mut inside = match between.take(&from) {
                Ok(0) => return Ok(true),
                Ok(taken) => taken,
                Err(_) => return Ok(false),
            };
            while inside > 0 {
                let Ok(given @ 1..) = between.give(&self.to, inside) else {
                    between.read(self.chunk.get_mut(..inside).unwrap_or_default())?;
                    return Ok(self.write(inside).is_err());
                };
                between.read(self.chunk.get_mut(..given).unwrap_or_default())?;
                self.read(given);
                inside -= given;
            }
        }
    }

    fn bytes(&mut self, mut from: impl Read) {
        loop {
            match from.read(&mut self.chunk) {
                Ok(0) => break,
                Ok(count) => {
                    if self.write(count).is_err() {
                        break;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
    }

    /// Writes the first bytes of the chunk, then reads them.
    fn write(&mut self, count: usize) -> io::Result<()> {
        let written = write(&mut self.to, self.chunk.get(..count).unwrap_or_default());
        self.read(count);
        written
    }

    fn read(&mut self, count: usize) {
        self.lines.feed(self.chunk.get(..count).unwrap_or_default(), &mut self.each);
    }
}

/// Writes all bytes. Waits where another program has made the output non-blocking.
fn write(to: &mut File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match to.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::WouldBlock => wait_for_space(&*to)?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
