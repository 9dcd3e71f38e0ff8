//! Limits of a record. What is over one is cut with a marker that says how much is missing.

/// Bytes of one string. A person reads commands and paths, not files; a longer command is known by its start.
pub(crate) const TEXT_BYTES_MAX: usize = 4096;

/// Bytes after the cut that are still searched for secrets, so that a secret across the cut is recognised.
pub(crate) const REDACT_LOOKAHEAD_BYTES: usize = 1024;

/// Bytes of one string as JSON writes it, without its quotes. An escape makes six bytes of one and a placeholder more
/// than twenty: without this limit a call of nothing but these makes a record several times as long.
pub(crate) const WRITTEN_BYTES_MAX: usize = TEXT_BYTES_MAX + 64;

/// Bytes of all strings of one tool input. Sixteen full strings: more than any real call has.
pub(crate) const INPUT_BYTES_MAX: usize = 64 * 1024;

/// Nesting of a tool input. Real ones have at most five; each level costs stack.
pub(crate) const INPUT_DEPTH_MAX: usize = 32;

/// Array items and object members of one tool input, in all.
pub(crate) const INPUT_ITEMS_MAX: usize = 1024;

/// Bytes of one list of a call (its files, the findings, the marks). Each has its own, so that many files push out no finding. A
/// patch of 150 files with usual paths fits whole.
pub(crate) const LIST_BYTES_MAX: usize = 24 * 1024;

/// Bytes of a call's obligations. There is at most one of each kind in practice, with the name of a policy.
pub(crate) const OBLIGATIONS_BYTES_MAX: usize = 4 * 1024;

/// Bytes of the world's answers. Without one of them a call cannot be judged again. An ordinary script of [`TEXT_BYTES_MAX`]
/// bytes, which is kept whole, asks for a third of it.
pub(crate) const WORLD_BYTES_MAX: usize = 64 * 1024;

/// Bytes of one line. No record reaches it: sixteen strings, an input, four lists and the world's answers at their limits are about 330 KiB.
/// It defends a reader, which needs no more memory than this, against lines that the log did not write.
pub(crate) const LINE_BYTES_MAX: usize = 512 * 1024;

/// Bytes set aside for a record before it is encoded: most fit.
pub(crate) const BODY_BYTES: usize = 4 * 1024;

/// Bytes first read from the end of a segment to find its last record; grows when that was not enough.
pub(crate) const TAIL_BYTES: u64 = 64 * 1024;

/// Bytes that they grow to: a segment of the usual size is searched whole. A longer one without a record in them is none that the log
/// wrote, and its size must not become memory.
pub(crate) const TAIL_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Bytes that a reader of lines passes over without meeting the end of one. A disk or an editor can spoil a few lines; more is a file
/// that the log did not write, of any size.
pub(crate) const LINELESS_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Bytes of the file `head` that are read: it has 320, and room for what a later version may add.
pub(crate) const HEAD_BYTES_MAX: u64 = 64 * 1024;

/// Bytes that a follower returns of one stream in one step: a late one must not read the whole log into memory.
pub(crate) const FOLLOW_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Attempts to get a listing of segments that does not change while they are opened.
pub(crate) const LISTING_ATTEMPTS: usize = 32;

/// Bytes from the end of a segment in which the answer to a call is looked for: it was given before a restart a moment ago.
pub(crate) const ANSWER_BYTES: u64 = 4 * 1024 * 1024;

/// Segments of a stream in which it is looked for: the live one, and one that was closed just now.
pub(crate) const ANSWER_SEGMENTS: usize = 2;
