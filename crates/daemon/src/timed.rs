//! What others take their time for: [`Timed`] reads from a socket until a moment, not for a time since the last byte, so that a peer
//! that drips bytes does not hold a thread; [`wait_or_kill`] waits for a program.

use std::io;
use std::os::unix::net::UnixStream;
use std::process::{Child, ExitStatus};
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

/// How often a program is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Waits until a program has ended, and ends it after `time`: then `None`.
pub(crate) fn wait_or_kill(child: &mut Child, time: Duration) -> io::Result<Option<ExitStatus>> {
    let until = Instant::now() + time;
    while Instant::now() < until {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        std::thread::sleep(LOOK);
    }
    let _ = child.kill();
    child.wait()?;
    Ok(None)
}
