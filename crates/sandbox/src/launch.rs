//! Starts the launcher with a plan, and waits for it.

use std::ffi::OsString;
use std::fmt;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

use crate::capabilities::Capabilities;
use crate::error::PolicyError;
use crate::message::{Failed, Message, decode, encode};
use crate::placeholders::Placeholders;
use crate::plan::{Bubblewrap, Plan};
use crate::policy::Policy;
use crate::report::Report;

/// Standard streams of a command.
#[derive(Debug)]
pub struct Streams {
    /// Standard input.
    pub stdin: OwnedFd,
    /// Standard output.
    pub stdout: Stdio,
    /// Standard error.
    pub stderr: Stdio,
}

impl Streams {
    /// The streams of this process.
    ///
    /// # Errors
    /// Standard input is closed, or no descriptor is free.
    pub fn inherit() -> std::io::Result<Streams> {
        let stdin = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
        Ok(Streams { stdin, stdout: Stdio::inherit(), stderr: Stdio::inherit() })
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
    let survey = crate::survey(policy)?;
    let (plan, report) = crate::plan(policy, can, &survey, command)?;
    if require && !report.is_enforced() {
        return Err(LaunchError::NotEnforced(Missing(report)));
    }
    Ok((start(&plan, launcher, streams)?.wait()?, report))
}

/// A command that runs in a sandbox. Dropping it ends the sandbox.
#[derive(Debug)]
pub struct Running {
    child: Child,
    socket: Option<OwnedFd>,
    received: Vec<u8>,
    /// Listening sockets of the inside, in the order of the plan.
    pub listeners: Vec<OwnedFd>,
    scratch: Scratch,
    placeholders: Placeholders,
}

/// Where bubblewrap shows the launcher.
const INSIDE: &str = "/dev/castellan-sandbox";

/// A directory that is removed with this value.
#[derive(Debug)]
struct Scratch(Option<PathBuf>);

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // What stays is the user's own, in a temporary directory: nothing else can be done.
            let _ = std::fs::remove_dir_all(path);
        }
    }
}

impl Scratch {
    fn make(plan: &Plan) -> Result<Scratch, LaunchError> {
        let Some(path) = plan.scratch.as_ref().map(|path| path.path().to_owned()) else {
            return Ok(Scratch(None));
        };
        let mut private = std::fs::DirBuilder::new();
        private.mode(0o700);
        private
            .create(&path)
            .and_then(|()| private.create(path.join("home")))
            .map_err(|error| LaunchError::Scratch { path: path.clone(), reason: error.to_string() })?;
        Ok(Scratch(Some(path)))
    }
}

/// Starts a planned command. It returns when every part of the plan is applied.
///
/// # Errors
/// See [`LaunchError`]: nothing runs.
pub fn start(plan: &Plan, launcher: &Path, streams: Streams) -> Result<Running, LaunchError> {
    let protocol = |reason: String| LaunchError::Protocol(reason);
    let mut plan = plan.clone();
    let bubblewrap = plan.bubblewrap.take();
    // The launcher cannot make and remove directories outside if it runs inside.
    let outside = if bubblewrap.is_some() { std::mem::take(&mut plan.placeholders) } else { Vec::new() };
    let frame = encode(&plan).ok_or_else(|| protocol("the plan is larger than its limit".to_owned()))?;
    let scratch = Scratch::make(&plan)?;
    let placeholders = Placeholders::make(&outside).map_err(LaunchError::Failed)?;
    let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
        .map_err(|error| protocol(error.to_string()))?;
    let mut program = match &bubblewrap {
        Some(bubblewrap) => through(bubblewrap, launcher),
        None => Command::new(launcher),
    };
    let path = PathBuf::from(program.get_program());
    let child = program
        .env_clear()
        .stdin(Stdio::from(theirs))
        .stdout(streams.stdout)
        .stderr(streams.stderr)
        .spawn()
        .map_err(|error| LaunchError::Launcher { path, reason: error.to_string() })?;
    // It holds the other end of the socket too.
    drop(program);
    let mut running = Running {
        child,
        socket: Some(ours),
        received: Vec::new(),
        listeners: Vec::new(),
        scratch,
        placeholders,
    };
    running.send(&frame, &streams.stdin).map_err(|error| protocol(error.to_string()))?;
    drop(streams.stdin);
    loop {
        match running.next().map_err(protocol)? {
            Some(Message::Started) => break,
            Some(Message::Listeners) => {}
            Some(Message::Failed(failed)) => return Err(LaunchError::Failed(failed)),
            None if bubblewrap.is_some() => {
                let words = "bubblewrap did not start it, and says why on standard error";
                return Err(protocol(words.to_owned()));
            }
            Some(Message::Ended { .. }) | None => return Err(protocol("it ended at once".to_owned())),
        }
    }
    if running.listeners.len() != plan.listeners.len() {
        return Err(protocol("it sent another number of listening sockets".to_owned()));
    }
    Ok(running)
}

