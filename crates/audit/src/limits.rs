//! Limits of a record. What is over one is cut with a marker that says how much is missing.

/// Bytes of one string. A person reads commands and paths, not files; a longer command is known by its start.
pub(crate) const TEXT_BYTES_MAX: usize = 4096;

/// Bytes after the cut that are still searched for secrets, so that a secret across the cut is recognised.
pub(crate) const REDACT_LOOKAHEAD_BYTES: usize = 1024;

/// Bytes of all strings of one tool input, before redaction. Sixteen full strings: more than any real call has.
pub(crate) const INPUT_BYTES_MAX: usize = 64 * 1024;

/// Nesting of a tool input. Real ones have at most five; each level costs stack.
pub(crate) const INPUT_DEPTH_MAX: usize = 32;

/// Array items and object members of one tool input, in all.
pub(crate) const INPUT_ITEMS_MAX: usize = 1024;

/// Bytes of one line. Above the largest record that fits the limits of a call (512 files with two long paths each, and
/// the world's answers about them); a reader needs no more memory than this.
pub(crate) const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Bytes of the append buffer that are kept from one record to the next.
pub(crate) const BUFFER_BYTES_KEPT: usize = 256 * 1024;

/// Bytes first read from the end of a segment to find its last record; grows when that was not enough.
pub(crate) const TAIL_BYTES: u64 = 64 * 1024;

/// Bytes that a follower returns of one stream in one step: a late one must not read the whole log into memory.
pub(crate) const FOLLOW_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Attempts to get a listing of segments that does not change while they are opened.
pub(crate) const LISTING_ATTEMPTS: usize = 32;
