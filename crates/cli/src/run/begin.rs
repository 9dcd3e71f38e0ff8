//! The beginning of the agent's process: a second `castellan`, which becomes the agent. It asks the kernel to kill it when
//! `castellan run` is killed, so no agent goes on without it. `pre_exec` would need unsafe code.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use rustix::process::{Pid, getpid, getppid};

use super::program::Program;
use crate::exit::Exit;
use crate::platform::{die_with_parent, own_executable};

/// The first argument of the second `castellan`. No word for people.
pub(crate) const BEGIN: &str = "__begin-agent";

/// Returns the command that starts the agent.
pub(crate) fn command(program: &Program, arguments: &[OsString]) -> io::Result<Command> {
    let mut command = Command::new(own_executable()?);
    command.arg(BEGIN).arg(getpid().as_raw_pid().to_string()).arg(&program.path).arg(&program.name);
    command.args(arguments);
    Ok(command)
}

/// Becomes the agent; the arguments are those of [`command`] after [`BEGIN`]. Returns only if that fails.
pub(crate) fn begin(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let (Some(parent), Some(path), Some(name)) = (arguments.next(), arguments.next(), arguments.next())
    else {
        return Exit::Usage.into();
    };
    if let Err(error) = tie(&parent) {
        eprintln!("error: the agent cannot be tied to `castellan run`: {error}");
        return Exit::RunFailed.into();
    }
    let error = Command::new(&path).arg0(name).args(arguments).exec();
    eprintln!("error: `{}` cannot be executed: {error}", path.display());
    let is_missing = error.kind() == io::ErrorKind::NotFound;
    if is_missing { Exit::NotFound.into() } else { Exit::NotExecutable.into() }
}

fn tie(parent: &OsStr) -> io::Result<()> {
    die_with_parent()?;
    // The parent may have ended before.
    let is_there = getppid().map(Pid::as_raw_pid).map(|pid| pid.to_string());
    if is_there.as_deref() == parent.to_str() { Ok(()) } else { Err(io::Error::other("it has ended")) }
}
