//! macOS: the kernel's list of processes, `libproc`, and the C library. Compiled and linked, never run by castellan's
//! authors ([macOS](../../../docs/macos.md)). Where macOS has no counterpart of a call of Linux, the answer is unknown.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use castellan_darwin::{self as darwin, Entry};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, socket};
use rustix::process::{Pid, Resource, Rlimit, Signal, getsid, kill_process, setrlimit};

use super::file_systems::is_remote;
use super::{Account, Peer, Process, State};
use crate::limits::ENVIRONMENT_BYTES_MAX;

/// macOS has none: the first process is always `launchd`.
pub(crate) const HAS_CONTAINERS: bool = false;

/// A daemon cannot check who made the sockets that another one gives ([`listener_of`]), so it takes none.
pub const CAN_HAND_OVER: bool = false;

/// The path of its executable stays readable.
pub(crate) const DAEMON_IS_HIDDEN: bool = false;

/// The kernel stores start times by the wall clock, which a machine may set back.
pub(crate) const START_TIMES_ARE_MONOTONIC: bool = false;

/// The kernel accepts a limit on the address space and ignores it.
pub(crate) const HELPER_MEMORY_IS_LIMITED: bool = false;

/// Returns the peer of a connected socket.
pub(crate) fn peer_of(socket: &impl AsFd) -> io::Result<Peer> {
    darwin::peer_of(socket).map(|peer| Peer { pid: peer.pid, user: peer.user })
}

/// macOS names no process that listens on a socket. So the daemon accepts no listening socket of another process.
pub(crate) fn listener_of(_socket: &impl AsFd) -> io::Result<Option<u32>> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "macOS does not name the process that listens on a socket",
    ))
}

/// Returns an unconnected Unix socket that never waits. A program that another thread starts before the second call
/// inherits it.
pub(crate) fn impatient_socket() -> io::Result<OwnedFd> {
    let socket = socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    fcntl_setfd(&socket, FdFlags::CLOEXEC)?;
    fcntl_setfl(&socket, OFlags::NONBLOCK)?;
    Ok(socket)
}

/// Flags for a message. macOS has none against the signal; a Rust program ignores it.
pub(crate) fn send_flags() -> SendFlags {
    SendFlags::empty()
}

/// Flags for the receipt of descriptors. macOS has none that keeps them from a started program: the receiver does.
pub(crate) fn receive_flags() -> RecvFlags {
    RecvFlags::empty()
}

/// Reads a process; `None` when it is gone or cannot be read.
pub(crate) fn process(pid: u32) -> Option<Process> {
    listed(darwin::process(pid)?)
}

/// Returns every process; none if the list cannot be read whole.
pub(crate) fn processes() -> Vec<Process> {
    darwin::processes().into_iter().flatten().filter_map(listed).collect()
}

/// Adds the session, which the kernel's list holds as an address only.
fn listed(entry: Entry) -> Option<Process> {
    let Entry { pid, parent, user: _, terminal, started_us, state: _, name } = entry;
    // The kernel's own process 0 has no session, and is in no chain of ancestors.
    let session = getsid(Some(Pid::from_raw(i32::try_from(pid).ok()?)?)).ok()?;
    Some(Process {
        pid,
        parent,
        session: session.as_raw_nonzero().get().unsigned_abs(),
        terminal,
        started: started_us,
        name,
    })
}

/// Returns the state of a process; `None` when it is gone.
pub(crate) fn state(pid: u32) -> Option<State> {
    darwin::process(pid).map(|entry| match entry.state {
        darwin::State::Ended => State::Ended,
        darwin::State::Stopped => State::Stopped,
        darwin::State::Alive => State::Alive,
    })
}

/// Returns the arguments, the program's own name first. `None` when unreadable or empty.
pub(crate) fn arguments(pid: u32) -> Option<Vec<Vec<u8>>> {
    darwin::start_of(pid).map(|start| start.arguments).filter(|arguments| !arguments.is_empty())
}

/// Returns the start environment: entries `NAME=value`, each with a NUL behind it. The kernel withholds that of a program
/// of the system, and it is unknown then.
pub(crate) fn environment(pid: u32) -> Option<Vec<u8>> {
    let entries = darwin::start_of(pid)?.environment?;
    let joined: Vec<u8> = entries.into_iter().flat_map(|entry| [entry, vec![0]].concat()).collect();
    (joined.len() as u64 <= ENVIRONMENT_BYTES_MAX).then_some(joined)
}

/// Returns the start environment and the effective user of the same process.
pub(crate) fn environment_and_user(pid: u32) -> Option<(Vec<u8>, u32)> {
    let before = darwin::process(pid)?;
    let environment = environment(pid)?;
    let is_same = |after: &Entry| (after.started_us, after.user) == (before.started_us, before.user);
    darwin::process(pid).filter(is_same).map(|after| (environment, after.user))
}

