//! Limits on what shell text can make large. Over a limit is a [`crate::tree::Hole`] with its reason, never a silent cut.

/// Bytes of text that are parsed at once. Agents' longest commands (a file in a heredoc) are shorter; time and memory of
/// the parser grow with it.
pub(crate) const TEXT_BYTES_MAX: usize = 64 << 10;

/// Levels of nesting that the parser is let into: bounds its stack, and that of everything that walks the tree.
pub(crate) const PARSER_DEPTH_MAX: usize = 40;

/// Levels of text in text that is parsed again (backquotes in backquotes, `<<-` bodies, arithmetic): each level has a
/// parser of its own on the stack.
pub(crate) const REPARSE_DEPTH_MAX: u32 = 6;

/// Bytes that are parsed again, all levels together, for each byte of the text, and at least [`REPARSE_BYTES_MIN`].
pub(crate) const REPARSE_FACTOR_MAX: usize = 4;

/// See [`REPARSE_FACTOR_MAX`].
pub(crate) const REPARSE_BYTES_MIN: usize = 4 << 10;

/// Steps of the parser for each byte of text: none of 640 scripts of a Debian system needs 0.9. It is work
/// that doubles with each level of nesting which is bounded here.
pub(crate) const PARSER_STEPS_PER_BYTE: usize = 2;

/// Steps that any text may take: short ones have room for what is written densely.
pub(crate) const PARSER_STEPS_MIN: usize = 6_000;

/// Steps that no text may exceed: the slowest steps take about 1 µs.
pub(crate) const PARSER_STEPS_MAX: usize = 150_000;
