//! Starts the launcher with a plan, and waits for it: on Linux. Elsewhere a start is an error.

use std::ffi::OsString;
use std::fmt;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::io::Errno;

use crate::capabilities::Capabilities;
use crate::error::PolicyError;
use crate::message::Failed;
use crate::policy::Policy;
use crate::report::Report;

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{Running, start};
#[cfg(target_os = "linux")]
pub use linux::{Running, start};

/// Standard streams of a command.
#[derive(Debug)]
pub struct Streams {
    /// Standard input.
    pub stdin: OwnedFd,
    /// Standard output.
    pub stdout: Stdio,
    /// Standard error.
    pub stderr: Stdio,
    /// Descriptor 3 of the command, if any: a pipe on which it reports something to the caller. The launcher has it open as
    /// long as it runs.
    pub report: Option<OwnedFd>,
}

impl Streams {
    /// The streams of this process.
    ///
    /// # Errors
    /// Standard input is closed, or no descriptor is free.
    pub fn inherit() -> std::io::Result<Streams> {
        let stdin = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
        Ok(Streams { stdin, stdout: Stdio::inherit(), stderr: Stdio::inherit(), report: None })
    }
}

/// The end of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// Exit code of the command, 128 and the number of the signal that ended it, or 124 at the end of its time.
    pub code: u8,
    /// The reason of the end.
    pub reason: Reason,
    /// Processes that could not be ended are left. Only without a process namespace.
    pub left: bool,
    /// Packets that had no way to their destination. Only with a network of its own.
    pub unreachable: u64,
}

/// The reason of an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The command ended.
    Ended,
    /// The time limit ended it.
    OutOfTime,
}

/// The reason why a command did not run.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The policy has no plan.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The machine does not enforce the whole policy, and the caller requires it.
    #[error("this machine does not enforce the sandbox policy: {0}")]
    NotEnforced(Missing),
    /// The launcher's program could not be started.
    #[error("the sandbox launcher '{}' cannot be started: {reason}; reinstall castellan", .path.display())]
    Launcher {
        /// The program.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// A part of the plan failed. The launcher ran nothing.
    #[error("{0}")]
    Failed(Failed),
    /// The launcher ended without a word, or said something else than its protocol.
    #[error("the sandbox launcher failed: {0}; nothing of the command runs any more")]
    Protocol(String),
    /// The private directory outside could not be made.
    #[error("the private directory '{}' cannot be made: {reason}", .path.display())]
    Scratch {
        /// The directory.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
}

/// The items of a report that are not enforced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing(pub Report);

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self
            .0
            .missing()
            .map(|item| format!("{:?} {} ({})", item.aspect, item.requested, item.how))
            .collect();
        f.write_str(&texts.join("; "))
    }
}

impl LaunchError {
    /// Returns the exit code for it: 125, or 126 and 127 of a program that cannot be executed or is not found.
    #[must_use]
    pub fn code(&self) -> u8 {
        match self {
            LaunchError::Failed(failed) => failed.code,
            LaunchError::Policy(_)
            | LaunchError::NotEnforced(_)
            | LaunchError::Launcher { .. }
            | LaunchError::Protocol(_)
            | LaunchError::Scratch { .. } => 125,
        }
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the sandbox did not start the command: {}", self.step)?;
        if !self.what.0.is_empty() {
            write!(f, " '{}'", self.what)?;
        }
        if self.errno != 0 {
            write!(f, ": {}", std::io::Error::from_raw_os_error(self.errno))?;
        }
        let advice = match (self.code, Errno::from_raw_os_error(self.errno)) {
            (127, _) => "check the name, and PATH in the sandbox's environment",
            (126, _) => "check its mode and its interpreter, and that the policy shows it",
            (_, Errno::LOOP) => "a symlink took its place since castellan looked: find out who made it",
            (_, Errno::NOENT) => "it vanished since castellan looked, or the policy hides it",
            (_, Errno::NOSPC | Errno::NOMEM | Errno::MFILE | Errno::NFILE | Errno::AGAIN) => {
                "free memory, space or processes, and try again"
            }
            (_, _) => "`castellan sandbox probe` shows what this machine permits",
        };
        write!(f, "; {advice}")
    }
}

/// Surveys, plans and runs a command, and waits for its end. `require` refuses a machine that does not enforce all.
///
/// # Errors
/// See [`LaunchError`]: the command did not run, or the launcher failed.
pub fn run(
    policy: &Policy,
    can: &Capabilities,
    command: &[OsString],
    launcher: &Path,
    streams: Streams,
    require: bool,
) -> Result<(Outcome, Report), LaunchError> {
    let survey = crate::survey(policy, can)?;
    let (plan, report) = crate::plan(policy, can, &survey, command)?;
    if require && !report.is_enforced() {
        return Err(LaunchError::NotEnforced(Missing(report)));
    }
    Ok((start(&plan, launcher, streams)?.wait()?, report))
}
