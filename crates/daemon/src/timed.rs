//! Waiting with a limit. [`Timed`] reads from a socket and writes to it until one deadline. So a peer that sends or takes
//! single bytes does not hold a thread. [`wait_or_kill`] waits for a program.

use std::io;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(crate) struct Timed<'a> {
    stream: &'a UnixStream,
    until: Instant,
}

impl Timed<'_> {
    /// Reads from `stream` and writes to it for at most `time` from now on.
    pub(crate) fn new(stream: &UnixStream, time: Duration) -> Timed<'_> {
        Timed { stream, until: Instant::now() + time }
    }

    fn left(&self) -> io::Result<Duration> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}

impl io::Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.left()?))?;
        (&mut &*self.stream).read(buffer)
    }
}

impl io::Write for Timed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        (&mut &*self.stream).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Interval between two checks of a program.
const LOOK: Duration = Duration::from_millis(20);

/// Runs a program and returns at most `bytes` of its output, or `None` after `time` or an error. The program is then killed.
pub(crate) fn output_or_kill(mut command: Command, bytes: u64, time: Duration) -> Option<Vec<u8>> {
    let mut child = command.stdout(Stdio::piped()).spawn().ok()?;
    let stdout = child.stdout.take()?;
    let reading = std::thread::Builder::new().name("output".into()).spawn(move || {
        let mut output = Vec::new();
        let read = io::Read::read_to_end(&mut io::Read::take(stdout, bytes), &mut output);
        read.ok().map(|_| output)
    });
    let ended = wait_or_kill(&mut child, time);
    // A killed program has closed its output, unless one of its children has it.
    ended.ok().flatten()?;
    reading.ok()?.join().ok().flatten()
}

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
