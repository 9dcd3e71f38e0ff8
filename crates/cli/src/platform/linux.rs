//! Linux: `/proc`, `/etc/passwd`, and the calls that only Linux has.

mod passwd;
mod stat;

use std::io;
use std::path::{Path, PathBuf};

use castellan_files::{of_system, read_text};
use rustix::process::{
    Gid, Pid, PidfdFlags, Signal, Uid, getpid, pidfd_open, pidfd_send_signal, set_child_subreaper,
};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};

use super::{Account, Listed};
use crate::limits::{PASSWD_BYTES_MAX, STAT_BYTES_MAX};

/// Reports whether this system can keep an agent's processes below `castellan run`.
pub(crate) fn check_runs() -> io::Result<()> {
    Ok(())
}

/// Makes this process the parent of every descendant whose own parent ends.
pub(crate) fn adopt() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Returns a path to the program of this process, even after another file has replaced it.
pub(crate) fn own_executable() -> io::Result<PathBuf> {
    Ok(PathBuf::from("/proc/self/exe"))
}

/// Returns the path of the program of a process.
pub(crate) fn executable(pid: i32) -> io::Result<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/exe"))
}

/// Returns every readable process.
pub(crate) fn listed() -> Vec<Listed> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| process(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// Returns a process; `None` if it is gone.
pub(crate) fn process(pid: i32) -> Option<Listed> {
    stat::parse(pid, &read_text(Path::new(&format!("/proc/{pid}/stat")), STAT_BYTES_MAX).ok()?)
}

/// Sends a signal to the process with this id, if `is_it` reports that it is the right one. Nothing happens if the process
/// has ended meanwhile and another one has its id.
pub(crate) fn send_signal(pid: i32, signal: Signal, is_it: impl Fn() -> bool) {
    let opened = Pid::from_raw(pid).map(|pid| pidfd_open(pid, PidfdFlags::empty()));
    if let Some(Ok(opened)) = opened
        && is_it()
    {
        let _ended_meanwhile = pidfd_send_signal(opened, signal);
    }
}

/// Returns the account of a user.
pub(crate) fn account(uid: u32) -> Option<Account> {
    passwd::find(&of_system("/etc/passwd", PASSWD_BYTES_MAX)?, |account| account.uid == uid)
}

/// Becomes another user for good. Only while the process has one thread: the kernel changes the calling thread, and those
/// that it starts later.
pub(crate) fn become_user(user: u32, group: u32) -> io::Result<()> {
    let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
    set_thread_groups(&[])?;
    set_thread_res_gid(group, group, group)?;
    Ok(set_thread_res_uid(user, user, user)?)
}

/// Returns the account with a name.
pub(crate) fn account_named(name: &str) -> Option<Account> {
    passwd::find(&of_system("/etc/passwd", PASSWD_BYTES_MAX)?, |account| account.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_a_parent_and_a_start() {
        let own = getpid().as_raw_pid();
        let found = process(own).unwrap();
        assert!(found.parent > 0 && found.started > 0 && !found.is_ended);
        assert!(listed().contains(&found));
        assert_eq!(process(i32::MAX), None);
    }
}
