//! Limits on the kernel's answers, each with its reason.

/// Bytes of the start of a process: its arguments and environment. The kernel lets a program have 1 MiB (`ARG_MAX`) and
/// adds a count, a path and padding. A longer answer is unknown.
pub(crate) const START_BYTES_MAX: usize = 1024 * 1024 + 64 * 1024;

/// Processes of the machine. The kernel's own limit (`kern.maxproc`) is below it on every Mac.
#[cfg(target_os = "macos")]
pub(crate) const PROCESSES_MAX: usize = 65_536;

/// Attempts to read the list of processes, which may have grown since the kernel reported its length.
#[cfg(target_os = "macos")]
pub(crate) const LIST_READS_MAX: u32 = 4;

/// Mounts of the machine. A Mac has about ten; each snapshot and disk image adds one.
#[cfg(target_os = "macos")]
pub(crate) const MOUNTS_MAX: usize = 4096;

/// Bytes of an account: name, home, shell, full name.
#[cfg(target_os = "macos")]
pub(crate) const ACCOUNT_BYTES_MAX: usize = 64 * 1024;

/// Bytes of the boot session's UUID with its NUL, and room.
#[cfg(target_os = "macos")]
pub(crate) const SESSION_BYTES_MAX: usize = 64;
