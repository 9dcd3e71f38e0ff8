//! Linux: `/proc` and the calls that only Linux has.

mod mounts;
mod stat;
mod users;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use castellan_files::{Links, at_most, of_system};
use rustix::fs::getxattr;
use rustix::io::Errno;
use rustix::net::sockopt::{socket_acceptconn, socket_domain, socket_peercred, socket_type};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, socket_with};
use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal, set_dumpable_behavior,
};

use self::mounts::sees_own_mounts;
pub(crate) use self::mounts::{network_mounts, remote_system_of};
use super::{Account, Peer, Process, State};
use crate::limits::{ENVIRONMENT_BYTES_MAX, USER_DATABASE_BYTES_MAX};
use crate::sight;

/// The first process may be a container's, started at a person's terminal. A process without a parent that is not the
/// first came in from outside of the container.
pub(crate) const HAS_CONTAINERS: bool = true;

/// A daemon can check sockets that another one gives, so it can take over from that one.
pub const CAN_HAND_OVER: bool = true;

/// After [`close_memory`], other processes cannot read the path of the executable either.
pub(crate) const DAEMON_IS_HIDDEN: bool = true;

/// Start times and [`start_clock`] do not follow the wall clock.
pub(crate) const START_TIMES_ARE_MONOTONIC: bool = true;

/// The kernel enforces a limit on the address space.
pub(crate) const HELPER_MEMORY_IS_LIMITED: bool = true;

/// Bytes of the kernel's boot id: a UUID and a newline.
const BOOT_BYTES_MAX: u64 = 64;

/// Returns the peer of a connected socket.
pub(crate) fn peer_of(socket: &impl AsFd) -> io::Result<Peer> {
    let peer = socket_peercred(socket)?;
    Ok(Peer { pid: peer.pid.as_raw_nonzero().get().unsigned_abs(), user: peer.uid.as_raw() })
}

/// Returns the process that listens on a Unix stream socket, as of its call of `listen`. `None` for another descriptor.
pub(crate) fn listener_of(socket: &impl AsFd) -> io::Result<Option<u32>> {
    let is_stream = socket_domain(socket) == Ok(AddressFamily::UNIX)
        && socket_type(socket) == Ok(SocketType::STREAM)
        && socket_acceptconn(socket) == Ok(true);
    is_stream.then(|| peer_of(socket).map(|peer| peer.pid)).transpose()
}

/// Returns an unconnected Unix socket that never waits.
pub(crate) fn impatient_socket() -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?)
}

/// Flags for a message to a process that may be gone: an error and no signal.
pub(crate) fn send_flags() -> SendFlags {
    SendFlags::NOSIGNAL
}

/// Flags for the receipt of descriptors: no started program inherits one.
pub(crate) fn receive_flags() -> RecvFlags {
    RecvFlags::CMSG_CLOEXEC
}

/// Reads a process; `None` when it is gone or cannot be read.
pub(crate) fn process(pid: u32) -> Option<Process> {
    stat::process(pid, &read_stat(pid)?)
}

/// Returns every readable process.
pub(crate) fn processes() -> Vec<Process> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(process).collect()
}

/// Returns the state of a process; `None` when it is gone.
pub(crate) fn state(pid: u32) -> Option<State> {
    stat::state(&read_stat(pid)?)
}

fn read_stat(pid: u32) -> Option<String> {
    let stat = of_system(&format!("/proc/{pid}/stat"), ENVIRONMENT_BYTES_MAX)?;
    Some(String::from_utf8_lossy(&stat).into_owned())
}

/// Returns the arguments, the program's own name first. `None` when unreadable or empty.
pub(crate) fn arguments(pid: u32) -> Option<Vec<Vec<u8>>> {
    let line = of_system(&format!("/proc/{pid}/cmdline"), ENVIRONMENT_BYTES_MAX)?;
    let line = line.strip_suffix(b"\0").unwrap_or(&line);
    (!line.is_empty()).then(|| line.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect())
}

/// Returns the start environment: entries `NAME=value`, each with a NUL behind it.
pub(crate) fn environment(pid: u32) -> Option<Vec<u8>> {
    sight::of_system(&format!("/proc/{pid}/environ"), ENVIRONMENT_BYTES_MAX)
}

/// Returns the start environment and the effective user of the same process.
pub(crate) fn environment_and_user(pid: u32) -> Option<(Vec<u8>, u32)> {
    let environ = sight::open_to_read(Path::new(&format!("/proc/{pid}/environ")), Links::Followed).ok()?;
    let owner = environ.metadata().ok()?.uid();
    let environment = at_most(environ, ENVIRONMENT_BYTES_MAX).ok()??;
    // The kernel assigns the files of a process to its effective user, or to the superuser while others must not
    // inspect the process (proc(5)).
    let user = match owner {
        0 => stat::user(&read_status(pid)?, EFFECTIVE)?,
        user => user,
    };
    Some((environment, user))
}

/// Numbers of users in the line `Uid: real effective saved filesystem`.
const REAL: usize = 0;
const EFFECTIVE: usize = 1;

/// Returns the user that started the process. Readable for each process.
pub(crate) fn real_user(pid: u32) -> Option<u32> {
    stat::user(&read_status(pid)?, REAL)
}

/// Returns the control groups of a process, as the kernel lists them; `None` when it is gone.
pub(crate) fn control_group(pid: u32) -> Option<Vec<u8>> {
    of_system(&format!("/proc/{pid}/cgroup"), ENVIRONMENT_BYTES_MAX)
}

fn read_status(pid: u32) -> Option<Vec<u8>> {
    of_system(&format!("/proc/{pid}/status"), ENVIRONMENT_BYTES_MAX)
}

