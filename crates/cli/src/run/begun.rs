//! [`Begun`]: the process of an agent that was started, in a sandbox or without.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::process::Stdio;

use anyhow::Context;
use rustix::process::{Pid, WaitStatus};

use super::begin;
use super::launch::Launch;
use super::meter::warn;
use super::program::Program;
use crate::exit::Exit;
use crate::sandbox::{Prepared, Started};

/// An agent that was started.
#[derive(Debug)]
pub(crate) struct Begun {
    /// The agent, or the launcher of its sandbox: a signal to it reaches the agent.
    pub(crate) agent: Pid,
    /// The agent's output, if it is read here.
    pub(crate) stdout: Option<File>,
    sandbox: Option<Started>,
}

impl Begun {
    /// Starts an agent without a sandbox.
    pub(crate) fn plain(program: &Program, launch: &Launch, is_stream: bool) -> anyhow::Result<Begun> {
        let mut command =
            begin::command(program, &launch.arguments).context("castellan cannot start itself")?;
        command.env_clear().envs(launch.environment.iter().map(|(name, value)| (name, value)));
        if let Some(directory) = &launch.directory {
            command.current_dir(directory);
        }
        if is_stream {
            command.stdout(Stdio::piped());
        }
        let mut child = command.spawn().context("castellan cannot start itself")?;
        let stdout = child.stdout.take().map(|pipe| File::from(OwnedFd::from(pipe)));
        Ok(Begun { agent: Pid::from_child(&child), stdout, sandbox: None })
    }

    /// Starts an agent in its sandbox.
    pub(crate) fn in_sandbox(sandbox: Prepared, is_stream: bool) -> anyhow::Result<Begun> {
        let (stdout, to) = match is_stream {
            true => {
                let (from, to) = std::io::pipe().context("no pipe for the agent's output")?;
                (Some(File::from(OwnedFd::from(from))), Some(to.into()))
            }
            false => (None, None),
        };
        let started = sandbox.start(to, None)?;
        Ok(Begun { agent: started.launcher()?, stdout, sandbox: Some(started) })
    }

    /// Returns the exit of the agent, whose process ended with this status.
    pub(crate) fn ended(self, status: WaitStatus) -> anyhow::Result<Exit> {
        let Some(sandbox) = self.sandbox else { return Ok(exit_of_agent(status)) };
        match sandbox.wait() {
            Ok(outcome) => {
                if outcome.left {
                    warn("processes of the sandbox are left");
                }
                Ok(Exit::Agent(outcome.code))
            }
            // Killed with the launcher, for a budget.
            Err(_) if status.terminating_signal().is_some() => Ok(exit_of_agent(status)),
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns the agent's exit code; 128 and the number of the signal that ended the agent.
fn exit_of_agent(status: WaitStatus) -> Exit {
    let signal = status.terminating_signal().map(|signal| 128 + signal);
    let code = status.exit_status().or(signal).and_then(|code| u8::try_from(code).ok());
    code.map_or(Exit::RunFailed, Exit::Agent)
}
