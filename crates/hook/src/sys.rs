//! The few system calls that `std` lacks, declared here because the hook links no crate: the hook's only unsafe code.

#![expect(unsafe_code, reason = "declares and calls C functions; each call says why it is sound")]

use std::cell::UnsafeCell;
#[cfg(target_os = "linux")]
use std::ffi::c_ulong;
use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_void};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The highest number of a signal.
#[cfg(target_os = "linux")]
const SIGNAL_MAX: c_int = 64;
#[cfg(target_os = "macos")]
const SIGNAL_MAX: c_int = 31;

/// Signals without a handler: KILL and STOP, which accept none; PIPE, which `std` ignores so that a write fails
/// instead; and signals that have no effect by default. Every other signal ends or stops a process.
#[cfg(target_os = "linux")]
const UNHANDLED: &[c_int] = &[9, 13, SIGCHLD, 18, 19, 23, 28]; // KILL PIPE CHLD CONT STOP URG WINCH
#[cfg(target_os = "macos")]
const UNHANDLED: &[c_int] = &[9, 13, 16, 17, 19, SIGCHLD, 23, 28, 29]; // KILL PIPE URG STOP CONT CHLD IO WINCH INFO

#[cfg(target_os = "linux")]
const SIGCHLD: c_int = 17;
#[cfg(target_os = "macos")]
const SIGCHLD: c_int = 20;

#[cfg(target_os = "linux")]
const SIG_SETMASK: c_int = 2;
#[cfg(target_os = "macos")]
const SIG_SETMASK: c_int = 3;

// O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW: a pipe in the file's place must not block the
// hook, and a symlink must not redirect it.
#[cfg(all(target_os = "linux", any(target_arch = "aarch64", target_arch = "arm")))]
const APPEND: c_int = 0o1 | 0o100 | 0o2000 | 0o4000 | 0o2000000 | 0o100000;
#[cfg(all(target_os = "linux", not(any(target_arch = "aarch64", target_arch = "arm"))))]
const APPEND: c_int = 0o1 | 0o100 | 0o2000 | 0o4000 | 0o2000000 | 0o400000;
#[cfg(target_os = "macos")]
const APPEND: c_int = 0x1 | 0x200 | 0x8 | 0x4 | 0x1000000 | 0x100;

const SEEK_END: c_int = 2;

/// O_NONBLOCK | O_NOFOLLOW: opens a file without waiting, even if a pipe or device is in its place.
#[cfg(all(target_os = "linux", any(target_arch = "aarch64", target_arch = "arm")))]
pub(crate) const NO_WAIT: c_int = 0o4000 | 0o100000;
#[cfg(all(target_os = "linux", not(any(target_arch = "aarch64", target_arch = "arm"))))]
pub(crate) const NO_WAIT: c_int = 0o4000 | 0o400000;
#[cfg(target_os = "macos")]
pub(crate) const NO_WAIT: c_int = 0x4 | 0x100;

#[cfg(target_os = "linux")]
const SYS_CLOSE_RANGE: c_long = 436;
#[cfg(target_os = "linux")]
const CLOSE_RANGE_CLOEXEC: c_uint = 1 << 2;

#[cfg(target_os = "macos")]
const F_SETFD: c_int = 2;
#[cfg(target_os = "macos")]
const FD_CLOEXEC: c_int = 1;

/// At least as large as any C library's `sigset_t` (the largest is glibc's, 128 bytes). All zero is empty in each.
#[repr(C, align(16))]
struct SignalSet([u8; 256]);

/// Runs when a signal arrives, and ends the process.
pub(crate) type Handler = extern "C" fn(c_int) -> !;

/// Size of the handler's own stack, because the normal stack may have overflowed. The kernel saves the registers there
/// too, at most some 12 KiB (x86-64 with AMX).
const HANDLER_STACK_BYTES: usize = 64 * 1024;

#[repr(C, align(16))]
struct HandlerStack(UnsafeCell<[u8; HANDLER_STACK_BYTES]>);

// SAFETY: only the kernel and the handler use it, one handler at a time.
unsafe impl Sync for HandlerStack {}

static HANDLER_STACK: HandlerStack = HandlerStack(UnsafeCell::new([0; HANDLER_STACK_BYTES]));

/// The C library's `stack_t`.
#[repr(C)]
struct Stack {
    bottom: *mut c_void,
    #[cfg(target_os = "linux")]
    flags: c_int,
    bytes: usize,
    #[cfg(target_os = "macos")]
    flags: c_int,
}