/// Bubblewrap with the launcher as the first process inside.
fn through(bubblewrap: &Bubblewrap, launcher: &Path) -> Command {
    let mut command = Command::new(bubblewrap.program.path());
    command.args(bubblewrap.options.iter().map(|option| option.path().as_os_str()));
    command.arg("--ro-bind").arg(launcher).arg(INSIDE);
    command.args(["--remount-ro", "/dev", "--", INSIDE]);
    command
}

impl Running {
    /// Returns the process number of the launcher. A signal to it goes to the command; one to bubblewrap ends everything.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the end of everything in the sandbox.
    ///
    /// # Errors
    /// The program cannot be executed or is not found, or the launcher failed.
    pub fn wait(mut self) -> Result<Outcome, LaunchError> {
        let mut outcome = None;
        let mut failed = None;
        while let Some(message) = self.next().map_err(LaunchError::Protocol)? {
            match message {
                Message::Failed(reason) => failed = Some(reason),
                Message::Ended { code, out_of_time, left } => {
                    let reason = if out_of_time { Reason::OutOfTime } else { Reason::Ended };
                    outcome = Some(Outcome { code, reason, left });
                }
                Message::Listeners | Message::Started => {}
            }
        }
        if let Some(failed) = failed {
            return Err(LaunchError::Failed(failed));
        }
        outcome.ok_or_else(|| LaunchError::Protocol("it ended before the command".to_owned()))
    }

    fn send(&self, frame: &[u8], stdin: &OwnedFd) -> rustix::io::Result<()> {
        let Some(socket) = &self.socket else { return Err(Errno::PIPE) };
        let descriptors = [stdin.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
        let mut rest = frame;
        while !rest.is_empty() {
            let sent = match sendmsg(socket, &[IoSlice::new(rest)], &mut ancillary, SendFlags::NOSIGNAL) {
                Err(Errno::INTR) => continue,
                other => other?,
            };
            ancillary.clear();
            rest = rest.get(sent..).unwrap_or_default();
        }
        Ok(())
    }

    /// Returns the next message; `None` after the launcher has ended.
    fn next(&mut self) -> Result<Option<Message>, String> {
        loop {
            if let Some((message, taken)) = decode::<Message>(&self.received)? {
                self.received.drain(..taken);
                return Ok(Some(message));
            }
            let Some(socket) = &self.socket else { return Ok(None) };
            let mut chunk = [0_u8; 4096];
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
            let mut ancillary = RecvAncillaryBuffer::new(&mut space);
            let flags = RecvFlags::CMSG_CLOEXEC;
            let got = match recvmsg(socket, &mut [IoSliceMut::new(&mut chunk)], &mut ancillary, flags) {
                Ok(got) => got.bytes,
                Err(Errno::INTR) => continue,
                // The launcher ended with a part of the plan unread.
                Err(Errno::CONNRESET) => 0,
                Err(error) => return Err(error.to_string()),
            };
            for message in ancillary.drain() {
                if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                    self.listeners.extend(descriptors);
                }
            }
            if got == 0 {
                return Ok(None);
            }
            self.received.extend_from_slice(chunk.get(..got).unwrap_or_default());
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The launcher ends everything when its socket closes.
        drop(self.socket.take());
        let _ = self.child.wait();
        drop(self.scratch.0.take().map(|path| Scratch(Some(path))));
        drop(std::mem::take(&mut self.placeholders));
    }
}
