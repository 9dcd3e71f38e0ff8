//! Systems that have no launcher. **Unverified**: no test runs on one.

use std::convert::Infallible;
use std::os::fd::OwnedFd;
use std::path::Path;

use crate::plan::Plan;

use super::{LaunchError, Outcome, Streams};

/// A command that runs in a sandbox: here is none.
#[derive(Debug)]
pub struct Running {
    /// Listening sockets of the inside.
    pub listeners: Vec<OwnedFd>,
    none: Infallible,
}

/// Starts nothing.
///
/// # Errors
/// Always: the launcher is a program for Linux.
pub fn start(_plan: &Plan, _launcher: &Path, _streams: Streams) -> Result<Running, LaunchError> {
    let reason = "it is a program for Linux; a profile for Seatbelt is made, but not used";
    Err(LaunchError::Protocol(reason.to_owned()))
}

impl Running {
    /// Returns the process number of the launcher.
    #[must_use]
    pub fn id(&self) -> u32 {
        match self.none {}
    }

    /// Waits for the end of everything in the sandbox.
    ///
    /// # Errors
    /// The launcher failed.
    pub fn wait(self) -> Result<Outcome, LaunchError> {
        match self.none {}
    }
}
