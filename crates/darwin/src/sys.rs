//! The calls of macOS's C library that no safe crate offers: this crate's only unsafe code. Each function returns owned bytes
//! or numbers, and an error of the system.

#![expect(unsafe_code, reason = "calls C functions; each call says why it is sound")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::null_mut;

use crate::limits::ACCOUNT_BYTES_MAX;

/// Calls `sysctl(3)`. Returns the answer in `answer`, which is its capacity before. An answer without room is an error.
pub(crate) fn sysctl(name: &[c_int], answer: &mut Vec<u8>) -> io::Result<()> {
    let mut bytes = answer.capacity();
    answer.clear();
    answer.resize(bytes, 0);
    let names = u32::try_from(name.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: the kernel reads `names` numbers, although the pointer is mutable, and writes at most `bytes` bytes, the length
    // of the buffer. A null pointer with the length 0 sets nothing.
    let failed = unsafe {
        libc::sysctl(
            name.as_ptr().cast_mut(),
            names,
            answer.as_mut_ptr().cast(),
            &raw mut bytes,
            null_mut(),
            0,
        )
    };
    finish(failed, bytes, answer)
}

/// Calls `sysctlbyname(3)`, as [`sysctl`].
pub(crate) fn sysctl_named(name: &CStr, answer: &mut Vec<u8>) -> io::Result<()> {
    let mut bytes = answer.capacity();
    answer.clear();
    answer.resize(bytes, 0);
    // SAFETY: `name` ends with a NUL; the kernel writes at most `bytes` bytes, the length of the buffer.
    let failed = unsafe {
        libc::sysctlbyname(name.as_ptr(), answer.as_mut_ptr().cast(), &raw mut bytes, null_mut(), 0)
    };
    finish(failed, bytes, answer)
}

fn finish(failed: c_int, bytes: usize, answer: &mut Vec<u8>) -> io::Result<()> {
    if failed != 0 {
        return Err(io::Error::last_os_error());
    }
    answer.truncate(bytes);
    Ok(())
}

/// Returns the number of bytes that an answer to `sysctl(3)` has now.
pub(crate) fn sysctl_bytes(name: &[c_int]) -> io::Result<usize> {
    let names = u32::try_from(name.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut bytes = 0;
    // SAFETY: without a buffer, the kernel writes the length only.
    let failed =
        unsafe { libc::sysctl(name.as_ptr().cast_mut(), names, null_mut(), &raw mut bytes, null_mut(), 0) };
    if failed == 0 { Ok(bytes) } else { Err(io::Error::last_os_error()) }
}

/// Calls `proc_pidinfo` and returns the bytes that it wrote.
pub(crate) fn proc_pidinfo(pid: c_int, flavor: c_int, bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut answer = vec![0_u8; bytes_max];
    let room = c_int::try_from(bytes_max).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: the kernel writes at most `room` bytes, the length of the buffer.
    let written = unsafe { libc::proc_pidinfo(pid, flavor, 0, answer.as_mut_ptr().cast(), room) };
    cut(written, answer)
}

/// Calls `proc_pidpath` and returns the path without a NUL.
pub(crate) fn proc_pidpath(pid: c_int) -> io::Result<Vec<u8>> {
    let mut answer = vec![0_u8; PATH_BYTES];
    // SAFETY: the kernel writes at most `PATH_BYTES` bytes, the length of the buffer.
    let written = unsafe { libc::proc_pidpath(pid, answer.as_mut_ptr().cast(), PATH_BYTES as u32) };
    cut(written, answer)
}

/// `PROC_PIDPATHINFO_MAXSIZE`; the call rejects a larger buffer.
const PATH_BYTES: usize = 4096;

/// The calls of `libproc` return the number of written bytes, and 0 or less for an error.
fn cut(written: c_int, mut answer: Vec<u8>) -> io::Result<Vec<u8>> {
    match usize::try_from(written) {
        Ok(written) if written > 0 => {
            answer.truncate(written);
            Ok(answer)
        }
        Ok(_) | Err(_) => Err(io::Error::last_os_error()),
    }
}

/// Returns the effective user of the peer, at the time when it connected or listened.
pub(crate) fn getpeereid(socket: BorrowedFd<'_>) -> io::Result<u32> {
    let (mut user, mut group) = (0, 0);
    // SAFETY: the descriptor is open, and the call writes the two numbers.
    let failed = unsafe { libc::getpeereid(socket.as_raw_fd(), &raw mut user, &raw mut group) };
    if failed == 0 { Ok(user) } else { Err(io::Error::last_os_error()) }
}

/// Returns the id of the process that used the other end of a socket last (`LOCAL_PEERPID`).
pub(crate) fn peer_pid(socket: BorrowedFd<'_>) -> io::Result<c_int> {
    let mut pid: c_int = 0;
    let mut bytes = size_of::<c_int>() as libc::socklen_t;
    // SAFETY: the descriptor is open, and the kernel writes at most `bytes` bytes, the size of the number.
    let failed = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_LOCAL,
            libc::LOCAL_PEERPID,
            (&raw mut pid).cast::<c_void>(),
            &raw mut bytes,
        )
    };
    if failed == 0 { Ok(pid) } else { Err(io::Error::last_os_error()) }
}

