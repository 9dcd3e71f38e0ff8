//! A pipe in the kernel, between two sockets (`splice(2)`). Linux only.

use std::io;
use std::net::TcpStream;
use std::os::fd::OwnedFd;

use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};

use crate::limits::PIPE_BYTES;

/// A pipe and the number of bytes in it.
pub(crate) struct Pipe {
    out: OwnedFd,
    into: OwnedFd,
    held: usize,
}

impl Pipe {
    /// Makes a pipe; `None` if the system gives none.
    pub(crate) fn new() -> Option<Pipe> {
        let (out, into) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).ok()?;
        // A user with many pipes gets a smaller one, which is slower only.
        let _ = fcntl_setpipe_size(&into, PIPE_BYTES);
        Some(Pipe { out, into, held: 0 })
    }

    pub(crate) fn holds(&self) -> bool {
        self.held > 0
    }

    /// Takes bytes from a socket into the empty pipe; 0 at its end.
    pub(crate) fn fill(&mut self, from: &TcpStream) -> io::Result<usize> {
        let flags = SpliceFlags::MOVE | SpliceFlags::NONBLOCK;
        self.held = splice(from, None, &self.into, None, PIPE_BYTES, flags)?;
        Ok(self.held)
    }

    /// Gives bytes from the pipe to a socket.
    pub(crate) fn drain(&mut self, to: &TcpStream) -> io::Result<u64> {
        let flags = SpliceFlags::MOVE | SpliceFlags::NONBLOCK;
        let moved = splice(&self.out, None, to, None, self.held, flags)?;
        self.held = self.held.saturating_sub(moved);
        Ok(u64::try_from(moved).unwrap_or_default())
    }
}
