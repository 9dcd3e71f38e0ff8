//! The launcher's process, and the messages with it.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

use crate::message::{Message, decode, encode};
use crate::placeholders::Placeholders;
use crate::plan::{Bubblewrap, Plan};

use super::{LaunchError, Outcome, Reason, Streams};

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
    let descriptors: Vec<BorrowedFd<'_>> =
        std::iter::once(streams.stdin.as_fd()).chain(streams.report.as_ref().map(AsFd::as_fd)).collect();
    running.send(&frame, &descriptors).map_err(|error| protocol(error.to_string()))?;
    drop((streams.stdin, streams.report));
    loop {
        match running.next().map_err(protocol)? {
            Some(Message::Started) => break,
            Some(Message::Listeners) => {}
            Some(Message::Failed(failed)) => return Err(LaunchError::Failed(failed)),
            None if bubblewrap.is_some() => {
                let words = "bubblewrap did not start it, and says why on standard error";
                return Err(protocol(words.to_owned()));
            }
            Some(Message::Ended { .. } | Message::Unreachable(_)) | None => {
                return Err(protocol("it ended at once".to_owned()));
            }
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
        let (mut outcome, mut failed, mut unreachable) = (None, None, 0);
        while let Some(message) = self.next().map_err(LaunchError::Protocol)? {
            match message {
                Message::Failed(reason) => failed = Some(reason),
                Message::Unreachable(packets) => unreachable = packets,
                Message::Ended { code, out_of_time, left } => {
                    let reason = if out_of_time { Reason::OutOfTime } else { Reason::Ended };
                    outcome = Some(Outcome { code, reason, left, unreachable });
                }
                Message::Listeners | Message::Started => {}
            }
        }
        if let Some(failed) = failed {
            return Err(LaunchError::Failed(failed));
        }
        outcome.ok_or_else(|| LaunchError::Protocol("it ended before the command".to_owned()))
    }

    fn send(&self, frame: &[u8], descriptors: &[BorrowedFd<'_>]) -> rustix::io::Result<()> {
        let Some(socket) = &self.socket else { return Err(Errno::PIPE) };
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
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
