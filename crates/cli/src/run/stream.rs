//! The agent's standard output: copied to that of `castellan run`, byte for byte, and read line by line. A slow reader
//! makes the agent wait, as without `castellan run`.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};

use super::lines::{Line, Lines};
use crate::limits::{STREAM_CHUNK_BYTES, STREAM_LINE_BYTES_MAX};

/// Returns the standard output without a buffer.
pub(crate) fn output() -> io::Result<File> {
    let own: OwnedFd = io::stdout().as_fd().try_clone_to_owned()?;
    Ok(File::from(own))
}

/// Makes a pipe as large as one chunk. A system that permits no larger one is only slower.
pub(crate) fn enlarge(pipe: impl AsFd) {
    let _smaller = rustix::pipe::fcntl_setpipe_size(pipe, STREAM_CHUNK_BYTES);
}

/// Copies until the end, and calls `each` with every line after it was written. If nobody reads any more, the copy ends,
/// and the agent's next write fails.
pub(crate) fn copy(mut from: impl Read, mut to: File, mut each: impl FnMut(Line<'_>)) {
    let mut lines = Lines::new(STREAM_LINE_BYTES_MAX);
    let mut chunk = vec![0; STREAM_CHUNK_BYTES];
    loop {
        match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => {
                let bytes = chunk.get(..count).unwrap_or_default();
                let written = write(&mut to, bytes);
                lines.feed(bytes, &mut each);
                if written.is_err() {
                    break;
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    lines.end(each);
}

/// Writes all bytes. Waits where another program has made the output non-blocking.
fn write(to: &mut File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match to.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                poll(&mut [PollFd::new(to, PollFlags::OUT)], None)?;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
