//! macOS: the kernel's list of processes, and the C library. Compiled and linked, never run by castellan's authors.

use std::io;
use std::path::PathBuf;

use castellan_darwin::{self as darwin, Entry, State};
use rustix::process::{Pid, Signal, kill_process};

use super::{Account, Listed};

/// macOS has no process that adopts all its descendants, and no signal at the end of a parent. An agent's processes would
/// outlive `castellan run`, unseen.
fn unsupported() -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        "macOS cannot keep an agent's processes below `castellan run`: start the agent itself, its hooks ask castellan",
    )
}

/// Reports whether this system can keep an agent's processes below `castellan run`.
pub(crate) fn check_runs() -> io::Result<()> {
    Err(unsupported())
}

/// Makes this process the parent of every descendant whose own parent ends.
pub(crate) fn adopt() -> io::Result<()> {
    Err(unsupported())
}

/// Returns the path of the program of this process; an error if another file has replaced it.
pub(crate) fn own_executable() -> io::Result<PathBuf> {
    darwin::executable_of(std::process::id())
}

/// Returns the path of the program of a process.
pub(crate) fn executable(pid: i32) -> io::Result<PathBuf> {
    darwin::executable_of(u32::try_from(pid).map_err(|_| io::ErrorKind::InvalidInput)?)
}

/// Returns every process; none if the list cannot be read whole.
pub(crate) fn listed() -> Vec<Listed> {
    darwin::processes().into_iter().flatten().filter_map(of_entry).collect()
}

/// Returns a process; `None` if it is gone.
pub(crate) fn process(pid: i32) -> Option<Listed> {
    of_entry(darwin::process(u32::try_from(pid).ok()?)?)
}

fn of_entry(entry: Entry) -> Option<Listed> {
    Some(Listed {
        pid: i32::try_from(entry.pid).ok()?,
        started: entry.started_us,
        parent: i32::try_from(entry.parent).ok()?,
        is_ended: entry.state == State::Ended,
    })
}

/// Sends a signal to the process with this id, if `is_it` reports that it is the right one. Between the check and the
/// signal, the process may end and another one may get its id.
pub(crate) fn send_signal(pid: i32, signal: Signal, is_it: impl Fn() -> bool) {
    if let Some(pid) = Pid::from_raw(pid).filter(|_| is_it()) {
        let _ended_meanwhile = kill_process(pid, signal);
    }
}

/// Returns the account of a user, also of a directory service.
pub(crate) fn account(uid: u32) -> Option<Account> {
    darwin::account(uid).and_then(of_account)
}

/// castellan is installed for the system on Linux only.
pub(crate) fn become_user(_user: u32, _group: u32) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns the account with a name.
pub(crate) fn account_named(name: &str) -> Option<Account> {
    darwin::account_named(name).and_then(of_account)
}

/// An empty shell is `/bin/sh` (passwd(5)).
fn of_account(found: darwin::Account) -> Option<Account> {
    let darwin::Account { name, user, home, shell } = found;
    let shell = if shell.as_os_str().is_empty() { PathBuf::from("/bin/sh") } else { shell };
    home.is_absolute().then_some(Account { name, uid: user, home, shell })
}
