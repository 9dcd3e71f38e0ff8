//! A second castellan that becomes another program: an agent, or Falco. The kernel kills that program when the process
//! that started it ends. A hook before `exec` in a child of [`std::process::Command`] would need unsafe code. This module
//! must not know the program.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::platform::end_with_parent;

/// The reason why this process did not become another program.
#[derive(Debug, thiserror::Error)]
pub enum NotBecome {
    /// It would go on without the process that started it.
    #[error("it cannot be tied to the process that started it: {0}")]
    Untied(io::Error),
    /// The program cannot be executed.
    #[error("it cannot be executed: {0}")]
    NotExecuted(io::Error),
}

/// Becomes the program of `command`. `parent`: the decimal id of the process that started this one. Returns only with an
/// error, before anything of the program has run.
pub fn become_child_of(parent: &OsStr, command: &mut Command) -> NotBecome {
    if let Err(error) = end_with_parent() {
        return NotBecome::Untied(error);
    }
    // The parent may have ended before; then the kernel kills nothing.
    if Some(std::os::unix::process::parent_id().to_string().as_str()) != parent.to_str() {
        return NotBecome::Untied(io::Error::other("that process has ended"));
    }
    NotBecome::NotExecuted(command.exec())
}