/// Returns the user that may send signals and inspect: the effective one, or the superuser for a process that others must
/// not inspect.
pub(crate) fn owner(pid: u32) -> Option<u32> {
    std::fs::metadata(format!("/proc/{pid}")).ok().map(|found| found.uid())
}

/// Reports whether the process has the same root directory as this one, or as the guarded user's reader.
pub(crate) fn sees_own_files(pid: u32) -> bool {
    let root = |path: &Path| sight::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    root(Path::new(&format!("/proc/{pid}/root/."))) == root(Path::new("/"))
}

/// Reports whether a process has the same pid namespace, root directory and mounts as this one, so that process ids and
/// paths mean the same to both. Namespaces that this kernel does not show are the same.
pub(crate) fn shares_namespaces(pid: u32) -> bool {
    let namespace = |of: &str| sight::read_link(format!("/proc/{of}/ns/pid")).ok();
    namespace(&pid.to_string()) == namespace("self") && sees_own_files(pid) && sees_own_mounts(pid)
}

/// Returns the working directory of a process.
pub(crate) fn directory(pid: u32) -> Option<PathBuf> {
    sight::read_link(format!("/proc/{pid}/cwd")).ok()
}

/// Returns the path of the executable. A removed one ends with ` (deleted)`.
pub(crate) fn executable(pid: u32) -> io::Result<PathBuf> {
    sight::read_link(format!("/proc/{pid}/exe"))
}

/// Returns a path that leads to the executed file itself, even if another file has replaced it.
pub(crate) fn executable_file(pid: u32) -> io::Result<PathBuf> {
    Ok(PathBuf::from(format!("/proc/{pid}/exe")))
}

/// Returns the path of this process's executable, as [`executable`].
pub(crate) fn own_executable() -> io::Result<PathBuf> {
    std::fs::read_link("/proc/self/exe")
}

/// Returns a path that leads to the executed file of this process.
pub(crate) fn own_executable_file() -> io::Result<PathBuf> {
    let own = PathBuf::from("/proc/self/exe");
    if own.exists() { Ok(own) } else { std::env::current_exe() }
}

/// Programs that adopt orphans of a user, in places where only the system's administrator writes.
pub(crate) fn service_managers() -> &'static [&'static str] {
    &["/usr/lib/systemd/systemd", "/lib/systemd/systemd"]
}

/// Returns the id of the machine's boot.
pub(crate) fn boot_id() -> Option<String> {
    let boot = of_system("/proc/sys/kernel/random/boot_id", BOOT_BYTES_MAX)?;
    Some(String::from_utf8_lossy(&boot).trim().to_owned())
}

/// Returns the time since the boot, including suspended time.
pub(crate) fn boot_time() -> Duration {
    let boot = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let (seconds, nanos) = (u64::try_from(boot.tv_sec), u32::try_from(boot.tv_nsec));
    Duration::new(seconds.unwrap_or_default(), nanos.unwrap_or_default().min(999_999_999))
}

/// Returns the present time in the unit of start times, and the units of a second: ticks since the boot.
pub(crate) fn start_clock() -> (u64, u64) {
    let per_second = rustix::param::clock_ticks_per_second();
    let ms = u64::try_from(boot_time().as_millis()).unwrap_or(u64::MAX);
    (ms.saturating_mul(per_second) / 1000, per_second)
}

/// Keeps other processes of this user from reading this process's memory and from attaching to it.
pub(crate) fn close_memory() {
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// Reports whether a file or folder may have an access list beside its mode.
pub(crate) fn has_access_list(path: &Path) -> bool {
    let mut nothing: [u8; 0] = [];
    match getxattr(path, "system.posix_acl_access", &mut nothing) {
        Err(Errno::NODATA | Errno::NOTSUP) => false,
        Ok(_) | Err(_) => true,
    }
}

/// Lets the kernel kill this process, and the program that it becomes, when the thread that started it ends.
pub(crate) fn end_with_parent() -> io::Result<()> {
    Ok(rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?)
}

/// Sends a signal to the process with this id, if `is_it` reports that it is the right one. The descriptor names the
/// process that had the id when it was opened. If that is the right one, so is the receiver.
pub(crate) fn send_signal(pid: Pid, signal: Signal, is_it: impl Fn() -> bool) -> io::Result<()> {
    let opened = pidfd_open(pid, PidfdFlags::empty())?;
    if !is_it() {
        return Ok(());
    }
    Ok(pidfd_send_signal(&opened, signal)?)
}

/// Returns the account of a user of this machine.
pub(crate) fn account(user: u32) -> Option<Account> {
    let users = of_system("/etc/passwd", USER_DATABASE_BYTES_MAX)?;
    users::account(user, &users)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_seen_whole() {
        let own = std::process::id();
        let process = process(own).unwrap();
        assert_eq!((process.pid, process.parent), (own, std::os::unix::process::parent_id()));
        assert!(processes().contains(&process));
        assert_eq!(state(own), Some(State::Alive));
        assert_eq!(directory(own), std::env::current_dir().ok());
        assert_eq!(executable(own).ok(), std::env::current_exe().ok());
        let user = rustix::process::geteuid().as_raw();
        assert_eq!((real_user(own), owner(own)), (Some(user), Some(user)));
        assert!(sees_own_files(own));
        let (now, per_second) = start_clock();
        assert!(process.started <= now && per_second > 0);
    }

    #[test]
    fn no_process_is_made_up() {
        let none = u32::MAX;
        assert_eq!((process(none), state(none), arguments(none)), (None, None, None));
        assert_eq!((environment(none), environment_and_user(none)), (None, None));
        assert_eq!((real_user(none), owner(none), directory(none)), (None, None, None));
        assert!(executable(none).is_err() && !sees_own_files(none));
    }
}
