//! The way of an agent's stream through this process: by pages on Linux. Elsewhere there is none, and the stream is copied.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

use std::io;
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

#[cfg(not(target_os = "linux"))]
pub(crate) use self::elsewhere::{Between, enlarge};
#[cfg(target_os = "linux")]
pub(crate) use self::linux::{Between, enlarge};

/// Waits until a pipe accepts bytes.
pub(crate) fn wait_for_space(to: impl AsFd) -> io::Result<()> {
    match poll(&mut [PollFd::new(&to, PollFlags::OUT)], None) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
