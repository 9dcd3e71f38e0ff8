//! Helper processes that read programs. A parser of others may crash, hang or use much memory, so a long program goes to
//! a process of the same binary with limits. The daemon kills it at the end of its time. Helpers start when one is needed
//! and stay for later programs. Must not know languages.
//!
//! A message is its length (4 bytes, little-endian) and its bytes. The helper answers each request in turn, with no
//! bytes for a program that it could not read.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::limits::{
    HELPER_CPU_SECONDS_MAX, HELPER_MEMORY_BYTES_MAX, HELPER_MESSAGE_BYTES_MAX, HELPER_REQUESTS_MAX,
    HELPER_TIME, HELPER_TIME_OF_REPLAY, HELPERS_MAX,
};
use crate::platform;
use crate::timed::Timed;

#[cfg(test)]
mod tests;

/// The hidden command of the binary that runs [`serve_programs`].
pub const COMMAND: &str = "read-programs";

/// The helpers of this process.
static READERS: Readers = Readers::new();

/// Lets this process start helpers. Its binary must run [`serve_programs`] for [`COMMAND`]. Without this, each program for
/// a helper is given up.
pub fn set_reader() {
    // Linux's path leads to the running binary, even after an update has replaced its file.
    if let Ok(program) = platform::own_executable_file() {
        let _ = READERS.command.set(vec![program.into(), COMMAND.into()]);
    }
}

/// Gives each program more time, because no agent waits: a replay on a busy machine then reads what the daemon has read.
/// It gives up the recorded programs that the daemon gave up.
pub fn set_patient_reader() {
    let _ = READERS.time.set(HELPER_TIME_OF_REPLAY);
}

/// Reads a program by a helper. `None`: the helper could not start, crashed, took too long or answered nonsense.
pub(crate) fn read(request: &[u8]) -> Option<Vec<u8>> {
    READERS.read(request, *READERS.time.get().unwrap_or(&HELPER_TIME))
}

#[derive(Debug)]
struct Readers {
    /// The program and its arguments.
    command: OnceLock<Vec<OsString>>,
    /// The time for a program, if it is not [`HELPER_TIME`].
    time: OnceLock<Duration>,
    pool: Mutex<Pool>,
    /// A helper has become idle, or has ended.
    freed: Condvar,
}

#[derive(Debug)]
struct Pool {
    idle: Vec<Helper>,
    busy: usize,
}

/// A running helper. Dropping it kills it.
#[derive(Debug)]
struct Helper {
    child: Child,
    socket: UnixStream,
    requests: u32,
}

impl Readers {
    const fn new() -> Readers {
        let pool = Mutex::new(Pool { idle: Vec::new(), busy: 0 });
        Readers { command: OnceLock::new(), time: OnceLock::new(), pool, freed: Condvar::new() }
    }

    fn read(&self, request: &[u8], time: Duration) -> Option<Vec<u8>> {
        let until = Instant::now() + time;
        let idle = self.take(until)?;
        let mut helper = idle.or_else(|| Helper::start(self.command.get()?).ok());
        let answer = helper.as_mut().and_then(|helper| helper.ask(request, until).ok());
        let answer = answer.filter(|answer| !answer.is_empty());
        // A helper that failed may answer later, to the wrong request.
        let again = helper.filter(|helper| answer.is_some() && helper.requests < HELPER_REQUESTS_MAX);
        let mut pool = self.lock();
        pool.busy -= 1;
        pool.idle.extend(again);
        self.freed.notify_one();
        answer
    }

    /// Takes an idle helper, or the right to start one, which is `None`. Returns nothing if none is free in time.
    fn take(&self, until: Instant) -> Option<Option<Helper>> {
        let mut pool = self.lock();
        while pool.busy >= HELPERS_MAX {
            let left = until.checked_duration_since(Instant::now())?;
            pool = self.freed.wait_timeout(pool, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        pool.busy += 1;
        Some(pool.idle.pop())
    }

    fn lock(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Helper {
    fn start(command: &[OsString]) -> io::Result<Helper> {
        let (program, arguments) = command.split_first().ok_or(io::ErrorKind::NotFound)?;
        let (socket, of_child) = UnixStream::pair()?;
        let output = of_child.try_clone()?;
        let child = Command::new(program)
            .args(arguments)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(of_child)))
            .stdout(Stdio::from(OwnedFd::from(output)))
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Helper { child, socket, requests: 0 })
    }

    fn ask(&mut self, request: &[u8], until: Instant) -> io::Result<Vec<u8>> {
        self.requests += 1;
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        self.socket.set_write_timeout(Some(left))?;
        write(&mut &self.socket, request)?;
        let left = until.saturating_duration_since(Instant::now());
        read_message(&mut Timed::new(&self.socket, left))
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn write(to: &mut impl Write, message: &[u8]) -> io::Result<()> {
    let bytes = u32::try_from(message.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    to.write_all(&bytes.to_le_bytes())?;
    to.write_all(message)
}

fn read_message(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = [0; 4];
    from.read_exact(&mut bytes)?;
    let bytes = u32::from_le_bytes(bytes) as usize;
    if bytes > HELPER_MESSAGE_BYTES_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut message = vec![0; bytes];
    from.read_exact(&mut message)?;
    Ok(message)
}

/// Runs a helper: limits this process, then answers requests from standard input until it ends.
pub fn serve_programs() -> io::Result<()> {
    limit_self()?;
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    loop {
        let request = match read_message(&mut input) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            request => request?,
        };
        let answer = castellan_languages::answer(&request).unwrap_or_default();
        write(&mut output, &answer)?;
        output.flush()?;
    }
}

/// Sets the limits of the kernel: memory, CPU time, no bytes in files, no core dump.
fn limit_self() -> io::Result<()> {
    let limit =
        |resource, most: u64| setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    if platform::HELPER_MEMORY_IS_LIMITED {
        limit(Resource::As, HELPER_MEMORY_BYTES_MAX)?;
    }
    limit(Resource::Cpu, HELPER_CPU_SECONDS_MAX)?;
    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, 0)?;
    Ok(())
}
