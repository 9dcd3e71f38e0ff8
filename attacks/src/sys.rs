//! System calls for the attacks: the only file of this package with unsafe code.
//!
//! Must not know any attack. Callers use one thread, except where a function says otherwise.
#![expect(unsafe_code, reason = "an attack makes the system calls that no safe crate offers")]

mod ring;

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

pub use ring::Ring;

/// An argument of a system call.
#[derive(Debug)]
pub enum Arg<'a> {
    /// A number: a flag, a descriptor, a length.
    Int(i64),
    /// A text that ends with NUL.
    Text(&'a CStr),
    /// Bytes that the kernel reads.
    In(&'a [u8]),
    /// Bytes that the kernel writes; the caller gives it the right length.
    Out(&'a mut [u8]),
    /// No pointer.
    Null,
}

impl Arg<'_> {
    fn word(&mut self) -> libc::c_long {
        match self {
            Arg::Int(number) => *number,
            Arg::Text(text) => text.as_ptr() as libc::c_long,
            Arg::In(bytes) => bytes.as_ptr() as libc::c_long,
            Arg::Out(bytes) => bytes.as_mut_ptr() as libc::c_long,
            Arg::Null => 0,
        }
    }
}

/// Makes the system call `number`.
///
/// # Errors
///
/// The errno of the kernel.
pub fn call(number: libc::c_long, arguments: &mut [Arg<'_>]) -> io::Result<i64> {
    let mut words = [0; 6];
    for (word, argument) in words.iter_mut().zip(arguments) {
        *word = argument.word();
    }
    let [a, b, c, d, e, f] = words;
    // SAFETY: each pointer is that of a living slice; the caller passes the length of the same slice.
    let result = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Makes a system call whose result is a new descriptor.
///
/// # Errors
///
/// The errno of the kernel.
pub fn open(number: libc::c_long, arguments: &mut [Arg<'_>]) -> io::Result<OwnedFd> {
    let fd = call(number, arguments)?;
    let fd = RawFd::try_from(fd).map_err(io::Error::other)?;
    // SAFETY: the kernel has just made this descriptor, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Takes a descriptor that this process inherited; `None` if no descriptor has this number.
pub fn inherited(fd: RawFd) -> Option<OwnedFd> {
    // SAFETY: F_GETFD reads no memory.
    let is_open = unsafe { libc::fcntl(fd, libc::F_GETFD) } != -1;
    // SAFETY: the descriptor is open; the attack owns whatever it was started with.
    is_open.then(|| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Lets programs that this process starts inherit the descriptor.
///
/// # Errors
///
/// The errno of the kernel.
pub fn inherit(fd: &impl AsRawFd) -> io::Result<()> {
    call(libc::SYS_fcntl, &mut [Arg::Int(fd.as_raw_fd().into()), Arg::Int(libc::F_SETFD.into()), Arg::Int(0)])
        .map(drop)
}

/// A path as the kernel takes it.
///
/// # Errors
///
/// `InvalidInput` if the path has a NUL.
pub fn c_path(path: impl AsRef<Path>) -> io::Result<CString> {
    Ok(CString::new(path.as_ref().as_os_str().as_bytes())?)
}

/// Starts a child that goes on at the same place; `None` in the child.
///
/// # Errors
///
/// The errno of the kernel.
pub fn fork() -> io::Result<Option<libc::pid_t>> {
    // SAFETY: the attack has one thread when it forks, so the child finds no lock held.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(None),
        child => Ok(Some(child)),
    }
}

/// Starts a child in new namespaces by `clone` itself, as `fork` with flags; `None` in the child.
///
/// # Errors
///
/// The errno of the kernel.
pub fn clone(flags: libc::c_int) -> io::Result<Option<libc::pid_t>> {
    let flags = i64::from(flags) | i64::from(libc::SIGCHLD);
    let child = call(libc::SYS_clone, &mut [Arg::Int(flags), Arg::Null, Arg::Null, Arg::Null, Arg::Null])?;
    child_or_none(child)
}

/// The same by `clone3`.
///
/// # Errors
///
/// The errno of the kernel.
pub fn clone3(flags: libc::c_int) -> io::Result<Option<libc::pid_t>> {
    // struct clone_args: flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls.
    let mut fields = [0_u64; 8];
    fields[0] = u64::try_from(flags).map_err(io::Error::other)?;
    fields[4] = u64::try_from(libc::SIGCHLD).map_err(io::Error::other)?;
    let bytes = words(&fields);
    let child = call(libc::SYS_clone3, &mut [Arg::In(&bytes), Arg::Int(64)])?;
    child_or_none(child)
}

fn child_or_none(child: i64) -> io::Result<Option<libc::pid_t>> {
    let child = libc::pid_t::try_from(child).map_err(io::Error::other)?;
    Ok((child != 0).then_some(child))
}

/// The bytes of 64-bit fields, as a structure of the kernel has them.
pub fn words(fields: &[u64]) -> Vec<u8> {
    fields.iter().flat_map(|field| field.to_ne_bytes()).collect()
}

/// Waits for a child; returns its wait status.
///
/// # Errors
///
/// The errno of the kernel.
pub fn wait(child: libc::pid_t, options: libc::c_int) -> io::Result<libc::c_int> {
    let mut status = 0;
    loop {
        // SAFETY: `status` is a living integer.
        let waited = unsafe { libc::waitpid(child, &raw mut status, options) };
        if waited != -1 {
            return Ok(status);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Ends this process at once, without the handlers of its parent's copy.
pub fn exit(code: libc::c_int) -> ! {
    // SAFETY: ends the process.
    unsafe { libc::_exit(code) }
}

/// Maps `bytes` of shared, readable and writable memory of a descriptor, and returns its address for the rest of the
/// process's life.
///
/// # Errors
///
/// The errno of the kernel.
pub fn map(fd: &impl AsRawFd, bytes: usize, offset: i64) -> io::Result<&'static mut [u8]> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping at an address that the kernel chooses.
    let at = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            bytes,
            protection,
            libc::MAP_SHARED | libc::MAP_POPULATE,
            fd.as_raw_fd(),
            offset,
        )
    };
    if at == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the mapping has this length and is never unmapped.
    Ok(unsafe { std::slice::from_raw_parts_mut(at.cast(), bytes) })
}

/// Reads a System V shared memory segment of another process.
///
/// # Errors
///
/// The errno of the kernel.
pub fn read_segment(id: i32, bytes: usize) -> io::Result<Vec<u8>> {
    // SAFETY: a new mapping at an address that the kernel chooses.
    let at = unsafe { libc::shmat(id, std::ptr::null(), libc::SHM_RDONLY) };
    if at as isize == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the segment was made with at least this length.
    let read = unsafe { std::slice::from_raw_parts(at.cast::<u8>(), bytes) }.to_vec();
    // SAFETY: the address is that of `shmat`.
    unsafe { libc::shmdt(at) };
    Ok(read)
}

/// Makes a System V shared memory segment with these bytes.
///
/// # Errors
///
/// The errno of the kernel.
pub fn make_segment(bytes: &[u8]) -> io::Result<i32> {
    // SAFETY: makes a segment; no memory is read.
    let id = unsafe { libc::shmget(libc::IPC_PRIVATE, bytes.len(), 0o666 | libc::IPC_CREAT) };
    if id == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a new mapping at an address that the kernel chooses.
    let at = unsafe { libc::shmat(id, std::ptr::null(), 0) };
    if at as isize == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the segment has the length of `bytes`.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at.cast(), bytes.len()) };
    // SAFETY: the address is that of `shmat`.
    unsafe { libc::shmdt(at) };
    Ok(id)
}

/// Removes a segment.
pub fn remove_segment(id: i32) {
    // SAFETY: IPC_RMID reads no memory.
    unsafe { libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut()) };
}

/// Makes the `int 0x80` system call of 32-bit programs with one number and no pointer. A kernel without 32-bit programs
/// ends the process by SIGSEGV.
#[cfg(target_arch = "x86_64")]
pub fn call_32(number: i32, first: i32) -> i32 {
    let mut result = number;
    // SAFETY: the arguments are numbers; `rbx` is restored.
    unsafe {
        std::arch::asm!(
            "push rbx",
            "mov ebx, {first:e}",
            "xor ecx, ecx",
            "xor edx, edx",
            "int 0x80",
            "pop rbx",
            first = in(reg) first,
            inlateout("eax") result,
            out("ecx") _,
            out("edx") _,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _,
        );
    }
    result
}

/// The memory of a value of another thread, read without the compiler's help: the victim looks at what others wrote.
pub fn read_volatile(byte: &u8) -> u8 {
    // SAFETY: a reference is valid.
    unsafe { std::ptr::read_volatile(byte) }
}
