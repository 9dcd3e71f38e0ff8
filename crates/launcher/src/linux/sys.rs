//! System calls that rustix lacks: the launcher's only unsafe code.

#![expect(unsafe_code, reason = "calls C functions and the kernel; each call says why it is sound")]

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use castellan_sandbox::{Instruction, MountFlags, Namespaces};
use rustix::io::Errno;
use rustix::process::Pid;

type Result<T> = std::result::Result<T, Errno>;

/// Bytes of the kernel's signal set.
const SIGNAL_SET_BYTES: usize = 8;

const MOUNT_ATTR_RDONLY: u64 = 1;
const MOUNT_ATTR_NOSUID: u64 = 2;
const MOUNT_ATTR_NODEV: u64 = 4;
const MOUNT_ATTR_NOEXEC: u64 = 8;

const LANDLOCK_RULE_PATH_BENEATH: libc::c_long = 1;
const LANDLOCK_RULE_NET_PORT: libc::c_long = 2;
const LANDLOCK_ACCESS_NET_CONNECT_TCP: u64 = 2;

/// Signals that the launcher passes on to the command.
pub(crate) const FORWARDED: &[libc::c_int] = &[
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGWINCH,
];

/// The start of the program, without Rust's own preparation: that reads the map of the memory and prepares for threads, which
/// costs a twentieth of a start.
#[unsafe(no_mangle)]
extern "C" fn main(_count: libc::c_int, _arguments: *const *const libc::c_char) -> libc::c_int {
    super::program().into()
}

fn checked(result: libc::c_long) -> Result<libc::c_long> {
    if result < 0 { Err(last()) } else { Ok(result) }
}

fn last() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL)
}

fn descriptor(result: libc::c_long) -> Result<OwnedFd> {
    let number = libc::c_int::try_from(checked(result)?).map_err(|_| Errno::BADF)?;
    // SAFETY: the kernel has just made this descriptor, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Closes every descriptor from `first` on. Only before any is in use.
pub(crate) fn close_from(first: libc::c_uint) -> Result<()> {
    // SAFETY: the launcher owns no descriptor yet.
    checked(unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, 0) }).map(drop)
}

/// Makes a child in new namespaces. Returns `None` in the child.
pub(crate) fn fork(namespaces: &Namespaces) -> Result<Option<Pid>> {
    let mut flags = libc::SIGCHLD
        | libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS;
    if namespaces.network {
        flags |= libc::CLONE_NEWNET;
    }
    let flags = libc::c_ulong::from(flags.cast_unsigned());
    // SAFETY: without CLONE_VM the child is a copy, as after `fork`; the launcher has one thread, so no lock is held. The stack
    // and identifiers are null, so the order of the arguments, which differs between architectures, does not matter.
    let child =
        checked(unsafe { libc::syscall(libc::SYS_clone, flags, 0_usize, 0_usize, 0_usize, 0_usize) })?;
    Ok(i32::try_from(child).ok().and_then(Pid::from_raw))
}

/// Bytes of the stack of a child that shares this process's memory: some paths, and what the system's functions need.
const STACK_BYTES: usize = 256 * 1024;

/// Makes a child that shares this process's memory until it becomes another program or ends; this process waits for that.
/// A copy of the memory would cost a tenth of a start. The child ends with the code that `task` returns.
pub(crate) fn fork_shared<F: FnOnce() -> u8>(task: F) -> Result<Pid> {
    extern "C" fn enter<F: FnOnce() -> u8>(task: *mut libc::c_void) -> libc::c_int {
        // SAFETY: it is the `Option` of the caller below, whose frame waits until the child no longer uses it.
        let task = unsafe { &mut *task.cast::<Option<F>>() };
        task.take().map_or(125, |task| task()).into()
    }
    let mut task = Some(task);
    let mut stack: Vec<u128> = Vec::with_capacity(STACK_BYTES / size_of::<u128>());
    let top = stack.spare_capacity_mut().as_mut_ptr_range().end;
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the stack grows down from its aligned end, within memory that nothing else uses. With CLONE_VFORK this process,
    // which has one thread, stops until the child no longer uses its memory, so stack and task live long enough.
    let child = unsafe { libc::clone(enter::<F>, top.cast(), flags, (&raw mut task).cast()) };
    let child = checked(child.into())?;
    i32::try_from(child).ok().and_then(Pid::from_raw).ok_or(Errno::CHILD)
}

