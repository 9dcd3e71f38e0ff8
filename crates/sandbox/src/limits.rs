//! Limits of the sandbox.

/// Bytes of one message between caller and launcher. The kernel accepts arguments and variables of at most 6 MiB; paths
/// and rules are far smaller.
pub const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Paths of a policy. Each costs the launcher some microseconds at every start; hundreds still start within 10 ms.
pub const PATHS_MAX: usize = 1024;

/// Entries of one directory that Landlock rules list, because one of them is a secret. A larger directory is reported as not
/// enforced: its rules would cost more than 10 ms at every start.
pub const SIBLINGS_MAX: usize = 2048;

/// Bytes of each private place. Builds put hundreds of megabytes into a temporary directory; more would fill the memory
/// of small machines, where the places are.
pub const PRIVATE_BYTES: u64 = 1024 * 1024 * 1024;

/// Files of each private place: a tmpfs keeps about 1 KiB of kernel memory for each.
pub const PRIVATE_FILES: u64 = 256 * 1024;

/// Process numbers that the kernel gives out once in each process namespace, and not again (RESERVED_PIDS). A limit of the largest
/// number limits the processes only beyond these.
pub const PIDS_RESERVED: u64 = 300;

/// The largest limit of process numbers that the kernel accepts (PID_MAX_LIMIT).
pub const PID_MAX: u64 = 4 * 1024 * 1024;

/// Milliseconds for the end of the processes that a command left, where no process namespace ends them at once.
pub const LEFTOVER_MS: u64 = 5_000;

/// Milliseconds of one check of a probe. Each takes some 10 ms; a machine under load takes a second.
pub const PROBE_MS: u64 = 5_000;

/// Bytes of one file or answer of a probe: a few lines.
pub const PROBE_TEXT_BYTES: u64 = 64 * 1024;