unsafe extern "C" {
    fn sigaltstack(new: *const Stack, old: *mut Stack) -> c_int;
    fn sigprocmask(how: c_int, set: *const SignalSet, old: *mut SignalSet) -> c_int;
    fn alarm(seconds: c_uint) -> c_uint;
    fn signal(number: c_int, handler: *const c_void) -> *const c_void;
    fn write(descriptor: c_int, bytes: *const c_void, count: usize) -> isize;
    fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    // `off_t` is `long` on every supported system.
    fn lseek(descriptor: c_int, offset: c_long, whence: c_int) -> c_long;
    fn _exit(code: c_int) -> !;
    fn setsid() -> c_int;
    #[cfg(target_os = "macos")]
    fn sigaction(number: c_int, new: *const Action, old: *mut Action) -> c_int;
    fn geteuid() -> c_uint;
    #[cfg(target_os = "linux")]
    fn getsockopt(
        descriptor: c_int,
        level: c_int,
        name: c_int,
        value: *mut c_void,
        bytes: *mut c_uint,
    ) -> c_int;
    #[cfg(target_os = "macos")]
    fn getpeereid(descriptor: c_int, user: *mut c_uint, group: *mut c_uint) -> c_int;
    #[cfg(target_os = "linux")]
    fn syscall(number: c_long, ...) -> c_long;
    #[cfg(target_os = "macos")]
    fn getdtablesize() -> c_int;
    #[cfg(target_os = "macos")]
    fn fcntl(descriptor: c_int, command: c_int, ...) -> c_int;
}

/// Calls `handler` when a signal would end or stop this process, at most once: every other signal waits while the
/// handler runs. The handler may use only functions that this module marks as safe in a signal handler.
pub(crate) fn call_on_ending_signals(handler: Handler) {
    let stack = Stack { bottom: HANDLER_STACK.0.get().cast(), bytes: HANDLER_STACK_BYTES, flags: 0 };
    // SAFETY: the stack is static, and nothing else uses it.
    unsafe { sigaltstack(&raw const stack, std::ptr::null_mut()) };
    let action = Action::calling(handler);
    for number in (1..=SIGNAL_MAX).filter(|number| !UNHANDLED.contains(number)) {
        action.set(number);
    }
    // A signal mask is inherited: the program that started the hook may have blocked the alarm.
    let none = SignalSet([0; 256]);
    // SAFETY: the set is large enough for any `sigset_t` and lives through the call.
    unsafe { sigprocmask(SIG_SETMASK, &raw const none, std::ptr::null_mut()) };
}

/// The kernel's own `struct sigaction`. The C library's version reserves two signals for itself. This layout holds for
/// x86-64, x86, arm64 and arm (`include/linux/signal_types.h`).
#[cfg(target_os = "linux")]
#[repr(C)]
struct Action {
    handler: Handler,
    flags: c_ulong,
    /// Runs when a handler returns. This handler does not return.
    restorer: Handler,
    /// Signals that wait while the handler runs.
    mask: [c_ulong; SIGNAL_SET_BYTES / size_of::<c_ulong>()],
}

#[cfg(target_os = "linux")]
impl Action {
    fn calling(handler: Handler) -> Action {
        let mask = [c_ulong::MAX; SIGNAL_SET_BYTES / size_of::<c_ulong>()];
        Action { handler, flags: SA_ONSTACK | SA_RESTORER, restorer: handler, mask }
    }

    fn set(&self, number: c_int) {
        let old: *mut Action = std::ptr::null_mut();
        // SAFETY: the kernel reads an action of this shape, which lives through the call.
        unsafe { syscall(SYS_RT_SIGACTION, number, &raw const *self, old, SIGNAL_SET_BYTES) };
    }
}

/// The C library's `struct sigaction`.
#[cfg(target_os = "macos")]
#[repr(C)]
struct Action {
    handler: Handler,
    /// Signals that wait while the handler runs.
    mask: u32,
    flags: c_int,
}

#[cfg(target_os = "macos")]
impl Action {
    fn calling(handler: Handler) -> Action {
        Action { handler, mask: u32::MAX, flags: SA_ONSTACK }
    }

    fn set(&self, number: c_int) {
        // SAFETY: the library reads an action of this shape, which lives through the call.
        unsafe { sigaction(number, &raw const *self, std::ptr::null_mut()) };
    }
}

