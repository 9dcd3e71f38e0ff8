//! The questions to the machine, answered by `sys` and the readers. An answer that is unclear is none.

use std::ffi::{CString, OsString, c_int};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use libc::{CTL_KERN, KERN_PROC, KERN_PROC_ALL, KERN_PROCARGS2, PROC_PIDVNODEPATHINFO};

use crate::entry::{ENTRY_BYTES, Entry, entries, entry};
use crate::limits::{LIST_READS_MAX, MOUNTS_MAX, PROCESSES_MAX, SESSION_BYTES_MAX, START_BYTES_MAX};
use crate::places::{PLACES_BYTES, Places, places};
use crate::start::{Start, start};
use crate::sys;

/// `KERN_PROC_PID` of `sys/sysctl.h`, which the `libc` crate lacks.
const KERN_PROC_PID: c_int = 1;

/// The process at the other end of a Unix socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// Its id. macOS names the process that used that end last: a process that passes the socket on changes it.
    pub pid: u32,
    /// Its effective user when it connected or listened.
    pub user: u32,
}

/// A mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The directory at which it is mounted.
    pub point: String,
    /// The name of the type, such as `apfs` or `smbfs`.
    pub kind: String,
    /// The kernel says that the files are on this machine.
    pub is_local: bool,
}

/// An account of this machine or of its directory service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The name.
    pub name: String,
    /// The user's id.
    pub user: u32,
    /// The home directory.
    pub home: PathBuf,
    /// The login shell; empty for `/bin/sh`.
    pub shell: PathBuf,
}

/// Returns a process; `None` if there is none with this id.
pub fn process(pid: u32) -> Option<Entry> {
    let id = c_int::try_from(pid).ok()?;
    let mut answer = Vec::with_capacity(ENTRY_BYTES);
    sys::sysctl(&[CTL_KERN, KERN_PROC, KERN_PROC_PID, id], &mut answer).ok()?;
    entry(&answer).filter(|found| found.pid == pid)
}

/// Returns all processes. `None` if the list cannot be read whole.
pub fn processes() -> Option<Vec<Entry>> {
    let name = [CTL_KERN, KERN_PROC, KERN_PROC_ALL, 0];
    for _ in 0..LIST_READS_MAX {
        // The kernel adds room for some new processes. Without enough room it reports an error.
        let bytes = sys::sysctl_bytes(&name).ok()?;
        let room = bytes.checked_add(bytes / 8)?.min(PROCESSES_MAX.checked_mul(ENTRY_BYTES)?);
        let mut answer = Vec::with_capacity(room);
        if sys::sysctl(&name, &mut answer).is_ok() {
            return entries(&answer);
        }
    }
    None
}

/// Returns the start of a process of this user. `None` for one of another user, and for one that is gone.
pub fn start_of(pid: u32) -> Option<Start> {
    let id = c_int::try_from(pid).ok()?;
    // A smaller buffer would get a part of the answer. One more byte distinguishes an answer that is too long.
    let mut answer = Vec::with_capacity(START_BYTES_MAX.checked_add(1)?);
    sys::sysctl(&[CTL_KERN, KERN_PROCARGS2, id], &mut answer).ok()?;
    start(&answer)
}

/// Returns the directories of a process of this user.
pub fn places_of(pid: u32) -> Option<Places> {
    places(&sys::proc_pidinfo(c_int::try_from(pid).ok()?, PROC_PIDVNODEPATHINFO, PLACES_BYTES).ok()?)
}

/// Returns the path of the executed file. An error if the file was removed or replaced.
pub fn executable_of(pid: u32) -> io::Result<PathBuf> {
    let pid = c_int::try_from(pid).map_err(|_| io::ErrorKind::InvalidInput)?;
    Ok(OsString::from_vec(sys::proc_pidpath(pid)?).into())
}

/// Returns the peer of a connected Unix socket.
pub fn peer_of(socket: &impl AsFd) -> io::Result<Peer> {
    let socket: BorrowedFd<'_> = socket.as_fd();
    let user = sys::getpeereid(socket)?;
    let pid = u32::try_from(sys::peer_pid(socket)?).ok().filter(|pid| *pid != 0);
    let pid = pid.ok_or_else(|| io::Error::other("the system names no process at its other end"))?;
    Ok(Peer { pid, user })
}

/// Returns the UUID of the machine's boot (`kern.bootsessionuuid`). `kern.boottime` is no identity: the kernel changes it with
/// the wall clock.
pub fn boot_session() -> Option<String> {
    let mut answer = Vec::with_capacity(SESSION_BYTES_MAX);
    sys::sysctl_named(c"kern.bootsessionuuid", &mut answer).ok()?;
    let text = answer.strip_suffix(b"\0").unwrap_or(&answer);
    str::from_utf8(text).ok().filter(|uuid| !uuid.is_empty()).map(str::to_owned)
}

/// Keeps debuggers from attaching to this process. If one is attached, the kernel ends this process.
pub fn deny_debuggers() -> io::Result<()> {
    sys::deny_attach()
}

/// Returns the mounts of the machine; `None` if there are too many to read.
pub fn mounts() -> Option<Vec<Mount>> {
    let found = sys::getfsstat(MOUNTS_MAX).ok().filter(|found| found.len() < MOUNTS_MAX)?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let local = libc::MNT_LOCAL.cast_unsigned();
    let mount = |(point, kind, flags): sys::RawMount| Mount {
        point: text(point),
        kind: text(kind),
        is_local: flags & local != 0,
    };
    Some(found.into_iter().map(mount).collect())
}

/// Returns the account of a user.
pub fn account(user: u32) -> Option<Account> {
    lookup(&sys::Wanted::User(user))
}

/// Returns the account with a name.
pub fn account_named(name: &str) -> Option<Account> {
    lookup(&sys::Wanted::Name(&CString::new(name).ok()?))
}

fn lookup(wanted: &sys::Wanted<'_>) -> Option<Account> {
    let sys::RawAccount { name, user, home, shell } = sys::account(wanted).ok()??;
    let path = |bytes| PathBuf::from(OsString::from_vec(bytes));
    Some(Account { name: String::from_utf8(name).ok()?, user, home: path(home), shell: path(shell) })
}