/// Calls `ptrace(PT_DENY_ATTACH)`. If a debugger is attached already, the kernel ends this process.
pub(crate) fn deny_attach() -> io::Result<()> {
    // SAFETY: this request uses neither process nor address.
    let failed = unsafe { libc::ptrace(libc::PT_DENY_ATTACH, 0, null_mut(), 0) };
    if failed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A mount as the kernel reports it: point, type, flags.
pub(crate) type RawMount = (Vec<u8>, Vec<u8>, u32);

/// Returns at most `most` mounts, without waiting for a file server.
pub(crate) fn getfsstat(most: usize) -> io::Result<Vec<RawMount>> {
    let mut table: Vec<MaybeUninit<libc::statfs>> = vec![MaybeUninit::uninit(); most];
    let bytes = most.checked_mul(size_of::<libc::statfs>()).and_then(|bytes| c_int::try_from(bytes).ok());
    let bytes = bytes.ok_or(io::ErrorKind::InvalidInput)?;
    // SAFETY: the kernel writes at most `bytes` bytes, the size of the table.
    let count = unsafe { libc::getfsstat(table.as_mut_ptr().cast(), bytes, libc::MNT_NOWAIT) };
    let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
    let mounts = table.into_iter().take(count).map(|mount| {
        // SAFETY: the kernel has written `count` whole mounts.
        let mount = unsafe { mount.assume_init() };
        (text(&mount.f_mntonname), text(&mount.f_fstypename), mount.f_flags)
    });
    Ok(mounts.collect())
}

/// The bytes before the first NUL.
fn text(chars: &[c_char]) -> Vec<u8> {
    chars.iter().map(|char| char.cast_unsigned()).take_while(|byte| *byte != 0).collect()
}

/// An account of the user database.
pub(crate) struct RawAccount {
    pub(crate) name: Vec<u8>,
    pub(crate) user: u32,
    pub(crate) home: Vec<u8>,
    pub(crate) shell: Vec<u8>,
}

/// The way an account is looked up.
pub(crate) enum Wanted<'a> {
    User(u32),
    Name(&'a CStr),
}

/// Looks a user up by `getpwuid_r` or `getpwnam_r`, which also ask the directory service.
pub(crate) fn account(wanted: &Wanted<'_>) -> io::Result<Option<RawAccount>> {
    let mut texts: Vec<c_char> = vec![0; ACCOUNT_BYTES_MAX];
    let mut account = MaybeUninit::<libc::passwd>::uninit();
    let mut found: *mut libc::passwd = null_mut();
    let (into, text, bytes) = (account.as_mut_ptr(), texts.as_mut_ptr(), texts.len());
    // SAFETY: the call writes into `account` and at most `bytes` bytes into `texts`. Both live until the return. A name
    // ends with a NUL.
    let error = unsafe {
        match wanted {
            Wanted::User(user) => libc::getpwuid_r(*user, into, text, bytes, &raw mut found),
            Wanted::Name(name) => libc::getpwnam_r(name.as_ptr(), into, text, bytes, &raw mut found),
        }
    };
    if error != 0 {
        return Err(io::Error::from_raw_os_error(error));
    }
    if found.is_null() {
        return Ok(None);
    }
    // SAFETY: a found account is in `account`, completely written.
    let account = unsafe { account.assume_init() };
    let copy = |field: *const c_char| {
        if field.is_null() {
            return Vec::new();
        }
        // SAFETY: a field that is not null is a text in `texts` that ends with a NUL.
        unsafe { CStr::from_ptr(field) }.to_bytes().to_vec()
    };
    Ok(Some(RawAccount {
        name: copy(account.pw_name),
        user: account.pw_uid,
        home: copy(account.pw_dir),
        shell: copy(account.pw_shell),
    }))
}