/// Bytes of the kernel's set of signals, with one bit for each.
#[cfg(target_os = "linux")]
const SIGNAL_SET_BYTES: usize = 8;
#[cfg(target_os = "linux")]
const SA_ONSTACK: c_ulong = 0x0800_0000;
#[cfg(target_os = "macos")]
const SA_ONSTACK: c_int = 1;
#[cfg(target_os = "linux")]
const SA_RESTORER: c_ulong = 0x0400_0000;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
const SYS_RT_SIGACTION: c_long = 13;
#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
const SYS_RT_SIGACTION: c_long = 134;
#[cfg(all(target_os = "linux", any(target_arch = "x86", target_arch = "arm")))]
const SYS_RT_SIGACTION: c_long = 174;

/// Sends this process the alarm after `seconds`, and cancels an earlier alarm.
pub(crate) fn alarm_after(seconds: u32) {
    // SAFETY: no precondition.
    unsafe { alarm(seconds) };
}

/// Writes to a descriptor, ignoring failure. Safe in a signal handler.
pub(crate) fn write_raw(descriptor: i32, bytes: &[u8]) {
    // SAFETY: pointer and length are those of a live slice.
    unsafe { write(descriptor, bytes.as_ptr().cast(), bytes.len()) };
}

/// Appends a line to a file, unless the file has more than `most` bytes. Creates the file with mode 0600. Ignores
/// failure and does not wait. Safe in a signal handler.
pub(crate) fn append_raw(path: &CStr, line: &[u8], most: u64) {
    // SAFETY: `path` is NUL-terminated; with O_CREAT the mode is passed as the third argument.
    let descriptor = unsafe { open(path.as_ptr(), APPEND, 0o600 as c_uint) };
    if descriptor < 0 {
        return;
    }
    // SAFETY: no precondition. A file without a length, such as a pipe, gives the error -1.
    let bytes = unsafe { lseek(descriptor, 0, SEEK_END) };
    if u64::try_from(bytes).is_ok_and(|bytes| bytes <= most) {
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

/// Returns the user of the process that listens at the other end, as of its call of `listen`; `None` if it is unknown.
#[cfg(target_os = "linux")]
pub(crate) fn peer_user(stream: &UnixStream) -> Option<u32> {
    let mut peer = PeerCredentials::default();
    let mut bytes = c_uint::try_from(size_of::<PeerCredentials>()).ok()?;
    // SAFETY: both pointers are valid for the call, and `bytes` is the room behind the first.
    let failed = unsafe {
        let value = (&raw mut peer).cast();
        getsockopt(stream.as_raw_fd(), SOL_SOCKET, SO_PEERCRED, value, &raw mut bytes)
    };
    let is_whole = usize::try_from(bytes) == Ok(size_of::<PeerCredentials>());
    (failed == 0 && is_whole && peer.pid != 0).then_some(peer.user)
}

/// The C library's `struct ucred`.
#[cfg(target_os = "linux")]
#[derive(Default)]
#[repr(C)]
struct PeerCredentials {
    pid: c_int,
    user: c_uint,
    group: c_uint,
}

#[cfg(target_os = "linux")]
const SOL_SOCKET: c_int = 1;
#[cfg(target_os = "linux")]
const SO_PEERCRED: c_int = 17;

/// Returns the user of the process at the other end; `None` if it is unknown.
#[cfg(target_os = "macos")]
pub(crate) fn peer_user(stream: &UnixStream) -> Option<u32> {
    let (mut user, mut group) = (0, 0);
    // SAFETY: both pointers are valid for the call.
    let failed = unsafe { getpeereid(stream.as_raw_fd(), &raw mut user, &raw mut group) };
    (failed == 0).then_some(user)
}

/// Runs the command in a session of its own, so that ending the agent's terminal or process group does not end it.
/// Every inherited descriptor except 0, 1 and 2 is closed.
///
/// Also resets SIGCHLD to its default. The parent may have ignored it, the setting is inherited, and this process could
/// not wait for the program then.
pub(crate) fn detach_on_exec(command: &mut Command) {
    // SAFETY: no precondition; the null pointer is the default.
    unsafe { signal(SIGCHLD, std::ptr::null()) };
    // SAFETY: `detach` is async-signal-safe: system calls without pointers, no allocation, no lock.
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
        // macOS has no call for a range. An unused number is an error without consequence.
        #[cfg(target_os = "macos")]
        for descriptor in 3..getdtablesize() {
            fcntl(descriptor, F_SETFD, FD_CLOEXEC);
        }
    }
    Ok(())
}
