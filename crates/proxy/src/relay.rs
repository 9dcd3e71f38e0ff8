//! Passes bytes on between two sockets, in both directions, by one thread. On Linux, long transfers go through a pipe in
//! the kernel (`splice`), without a copy into this process.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::limits::{BUFFER_BYTES, TUNNEL_TIME};
#[cfg(target_os = "linux")]
use crate::pipe::Pipe;

/// Bytes that were passed on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moved {
    pub(crate) sent: u64,
    pub(crate) received: u64,
}

/// Passes bytes on until both directions have ended, one fails, or both are silent for too long.
pub(crate) fn run(client: &TcpStream, server: &TcpStream) -> Moved {
    let mut to_server = Direction::new(client, server);
    let mut to_client = Direction::new(server, client);
    let is_ready = client.set_nonblocking(true).and_then(|()| server.set_nonblocking(true)).is_ok();
    while is_ready && !(to_server.is_over && to_client.is_over) {
        let is_idle = !wait(&to_server, &to_client);
        if is_idle || to_server.work().is_err() || to_client.work().is_err() {
            break;
        }
    }
    Moved { sent: to_server.moved, received: to_client.moved }
}

/// Waits until a direction can go on; `false` after the limit of time, or if the system cannot wait.
fn wait(a: &Direction<'_>, b: &Direction<'_>) -> bool {
    let mut ready: Vec<PollFd<'_>> = [a, b].into_iter().filter_map(Direction::interest).collect();
    let time = Timespec { tv_sec: i64::try_from(TUNNEL_TIME.as_secs()).unwrap_or(i64::MAX), tv_nsec: 0 };
    loop {
        match poll(&mut ready, Some(&time)) {
            Ok(count) => return count > 0,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// One direction.
struct Direction<'s> {
    from: &'s TcpStream,
    to: &'s TcpStream,
    /// Bytes that were read and not written, and how many of them were.
    buffer: Vec<u8>,
    written: usize,
    #[cfg(target_os = "linux")]
    pipe: Option<Pipe>,
    has_end: bool,
    is_over: bool,
    moved: u64,
}

impl<'s> Direction<'s> {
    fn new(from: &'s TcpStream, to: &'s TcpStream) -> Direction<'s> {
        Direction {
            from,
            to,
            buffer: Vec::new(),
            written: 0,
            #[cfg(target_os = "linux")]
            pipe: None,
            has_end: false,
            is_over: false,
            moved: 0,
        }
    }

    fn holds(&self) -> bool {
        #[cfg(target_os = "linux")]
        if self.pipe.as_ref().is_some_and(Pipe::holds) {
            return true;
        }
        self.written < self.buffer.len()
    }

    fn interest(&self) -> Option<PollFd<'s>> {
        match (self.is_over, self.holds()) {
            (true, _) => None,
            (false, true) => Some(PollFd::new(self.to, PollFlags::OUT)),
            (false, false) => Some(PollFd::new(self.from, PollFlags::IN)),
        }
    }

    /// Moves bytes until one side would have to wait, at most some rounds, so that the other direction has its turn.
    fn work(&mut self) -> io::Result<()> {
        const ROUNDS: usize = 16;
        for _ in 0..ROUNDS {
            if self.is_over {
                return Ok(());
            }
            let moved = if self.holds() { self.write() } else { self.read() };
            match moved {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if self.has_end && !self.holds() {
                self.is_over = true;
                // The other side may be gone already.
                drop(self.to.shutdown(Shutdown::Write));
            }
        }
        Ok(())
    }

    fn read(&mut self) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        {
            if self.pipe.is_none() && self.moved > crate::limits::COPIED_BYTES {
                // Without descriptors or memory for a pipe, the bytes are copied on.
                self.pipe = Pipe::new();
                self.buffer = Vec::new();
                self.written = 0;
            }
            if let Some(pipe) = &mut self.pipe {
                self.has_end = pipe.fill(self.from)? == 0;
                return Ok(());
            }
        }
        self.buffer.resize(BUFFER_BYTES, 0);
        self.written = 0;
        let read = self.from.read(&mut self.buffer);
        self.buffer.truncate(read.as_ref().copied().unwrap_or_default());
        self.has_end = read? == 0;
        Ok(())
    }

    fn write(&mut self) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if let Some(pipe) = self.pipe.as_mut().filter(|pipe| pipe.holds()) {
            self.moved = self.moved.saturating_add(pipe.drain(self.to)?);
            return Ok(());
        }
        let written = self.to.write(self.buffer.get(self.written..).unwrap_or_default())?;
        self.written += written;
        self.moved = self.moved.saturating_add(u64::try_from(written).unwrap_or_default());
        Ok(())
    }
}
