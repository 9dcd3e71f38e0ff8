//! Limits of the vocabulary. Input over a limit is a finding; no part is silently ignored.

/// Paths that one call may name (a patch names several). Real patches touch tens; each costs a path resolution.
pub const FILES_PER_CALL_MAX: usize = 512;

/// Bytes of one path. Linux rejects longer paths (`PATH_MAX`), so no real target is longer.
pub const PATH_BYTES_MAX: usize = 4096;

/// Answers of the world that one decision may collect: four for each file of a call, and as many for its shell text. A
/// script of 64 KiB names hundreds of paths; each costs a look at the file system and a line of the record.
pub const ANSWERS_MAX: usize = 8 * FILES_PER_CALL_MAX;

/// Bytes at the beginning of a file that are searched for a NUL, which text does not have. Git and grep look at as many.
pub const HEAD_BYTES: usize = 8 * 1024;
