//! [`run`]: a local program as reviewer. The program gets the prompt on standard input. It ends with the review, and so
//! does all that it started in its process group. No shell reads the arguments.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::{Limits, Program};
use crate::error::Fault;
use crate::limits::{BODY_BYTES_MAX, LOOK};
use crate::prompt::Request;

/// Returns the text for the standard input: the instructions, an empty line, and the evidence on one line.
pub(super) fn input(request: &Request) -> String {
    format!("{}\n{}\n", request.instructions, request.document)
}

/// Runs the program, and returns its output if it ends with exit code 0 in time.
pub(super) fn run(program: &Program, input: &str, limits: &Limits) -> Result<Vec<u8>, Fault> {
    let until = Instant::now() + limits.time;
    let mut child = start(program).map_err(|error| Fault::Start(error.to_string()))?;
    let talked = Talk::of(&mut child, input).and_then(|mut talk| talk.finish(&child, until));
    let status = end(&mut child).map_err(|error| Fault::Exit(error.to_string()))?;
    match talked.map_err(|error| Fault::Exit(error.to_string()))? {
        Talked::Ended(output) => ended(status, output),
        Talked::Slow => Err(Fault::Slow(limits.time)),
        Talked::TooLarge => Err(Fault::TooLarge),
    }
}

fn start(program: &Program) -> io::Result<Child> {
    let [path, arguments @ ..] = program.argv.as_slice() else {
        return Err(io::ErrorKind::NotFound.into());
    };
    let mut command = Command::new(path);
    command.args(arguments).env_clear().current_dir("/").process_group(0);
    command.envs(program.environment.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
}

/// Ends the process group. Nothing has waited for its leader yet, so the number cannot belong to another group.
fn end(child: &mut Child) -> io::Result<ExitStatus> {
    let _ = pid(child).map(|pid| kill_process_group(pid, Signal::KILL));
    child.wait()
}

fn pid(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

fn ended(status: ExitStatus, output: Vec<u8>) -> Result<Vec<u8>, Fault> {
    match (status.code(), status.signal()) {
        (Some(0), _) => Ok(output),
        (Some(code), _) => Err(Fault::Exit(format!("exit code {code}"))),
        (None, Some(signal)) => Err(Fault::Exit(format!("signal {signal}"))),
        (None, None) => Err(Fault::Exit("no exit code".to_owned())),
    }
}

/// The result of talking to a program.
enum Talked {
    Ended(Vec<u8>),
    Slow,
    TooLarge,
}

/// The pipes of a program. Neither end waits, so a process outside of the group that holds a pipe holds no thread.
struct Talk<'a> {
    input: &'a [u8],
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    output: Vec<u8>,
}

impl<'a> Talk<'a> {
    fn of(child: &mut Child, input: &'a str) -> io::Result<Talk<'a>> {
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        stdin.as_ref().map(without_waiting).transpose()?;
        stdout.as_ref().map(without_waiting).transpose()?;
        Ok(Talk { input: input.as_bytes(), stdin, stdout, output: Vec::new() })
    }

    /// Writes and reads until the program has ended.
    fn finish(&mut self, child: &Child, until: Instant) -> io::Result<Talked> {
        loop {
            // A look before the last reading: all output of a program that has ended is in the pipe.
            let has_ended = has_ended(child)?;
            self.write()?;
            self.read()?;
            if self.output.len() > BODY_BYTES_MAX {
                return Ok(Talked::TooLarge);
            }
            if has_ended {
                return Ok(Talked::Ended(std::mem::take(&mut self.output)));
            }
            if Instant::now() >= until {
                return Ok(Talked::Slow);
            }
            self.wait();
        }
    }

    /// Waits until a pipe is ready, and at most for the time between two looks.
    fn wait(&self) {
        let stdin = self.stdin.as_ref().map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::OUT));
        let stdout = self.stdout.as_ref().map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN));
        let mut pipes: Vec<PollFd<'_>> = stdin.into_iter().chain(stdout).collect();
        // Without a time `poll` would wait for ever. A failure is a wait that was too short.
        let time = Timespec::try_from(LOOK).unwrap_or_default();
        let _ = poll(&mut pipes, Some(&time));
    }

    fn write(&mut self) -> io::Result<()> {
        let Some(pipe) = &mut self.stdin else { return Ok(()) };
        match pipe.write(self.input) {
            Ok(bytes) => self.input = self.input.get(bytes..).unwrap_or_default(),
            Err(error) if is_for_later(&error) => {}
            // The program reads no more, and may answer all the same.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.input = &[],
            Err(error) => return Err(error),
        }
        if self.input.is_empty() {
            self.stdin = None;
        }
        Ok(())
    }

    fn read(&mut self) -> io::Result<()> {
        let mut buffer = [0; 8 * 1024];
        while self.output.len() <= BODY_BYTES_MAX {
            let Some(pipe) = &mut self.stdout else { return Ok(()) };
            match pipe.read(&mut buffer) {
                Ok(0) => self.stdout = None,
                Ok(bytes) => self.output.extend_from_slice(buffer.get(..bytes).unwrap_or_default()),
                Err(error) if is_for_later(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Reports whether the next look may succeed.
fn is_for_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn without_waiting(pipe: &impl AsFd) -> io::Result<()> {
    Ok(fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)?)
}

/// Reports whether the program has ended, and leaves its number in use.
fn has_ended(child: &Child) -> io::Result<bool> {
    let Some(pid) = pid(child) else { return Ok(true) };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(pid), options)?.is_some())
}
