//! Limits on external input, each with its reason. Input above a limit is an error; it is never cut silently.

/// Bytes of one payload. A tool that writes a whole file sends it in the payload; agents stay far below this.
pub const PAYLOAD_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Nesting of a payload. Real ones nest about ten deep; the parser recurses, so this bounds its stack.
pub(crate) const JSON_DEPTH_MAX: usize = 64;

/// Bytes of an id or name in a payload. Session ids have 36, tool names at most 128.
pub(crate) const WORD_BYTES_MAX: usize = 512;

/// Values in a payload. Each costs some 80 bytes of memory, so `[[],[],...]` would grow a payload twentyfold.
pub(crate) const JSON_VALUES_MAX: usize = 200_000;

/// Bytes of a malformed payload that the record stores: enough to recognise it.
pub(crate) const MALFORMED_TEXT_BYTES_MAX: usize = 2048;

/// UTF-16 units of a reason. Claude Code 2.1.330 spills longer strings into a file that the model may not read.
pub(crate) const REASON_UNITS_MAX: usize = 10_000;

/// UTF-16 units of a text for the agent's own judge. Claude Code 2.1.330 cuts the texts of all hooks together at 2000.
pub const JUDGE_CONTEXT_UNITS_MAX: usize = 1_000;

/// UTF-16 units of the line on stderr, which a terminal shows.
pub(crate) const STDERR_UNITS_MAX: usize = 1_000;

/// Bytes of an agent's settings file. Real ones have a few KiB; every registration parses the text several times.
pub const SETTINGS_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Bytes of the front matter of a Markdown file. Real ones have some hundred.
pub(crate) const FRONT_MATTER_BYTES_MAX: usize = 64 * 1024;

/// Values in front matter with every alias expanded: stops alias bombs. Real ones have some dozen.
pub(crate) const FRONT_MATTER_VALUES_MAX: usize = 10_000;

/// The largest number of tokens in one report. A context has a few million; more is no number of tokens.
pub(crate) const TOKENS_MAX: u64 = 1_000_000_000_000;

/// Bytes of a session id, which becomes part of a path. Agents use UUIDs.
pub(crate) const SESSION_ID_BYTES_MAX: usize = 128;