/// Ends this process at once.
pub(crate) fn exit(code: u8) -> ! {
    // SAFETY: `_exit` has no conditions.
    unsafe { libc::_exit(libc::c_int::from(code)) }
}

fn signal_set() -> u64 {
    FORWARDED.iter().chain(&[libc::SIGCHLD]).fold(0, |set, signal| set | 1 << (signal - 1))
}

/// Blocks the forwarded signals and SIGCHLD: the launcher reads them.
pub(crate) fn block_signals() {
    mask(signal_set());
}

fn mask(set: u64) {
    let old = std::ptr::null_mut::<u64>();
    // SAFETY: the kernel reads a set of the given size, which lives through the call.
    unsafe {
        libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const set, old, SIGNAL_SET_BYTES)
    };
}

/// Gives a new program the default signals: none blocked, SIGPIPE not ignored.
pub(crate) fn default_signals() {
    mask(0);
    // SAFETY: the default action is valid for each of these signals.
    unsafe {
        for signal in FORWARDED {
            libc::signal(*signal, libc::SIG_DFL);
        }
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
    }
}

/// Returns a descriptor from which the blocked signals can be read.
pub(crate) fn signals() -> Result<OwnedFd> {
    let set = signal_set();
    // SAFETY: the kernel reads a set of the given size, which lives through the call.
    descriptor(unsafe {
        libc::syscall(libc::SYS_signalfd4, -1, &raw const set, SIGNAL_SET_BYTES, libc::SFD_CLOEXEC)
    })
}

/// Sends a signal by its number.
pub(crate) fn kill(process: Pid, signal: libc::c_int) {
    // SAFETY: `kill` reads no memory.
    unsafe { libc::kill(process.as_raw_pid(), signal) };
}

/// Sets flags of a mount, and separates it from other namespaces. A path of `c""` is the descriptor itself.
pub(crate) fn mount_flags(at: impl AsFd, flags: MountFlags, recursive: bool) -> Result<()> {
    #[repr(C)]
    struct Attributes {
        set: u64,
        clear: u64,
        propagation: u64,
        user_namespace: u64,
    }
    let mut set = MOUNT_ATTR_NOSUID;
    for (wanted, flag) in [
        (flags.read_only, MOUNT_ATTR_RDONLY),
        (flags.no_devices, MOUNT_ATTR_NODEV),
        (flags.no_execution, MOUNT_ATTR_NOEXEC),
    ] {
        if wanted {
            set |= flag;
        }
    }
    let attributes = Attributes { set, clear: 0, propagation: libc::MS_PRIVATE, user_namespace: 0 };
    let how = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the kernel reads an empty path and attributes of the given size, which live through the call.
    checked(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            at.as_fd().as_raw_fd(),
            c"".as_ptr(),
            how,
            &raw const attributes,
            size_of::<Attributes>(),
        )
    })
    .map(drop)
}

/// Switches the loopback interface on.
pub(crate) fn loopback_up(socket: impl AsFd) -> Result<()> {
    // SAFETY: all-zero bytes are a valid request.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = from.cast_signed() as libc::c_char;
    }
    let flags = libc::IFF_UP | libc::IFF_RUNNING;
    request.ifr_ifru.ifru_flags = libc::c_short::try_from(flags).unwrap_or(libc::c_short::MAX);
    // SAFETY: the kernel reads a request of this type, which lives through the call.
    let result = unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    checked(result.into()).map(drop)
}

