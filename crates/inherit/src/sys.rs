//! Ownership of a descriptor by its number, and removal of a variable: this crate's only unsafe code.

#![expect(unsafe_code, reason = "takes descriptors by number; each call says why it is sound")]

use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};

use rustix::io::{Errno, FdFlags, fcntl_getfd, fcntl_setfd};

/// Takes a descriptor that this process has inherited, and closes it for later programs. `BADF`: it is not open, or a part
/// of this program has opened it.
pub(crate) fn take(number: RawFd) -> Result<OwnedFd, Errno> {
    if number < 0 {
        return Err(Errno::BADF);
    }
    // SAFETY: the number is not -1, and the borrow ends before the descriptor is owned. If it is not open, the kernel says so.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
    // Rust and castellan open every descriptor with this flag, and no program inherits one that has it.
    if fcntl_getfd(borrowed)?.contains(FdFlags::CLOEXEC) {
        return Err(Errno::BADF);
    }
    fcntl_setfd(borrowed, FdFlags::CLOEXEC)?;
    // SAFETY: it is open, nothing in this program opened it, and the flag just set keeps a second call from taking it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Removes a variable from the environment. The caller is the only thread.
pub(crate) fn forget(variable: &str) {
    // SAFETY: `passed`, the only caller, requires that no other thread runs.
    unsafe { std::env::remove_var(variable) };
}
