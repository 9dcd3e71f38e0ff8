//! Limits of the decision.

/// Rounds in which a decision may ask the world. One round asks for everything that is known to be missing; what depends
/// on an answer needs another. More rounds than this is a fault of ours, and denies.
pub(crate) const ROUNDS_MAX: usize = 8;

/// Bytes of one rule's message in a reason. Agents cut reasons; what a person needs stands first.
pub(crate) const MESSAGE_BYTES_MAX: usize = 2000;

/// Patterns in one of the operator's lists. People write tens.
pub(crate) const PATTERNS_MAX: usize = 1000;

/// Bytes of one of these patterns: a command and some words, or a path.
pub(crate) const PATTERN_BYTES_MAX: usize = 1024;

/// Bytes of a shell's pattern that is compared with one of the operator's, letter by letter of both. Real ones have tens; a
/// longer one may mean anything.
pub(crate) const GLOB_BYTES_MAX: usize = 512;

/// Places from either end of a command at which its subcommand's word is taken for the subcommand, when it stands there more
/// than once. Real commands have one or two.
pub(crate) const SUBCOMMAND_PLACES_MAX: usize = 4;

/// Purposes of one denied call. A command that deletes a thousand files is about a handful of things.
pub(crate) const PURPOSES_MAX: usize = 32;

/// Denials for one purpose in a session by which it is probing: twice may be a mistake and its correction.
pub(crate) const PROBING_AT: u32 = 3;