/// Returns the user of the process. Readable for each process.
pub(crate) fn real_user(pid: u32) -> Option<u32> {
    owner(pid)
}

/// This system has no control groups.
pub(crate) fn control_group(_pid: u32) -> Option<Vec<u8>> {
    None
}

/// Returns the effective user.
pub(crate) fn owner(pid: u32) -> Option<u32> {
    darwin::process(pid).map(|entry| entry.user)
}

/// Returns the type of the file system of a path if its files are on another machine; `None` if they are on this one.
pub(crate) fn remote_system_of(path: &Path) -> io::Result<Option<String>> {
    let kind = rustix::fs::statfs(path)?.f_fstypename;
    let kind: String =
        kind.iter().take_while(|byte| **byte != 0).map(|byte| char::from(byte.cast_unsigned())).collect();
    Ok(Some(kind).filter(|kind| is_remote(kind)))
}

/// Reports whether process ids and paths mean the same to a process as to this one. macOS has no pid namespaces.
pub(crate) fn shares_namespaces(_pid: u32) -> bool {
    true
}

/// Reports whether the process has the machine's root directory. macOS has no namespaces of mounts.
pub(crate) fn sees_own_files(pid: u32) -> bool {
    darwin::places_of(pid).is_some_and(|places| places.has_machines_root)
}

/// Returns the working directory of a process.
pub(crate) fn directory(pid: u32) -> Option<PathBuf> {
    darwin::places_of(pid)?.directory
}

/// Returns the path of the executable; an error if it was removed or replaced.
pub(crate) fn executable(pid: u32) -> io::Result<PathBuf> {
    darwin::executable_of(pid)
}

/// Returns a path that leads to the executed file. The kernel names the file that runs, so a replaced one is an error.
pub(crate) fn executable_file(pid: u32) -> io::Result<PathBuf> {
    darwin::executable_of(pid)
}

/// Returns the path of this process's executable.
pub(crate) fn own_executable() -> io::Result<PathBuf> {
    darwin::executable_of(std::process::id())
}

/// Returns a path that leads to the executed file of this process.
pub(crate) fn own_executable_file() -> io::Result<PathBuf> {
    darwin::executable_of(std::process::id())
}

/// Programs that adopt orphans of a user. macOS has only the first process, which is never an agent.
pub(crate) fn service_managers() -> &'static [&'static str] {
    &[]
}

/// Returns the id of the machine's boot.
pub(crate) fn boot_id() -> Option<String> {
    darwin::boot_session()
}

/// Returns the time since the boot, including suspended time (clock_gettime(3): this clock goes on while the machine
/// sleeps).
pub(crate) fn boot_time() -> Duration {
    let boot = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let (seconds, nanos) = (u64::try_from(boot.tv_sec), u32::try_from(boot.tv_nsec));
    Duration::new(seconds.unwrap_or_default(), nanos.unwrap_or_default().min(999_999_999))
}

/// Returns the present time in the unit of start times, and the units of a second: microseconds since 1970.
pub(crate) fn start_clock() -> (u64, u64) {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    (u64::try_from(now.as_micros()).unwrap_or(u64::MAX), 1_000_000)
}

/// Keeps debuggers from attaching, and writes no core dump. Weaker than on Linux: the memory stays readable for a process
/// with the right to use the task port of this one, which macOS gives to signed debuggers after a password.
pub(crate) fn close_memory() {
    let _ = darwin::deny_debuggers();
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
}

/// Its access lists are not read, because castellan starts no Falco there.
pub(crate) fn has_access_list(_path: &Path) -> bool {
    true
}

/// macOS has no such order, so castellan starts no Falco and no agent there.
pub(crate) fn end_with_parent() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Sends a signal to the process with this id, if `is_it` reports that it is the right one. macOS has no descriptor of a
/// process. Between the check and the signal, the process may end, and another one may get its id.
pub(crate) fn send_signal(pid: Pid, signal: Signal, is_it: impl Fn() -> bool) -> io::Result<()> {
    if !is_it() {
        return Ok(());
    }
    Ok(kill_process(pid, signal)?)
}

/// Returns the mount points of remote file systems. All processes see the same mounts.
pub(crate) fn network_mounts(pid: u32) -> Option<Vec<String>> {
    darwin::process(pid)?;
    let mounts = darwin::mounts()?.into_iter();
    Some(mounts.filter(|mount| !mount.is_local || is_remote(&mount.kind)).map(|mount| mount.point).collect())
}

/// Returns the account of a user of this machine or of its directory service.
pub(crate) fn account(user: u32) -> Option<Account> {
    let found = darwin::account(user)?;
    Some(Account {
        name: Some(found.name).filter(|name| !name.is_empty()),
        home: Some(found.home).filter(|home| home.is_absolute()),
    })
}
