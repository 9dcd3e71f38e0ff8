//! Limits of listings and checkpoints.

use std::time::Duration;

/// Entries of one listing. A large project has some 100,000 with its installed packages. More would take longer than a
/// second and more than 50 MB of memory at each call.
pub const ENTRIES_MAX: usize = 200_000;

/// Directories below each other. Each open level needs a descriptor, and installed packages have at most 40.
pub const DEPTH_MAX: usize = 128;

/// Bytes of all paths of a listing: 200,000 paths of 160 bytes.
pub const NAME_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Bytes of the files of one checkpoint. A copy of so much takes about a second.
pub const CHECKPOINT_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Files of one checkpoint that are copied.
pub const CHECKPOINT_FILES_MAX: usize = 50_000;

/// Bytes of one file of a checkpoint of a whole workspace. Larger ones are data or build output: they are listed, and not
/// copied.
pub const FILE_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// Bytes of all checkpoints.
pub const CEILING_BYTES: u64 = 1024 * 1024 * 1024;

/// Number of all checkpoints. The daemon reads each once when it starts, in about 20 µs.
pub const COUNT_MAX: usize = 4096;

/// The age at which a checkpoint is removed.
pub const AGE_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Bytes that stay free on the disk of the store: an agent must not fill the disk through castellan.
pub(crate) const FREE_BYTES_MIN: u64 = 64 * 1024 * 1024;

/// Bytes of a file up to which it is read into memory, and written only if its contents are new. Larger ones are cloned.
pub(crate) const SMALL_BYTES: u64 = 256 * 1024;

/// Bytes of small contents that one file of the store holds. They wait in memory for it.
pub(crate) const PACK_BYTES: usize = 8 * 1024 * 1024;

/// Bytes of one read or write.
pub(crate) const CHUNK_BYTES: usize = 256 * 1024;

/// Bytes of the description of one checkpoint: the largest listing, with 100 bytes a row beside its path.
pub(crate) const MANIFEST_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Bytes of an id.
pub(crate) const ID_BYTES_MAX: usize = 64;

/// Paths that one checkpoint names. A call that names more changes the tree as a whole.
pub(crate) const PATHS_MAX: usize = 4096;

/// Attempts to read a file without a change meanwhile.
pub(crate) const READ_ATTEMPTS: usize = 3;

/// A file whose status changed less than this before a checkpoint may change again without a new time. So its contents are
/// read again at the next checkpoint. Kernels count in steps of at most 10 ms, and network file systems of a second.
pub(crate) const RACY_NS: i128 = 2_000_000_000;

/// Known contents by the status of their files.
pub(crate) const KNOWN_MAX: usize = ENTRIES_MAX;