/// Drops every capability, now and for programs that the user starts as root. The caller sets `no_new_privs`.
pub(crate) fn drop_capabilities() -> Result<()> {
    const SECURE: libc::c_ulong = 0b11 | 0b1100; // NOROOT, NO_SETUID_FIXUP, both locked
    // The bounding set needs no change, which would be a call for each capability: with `no_new_privs` no program gets more
    // than the process has, which is nothing.
    // SAFETY: this option of `prctl` reads no memory. An ordinary user cannot set them, and has no capability that they would
    // take away.
    unsafe { libc::prctl(libc::PR_SET_SECUREBITS, SECURE, 0, 0, 0) };
    #[repr(C)]
    struct Header {
        version: u32,
        process: libc::c_int,
    }
    let header = Header { version: 0x2008_0522, process: 0 };
    let none = [0_u32; 6];
    // SAFETY: the kernel reads a header and two sets of this version, which live through the call.
    checked(unsafe { libc::syscall(libc::SYS_capset, &raw const header, none.as_ptr()) }).map(drop)
}

/// Returns the kernel's version of Landlock; 0 is none.
pub(crate) fn landlock_version() -> libc::c_long {
    const VERSION: libc::c_uint = 1;
    let none = std::ptr::null::<u64>();
    // SAFETY: with this flag the kernel reads no attributes.
    checked(unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, none, 0_usize, VERSION) }).unwrap_or(0)
}

/// A set of Landlock rules.
pub(crate) struct Ruleset(OwnedFd);

impl Ruleset {
    pub(crate) fn new(files: u64, network: u64, scopes: u64) -> Result<Ruleset> {
        let attributes = [files, network, scopes];
        // SAFETY: the kernel reads attributes of the given size, which live through the call. An older kernel accepts
        // longer ones if the rest is zero.
        descriptor(unsafe {
            libc::syscall(libc::SYS_landlock_create_ruleset, attributes.as_ptr(), size_of_val(&attributes), 0)
        })
        .map(Ruleset)
    }

    /// Permits rights beneath a file or directory.
    pub(crate) fn permit(&self, beneath: impl AsFd, rights: u64) -> Result<()> {
        #[repr(C, packed)]
        struct Beneath {
            rights: u64,
            descriptor: i32,
        }
        let rule = Beneath { rights, descriptor: beneath.as_fd().as_raw_fd() };
        self.add(LANDLOCK_RULE_PATH_BENEATH, (&raw const rule).cast())
    }

    /// Permits TCP connections to a port.
    pub(crate) fn permit_port(&self, port: u16) -> Result<()> {
        let rule = [LANDLOCK_ACCESS_NET_CONNECT_TCP, u64::from(port)];
        self.add(LANDLOCK_RULE_NET_PORT, rule.as_ptr().cast())
    }

    fn add(&self, kind: libc::c_long, rule: *const libc::c_void) -> Result<()> {
        // SAFETY: the callers pass a rule of the kind, which lives through the call.
        checked(unsafe { libc::syscall(libc::SYS_landlock_add_rule, self.0.as_raw_fd(), kind, rule, 0) })
            .map(drop)
    }

    /// Applies the rules to this process. It needs `no_new_privs`.
    pub(crate) fn apply(&self) -> Result<()> {
        // SAFETY: the call reads no memory.
        checked(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, self.0.as_raw_fd(), 0) }).map(drop)
    }
}

/// Applies a filter of system calls to this process. It needs `no_new_privs`.
pub(crate) fn filter(program: &[Instruction]) -> Result<()> {
    let mut filter: Vec<libc::sock_filter> = program
        .iter()
        .map(|one| libc::sock_filter { code: one.code, jt: one.yes, jf: one.no, k: one.k })
        .collect();
    let length = libc::c_ushort::try_from(filter.len()).map_err(|_| Errno::INVAL)?;
    let program = libc::sock_fprog { len: length, filter: filter.as_mut_ptr() };
    // SAFETY: the kernel reads a program of the given length, which lives through the call.
    checked(unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program) })
        .map(drop)
}

/// Becomes a program. Returns only if it fails.
pub(crate) fn execute(program: &CStr, arguments: &[CString], environment: &[CString]) -> Errno {
    let pointers = |texts: &[CString]| -> Vec<*const libc::c_char> {
        texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let (arguments, environment) = (pointers(arguments), pointers(environment));
    // SAFETY: the lists end with null, and they and their texts live through the call.
    unsafe { libc::execve(program.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    last()
}
