//! Limits of the decision.

/// Rounds in which a decision may query the world. A round contains all queries that are known to be missing; queries
/// that depend on an answer need another round. More rounds are a bug of castellan, which then denies.
pub(crate) const ROUNDS_MAX: usize = 8;

/// Bytes of one rule's message in a reason. Agents shorten reasons, so the important part is first.
pub(crate) const MESSAGE_BYTES_MAX: usize = 2000;

/// Characters of a message at the agent's prompt: three lines at 60 columns. Claude Code 2.1.330 hides a reason from
/// its eleventh line on; its hints and other clients may need the rest of the screen.
pub(crate) const PROMPT_CHARS_MAX: usize = 150;

/// Characters of a value from outside in such a message, such as a path: the reason has to fit beside it.
pub(crate) const VALUE_CHARS_MAX: usize = 48;

/// Words in each list of a class of calls. A person reads the class before granting it; real calls have one to three.
pub(crate) const CLASS_WORDS_MAX: usize = 8;

/// Bytes of a class of calls: a screen of text. The daemon keeps hundreds of classes.
pub(crate) const CLASS_BYTES_MAX: usize = 1024;

/// Patterns in one of the operator's lists. People write tens.
pub(crate) const PATTERNS_MAX: usize = 1000;

/// Bytes of such a pattern: a command and some words, or a path.
pub(crate) const PATTERN_BYTES_MAX: usize = 1024;

/// Bytes of a shell glob that is compared with an operator's pattern, letter by letter of both. Real globs have tens; a
/// longer one may match anything.
pub(crate) const GLOB_BYTES_MAX: usize = 512;

/// Positions from either end of a command at which a repeated word may be the subcommand. Real commands have one or
/// two.
pub(crate) const SUBCOMMAND_PLACES_MAX: usize = 4;

/// Denial keys of one denied call. A command that deletes a thousand files has a handful of keys.
pub(crate) const DENIAL_KEYS_MAX: usize = 32;

/// Number of denials for one denial key after which a session is probing. Two may be a mistake and its correction.
pub(crate) const PROBING_AT: u32 = 3;
