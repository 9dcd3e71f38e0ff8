//! [`Timed`]: reading from a socket until a moment, not for a time since the last byte: a peer that drips bytes does not
//! hold a thread.

use std::io;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(crate) struct Timed<'a> {
    stream: &'a UnixStream,
    until: Instant,
}

impl Timed<'_> {
    /// Reads from `stream` for `time` at most, from now on.
    pub(crate) fn new(stream: &UnixStream, time: Duration) -> Timed<'_> {
        Timed { stream, until: Instant::now() + time }
    }
}

impl io::Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        (&mut &*self.stream).read(buffer)
    }
}
