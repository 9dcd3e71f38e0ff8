//! Limits of the vocabulary. Over a limit is a finding, never a part left out.

/// Paths that one call may name (a patch names several). Real patches touch tens; each costs a path resolution.
pub const FILES_PER_CALL_MAX: usize = 512;

/// Bytes of one path. Linux refuses longer ones (`PATH_MAX`), so no real target is longer.
pub const PATH_BYTES_MAX: usize = 4096;

/// Answers of the world that one decision may collect: two for each file and a few for the call itself.
pub const ANSWERS_MAX: usize = 2 * FILES_PER_CALL_MAX + 16;
