//! [`Between`]: a pipe of this process between the agent's pipe and the reader's. Bytes go through it by their pages, so
//! this process copies them only once, to read them.
//!
//! The bytes stay in this pipe until the reader has them, and then this process reads the same ones. Nobody else reads
//! from it. The pages are shared: a program that puts memory or a file into its output (`vmsplice`, `sendfile`) can change
//! them between the two readers.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_getpipe_size, fcntl_setpipe_size, pipe_with, splice, tee};

use super::wait_for_space;
use crate::limits::STREAM_CHUNK_BYTES;

#[derive(Debug)]
pub(crate) struct Between {
    read: File,
    write: OwnedFd,
}

/// Makes a pipe as large as one chunk, and no pipe smaller. A system that permits no larger one is only slower.
pub(crate) fn enlarge(pipe: impl AsFd) {
    if fcntl_getpipe_size(&pipe).is_ok_and(|size| size < STREAM_CHUNK_BYTES) {
        let _smaller = fcntl_setpipe_size(pipe, STREAM_CHUNK_BYTES);
    }
}

impl Between {
    /// Returns an empty pipe; `None` if the reader has no pipe.
    pub(crate) fn new(to: impl AsFd) -> Option<Between> {
        fcntl_getpipe_size(&to).ok()?;
        let (read, write) = pipe_with(PipeFlags::CLOEXEC).ok()?;
        enlarge(to);
        enlarge(&write);
        Some(Between { read: File::from(read), write })
    }

    /// Moves bytes of the agent into this empty pipe, at most one chunk. Waits for the first one. Zero: the agent's pipe
    /// has ended. An error moves nothing.
    pub(crate) fn take(&self, from: impl AsFd) -> io::Result<usize> {
        loop {
            match splice(&from, None, &self.write, None, STREAM_CHUNK_BYTES, SpliceFlags::empty()) {
                Err(Errno::INTR) => {}
                taken => return Ok(taken?),
            }
        }
    }

    /// Gives the reader the first bytes of this pipe, at most `count`, and waits until it accepts one. They stay in this
    /// pipe.
    pub(crate) fn give(&self, to: impl AsFd, count: usize) -> io::Result<usize> {
        loop {
            match tee(&self.read, &to, count, SpliceFlags::empty()) {
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => wait_for_space(&to)?,
                given => return Ok(given?),
            }
        }
    }

    /// Removes bytes from this pipe.
    pub(crate) fn read(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.read.read_exact(bytes)
    }
}
