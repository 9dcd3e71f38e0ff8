//! The few system calls that `std` does not offer, declared here because the hook links no crate. The only unsafe code of
//! the hook.

#![expect(unsafe_code, reason = "declares and calls C functions; each call says why it is sound")]

use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_void};
use std::os::unix::process::CommandExt;
use std::process::Command;

const SIGALRM: c_int = 14;

/// What ends a process unless it is handled, and is not a fault in its memory: the alarm, and what others may send.
#[cfg(target_os = "linux")]
const ENDING_SIGNALS: &[c_int] = &[1, 2, 3, 6, 10, 12, SIGALRM, 15, 24, 25]; // HUP INT QUIT ABRT USR1 USR2 TERM XCPU XFSZ
#[cfg(target_os = "macos")]
const ENDING_SIGNALS: &[c_int] = &[1, 2, 3, 6, 30, 31, SIGALRM, 15, 24, 25];
#[cfg(target_os = "linux")]
const SIG_UNBLOCK: c_int = 1;
#[cfg(target_os = "macos")]
const SIG_UNBLOCK: c_int = 2;

// O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW: a pipe in the file's place must not hold the hook up,
// a symlink not lead it elsewhere.
#[cfg(all(target_os = "linux", any(target_arch = "aarch64", target_arch = "arm")))]
const APPEND: c_int = 0o1 | 0o100 | 0o2000 | 0o4000 | 0o2000000 | 0o100000;
#[cfg(all(target_os = "linux", not(any(target_arch = "aarch64", target_arch = "arm"))))]
const APPEND: c_int = 0o1 | 0o100 | 0o2000 | 0o4000 | 0o2000000 | 0o400000;
#[cfg(target_os = "macos")]
const APPEND: c_int = 0x1 | 0x200 | 0x8 | 0x4 | 0x1000000 | 0x100;

#[cfg(target_os = "linux")]
const SYS_CLOSE_RANGE: c_long = 436;
#[cfg(target_os = "linux")]
const CLOSE_RANGE_CLOEXEC: c_uint = 1 << 2;

/// At least as large as any C library's `sigset_t` (glibc's, the largest, has 128 bytes).
#[repr(C, align(16))]
struct SignalSet([u8; 256]);

unsafe extern "C" {
    fn sigemptyset(set: *mut SignalSet) -> c_int;
    fn sigaddset(set: *mut SignalSet, number: c_int) -> c_int;
    fn sigprocmask(how: c_int, set: *const SignalSet, old: *mut SignalSet) -> c_int;
    fn alarm(seconds: c_uint) -> c_uint;
    fn signal(number: c_int, handler: extern "C" fn(c_int)) -> *const c_void;
    fn write(descriptor: c_int, bytes: *const c_void, count: usize) -> isize;
    fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    fn _exit(code: c_int) -> !;
    fn setsid() -> c_int;
    fn geteuid() -> c_uint;
    #[cfg(target_os = "linux")]
    fn syscall(number: c_long, ...) -> c_long;
}

/// Calls `handler` when a signal would end this process. It may use only what this module marks as safe in a signal
/// handler.
pub(crate) fn call_on_ending_signals(handler: extern "C" fn(c_int)) {
    let mut ending = SignalSet([0; 256]);
    // SAFETY: the set is large enough for any `sigset_t` and lives through the calls; `handler` has the type that the C
    // library expects.
    unsafe {
        sigemptyset(&mut ending);
        for number in ENDING_SIGNALS {
            sigaddset(&mut ending, *number);
            signal(*number, handler);
        }
        // A signal mask is inherited: whoever started the hook may have blocked the alarm.
        sigprocmask(SIG_UNBLOCK, &ending, std::ptr::null_mut());
    }
}

/// Sends this process the alarm after `seconds`, instead of an earlier one.
pub(crate) fn alarm_after(seconds: u32) {
    // SAFETY: no precondition.
    unsafe { alarm(seconds) };
}

/// Writes to a descriptor, ignoring failure. Safe in a signal handler.
pub(crate) fn write_raw(descriptor: i32, bytes: &[u8]) {
    // SAFETY: pointer and length are those of a live slice.
    unsafe { write(descriptor, bytes.as_ptr().cast(), bytes.len()) };
}

/// Appends a line to a regular file, created with mode 0600, ignoring failure. Does not wait. Safe in a signal handler.
pub(crate) fn append_raw(path: &CStr, line: &[u8]) {
    // SAFETY: `path` is NUL-terminated; with O_CREAT the mode is passed as the third argument.
    let descriptor = unsafe { open(path.as_ptr(), APPEND, 0o600 as c_uint) };
    if descriptor >= 0 {
        write_raw(descriptor, line);
    }
}

/// Ends the process at once. Safe in a signal handler.
pub(crate) fn exit_now(code: u8) -> ! {
    // SAFETY: no precondition; nothing of this process needs to be unwound.
    unsafe { _exit(c_int::from(code)) }
}

/// Returns the effective user id.
pub(crate) fn user_id() -> u32 {
    // SAFETY: no precondition, cannot fail.
    unsafe { geteuid() }
}

/// Makes the command's process a session of its own, so that nothing that ends the agent's terminal or process group ends
/// it, with every inherited descriptor but 0, 1 and 2 closed.
pub(crate) fn detach_on_exec(command: &mut Command) {
    // SAFETY: `detach` is async-signal-safe: two system calls without pointers, no allocation, no lock.
    unsafe { command.pre_exec(detach) };
}

fn detach() -> std::io::Result<()> {
    // SAFETY: no preconditions. Close-on-exec, not close: `std` reports a failed exec through a descriptor of its own.
    unsafe {
        if setsid() < 0 {
            return Err(std::io::Error::last_os_error());
        }
        #[cfg(target_os = "linux")]
        if syscall(SYS_CLOSE_RANGE, 3 as c_uint, c_uint::MAX, CLOSE_RANGE_CLOEXEC) < 0 {
            return Err(std::io::Error::last_os_error());
        }
    }
    Ok(())
}
