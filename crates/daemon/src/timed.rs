//! Waiting with a limit. [`Timed`] reads from a socket until a deadline and not for a time since the last byte, so that
//! a peer that sends single bytes does not hold a thread. [`wait_or_kill`] waits for a program.

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
    /// Reads from `stream` for at most `time` from now on.
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

/// Interval between two checks of a program.
const LOOK: Duration = Duration::from_millis(20);

/// Waits until a program has ended. Kills it after `time` and returns `None`.
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
