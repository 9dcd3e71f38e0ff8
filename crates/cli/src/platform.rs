//! The calls of the command that differ between the systems: processes below it, accounts. `linux` and `macos` have the same
//! functions, and only one of them is compiled. The module must not know a subcommand.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

use std::path::PathBuf;

#[cfg(target_os = "linux")]
pub(crate) use self::linux::{
    account, account_named, adopt, become_user, check_runs, executable, listed, own_executable, process,
    send_signal,
};
#[cfg(target_os = "macos")]
pub(crate) use self::macos::{
    account, account_named, adopt, become_user, check_runs, executable, listed, own_executable, process,
    send_signal,
};

/// A process as the kernel lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) pid: i32,
    /// The time of its start; with the id it identifies a process permanently.
    pub(crate) started: u64,
    pub(crate) parent: i32,
    /// The process has ended, and its parent has not noticed.
    pub(crate) is_ended: bool,
}

/// A user of this machine, with the home directory and the login shell that no environment can change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) name: String,
    pub(crate) uid: u32,
    pub(crate) home: PathBuf,
    pub(crate) shell: PathBuf,
}
