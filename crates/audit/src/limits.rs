//! Limits of a record. A value over its limit is cut, with a marker that gives the missing amount.

/// Bytes of one string. A person reads commands and paths, not files; the start of a longer command identifies it.
pub(crate) const TEXT_BYTES_MAX: usize = 4096;

/// Bytes after the cut that are still searched for secrets, so that a secret across the cut is recognised.
pub(crate) const REDACT_LOOKAHEAD_BYTES: usize = 1024;

/// Bytes of one string as JSON writes it, without its quotes. An escape turns one byte into six, and a placeholder has
/// more than twenty. Without this limit a call that consists of these makes a record several times as long.
pub(crate) const WRITTEN_BYTES_MAX: usize = TEXT_BYTES_MAX + 64;

/// Bytes of all strings of one tool input: sixteen full strings, more than any real call has.
pub(crate) const INPUT_BYTES_MAX: usize = 64 * 1024;

/// Nesting of a tool input. Real inputs have at most five levels; each level costs stack.
pub(crate) const INPUT_DEPTH_MAX: usize = 32;

/// Array items and object members of one tool input, together.
pub(crate) const INPUT_ITEMS_MAX: usize = 1024;

/// Bytes of one list of a call (its files, the findings, the marks). Each list has its own limit, so that many files
/// displace no finding. A patch of 150 files with usual paths fits whole.
pub(crate) const LIST_BYTES_MAX: usize = 24 * 1024;

/// Bytes of a call's obligations. In practice there is at most one of each kind, with the name of a policy.
pub(crate) const OBLIGATIONS_BYTES_MAX: usize = 4 * 1024;

/// Bytes of the world's answers. A call cannot be judged again without all of them. An ordinary script of
/// [`TEXT_BYTES_MAX`] bytes, which is recorded whole, needs a third of it.
pub(crate) const WORLD_BYTES_MAX: usize = 64 * 1024;

/// Bytes of one line. No record reaches it: sixteen strings, an input, four lists and the world's answers at their
/// limits are about 330 KiB. It bounds a reader's memory against lines that the log did not write.
pub(crate) const LINE_BYTES_MAX: usize = 512 * 1024;

/// Bytes allocated for a record before it is encoded: most records fit.
pub(crate) const BODY_BYTES: usize = 4 * 1024;

/// Bytes first read from the end of a segment to find its last record; grows if they do not contain it.
pub(crate) const TAIL_BYTES: u64 = 64 * 1024;

/// Limit of that growth: a segment of the usual size is searched whole. A longer tail without a record was not written
/// by the log, and must not be read into memory.
pub(crate) const TAIL_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Bytes that a reader of lines skips without an end of line. A disk or an editor can spoil a few lines. More means
/// that the log did not write the file, and the file may have any size.
pub(crate) const LINELESS_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Bytes of the file `head` that are read: the file has 320, and a later version may add some.
pub(crate) const HEAD_BYTES_MAX: u64 = 64 * 1024;

/// Bytes of one stream that a follower returns in one step: a late follower must not read the whole log into memory.
pub(crate) const FOLLOW_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Attempts to list the segments without a change while they are opened.
pub(crate) const LISTING_ATTEMPTS: usize = 32;

/// Bytes from the end of a segment that are searched for the answer to a call: it was given shortly before a restart.
pub(crate) const ANSWER_BYTES: u64 = 4 * 1024 * 1024;

/// Segments of a stream that are searched for the answer: the live segment, and one that was just closed.
pub(crate) const ANSWER_SEGMENTS: usize = 2;

/// Characters of one text in a copy outside of the home: a session id has 36, a rule's name tens. System logs cut lines.
pub(crate) const COPIED_TEXT_CHARS_MAX: usize = 64;

/// Rules that a copy names. The log has all of them.
pub(crate) const COPIED_RULES_MAX: usize = 3;
