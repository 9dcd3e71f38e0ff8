//! Bodies of HTTP messages: read by one framing, written by another.

use std::io::{self, Read, Write};

use crate::head::Length;
use crate::limits::{BUFFER_BYTES, CHUNK_LINE_BYTES_MAX, TRAILER_BYTES_MAX};
use crate::stream::{Source, Trouble};

/// A body that is being read.
pub(crate) struct Body {
    state: State,
}

enum State {
    /// Bytes that are left.
    Fixed(u64),
    /// Before the line of a chunk.
    Size,
    /// Bytes that are left of a chunk.
    Chunk(u64),
    /// To the end of the connection.
    ToEnd,
    Done,
}

impl Body {
    pub(crate) fn new(length: Length) -> Body {
        let state = match length {
            Length::Fixed(bytes) => State::Fixed(bytes),
            Length::Chunked => State::Size,
            Length::ToEnd => State::ToEnd,
        };
        Body { state }
    }

    /// Returns the next bytes; `None` at the end of the body.
    pub(crate) fn next<S: Read>(&mut self, source: &mut Source<S>) -> Result<Option<Vec<u8>>, Trouble> {
        loop {
            match self.state {
                State::Fixed(0) | State::Done => return Ok(None),
                State::Fixed(left) => {
                    let part = some(source, left)?;
                    self.state = State::Fixed(left.saturating_sub(length(&part)));
                    return Ok(Some(part));
                }
                State::ToEnd => {
                    if source.waiting().is_empty() && source.fill()? == 0 {
                        self.state = State::Done;
                        return Ok(None);
                    }
                    return some(source, u64::MAX).map(Some);
                }
                State::Size => match size(&source.part(CHUNK_LINE_BYTES_MAX, line)?)? {
                    0 => {
                        trailers(source)?;
                        self.state = State::Done;
                    }
                    bytes => self.state = State::Chunk(bytes),
                },
                State::Chunk(0) => {
                    if source.exact(2)? != b"\r\n" {
                        return Err(Trouble::Wrong("a chunk of its body is longer than it says"));
                    }
                    self.state = State::Size;
                }
                State::Chunk(left) => {
                    let part = some(source, left)?;
                    self.state = State::Chunk(left.saturating_sub(length(&part)));
                    return Ok(Some(part));
                }
            }
        }
    }
}

fn length(part: &[u8]) -> u64 {
    u64::try_from(part.len()).unwrap_or(u64::MAX)
}

/// Takes some bytes, at most `most`.
fn some<S: Read>(source: &mut Source<S>, most: u64) -> Result<Vec<u8>, Trouble> {
    let waiting = source.some()?;
    let take = usize::try_from(most).unwrap_or(usize::MAX).min(BUFFER_BYTES).min(waiting.len());
    let part = waiting.get(..take).unwrap_or_default().to_vec();
    source.skip(take);
    Ok(part)
}

/// Returns the length of a line with its LF.
fn line(bytes: &[u8]) -> Option<usize> {
    memchr::memchr(b'\n', bytes).map(|at| at + 1)
}

/// Reads the line of a chunk. Its extensions are dropped.
fn size(line: &[u8]) -> Result<u64, Trouble> {
    const WRONG: Trouble = Trouble::Wrong("the size of a chunk of its body is wrong");
    let line = line.strip_suffix(b"\r\n").ok_or(WRONG)?;
    if line.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)) {
        return Err(WRONG);
    }
    let digits = line.split(|byte| *byte == b';').next().unwrap_or_default();
    let digits = std::str::from_utf8(digits).map_err(|_| WRONG)?;
    let is_plain = (1..=15).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_plain { u64::from_str_radix(digits, 16).map_err(|_| WRONG) } else { Err(WRONG) }
}

/// Reads the trailers to their empty line, and drops them: they must not change what was checked.
fn trailers<S: Read>(source: &mut Source<S>) -> Result<(), Trouble> {
    let mut total = 0;
    loop {
        let trailer = source.part(TRAILER_BYTES_MAX, line)?;
        total += trailer.len();
        if trailer == b"\r\n" {
            return Ok(());
        }
        if total > TRAILER_BYTES_MAX || !trailer.ends_with(b"\r\n") {
            return Err(Trouble::Wrong("the trailers of its body are wrong or too long"));
        }
    }
}

/// Writes a part of a body, as a chunk if the body is chunked.
pub(crate) fn write_part(to: &mut impl Write, part: &[u8], is_chunked: bool) -> io::Result<()> {
    if part.is_empty() {
        return Ok(());
    }
    if is_chunked {
        let mut chunk = format!("{:x}\r\n", part.len()).into_bytes();
        chunk.extend_from_slice(part);
        chunk.extend_from_slice(b"\r\n");
        to.write_all(&chunk)?;
    } else {
        to.write_all(part)?;
    }
    to.flush()
}

/// Writes the end of a body.
pub(crate) fn write_end(to: &mut impl Write, is_chunked: bool) -> io::Result<()> {
    if is_chunked {
        to.write_all(b"0\r\n\r\n")?;
    }
    to.flush()
}
