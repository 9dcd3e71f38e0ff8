//! The beginning of the agent's process: a second `castellan`, which becomes the agent. The kernel kills it when
//! `castellan run` is killed, so no agent goes on without it.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use castellan_daemon::{NotBecome, become_child_of};
use rustix::process::getpid;

use super::program::Program;
use crate::exit::Exit;
use crate::platform::own_executable;

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
    match become_child_of(&parent, Command::new(&path).arg0(name).args(arguments)) {
        NotBecome::Untied(error) => {
            eprintln!("error: the agent cannot be tied to `castellan run`: {error}");
            Exit::RunFailed.into()
        }
        NotBecome::NotExecuted(error) => {
            eprintln!("error: `{}` cannot be executed: {error}", path.display());
            let is_missing = error.kind() == io::ErrorKind::NotFound;
            if is_missing { Exit::NotFound.into() } else { Exit::NotExecutable.into() }
        }
    }
}
