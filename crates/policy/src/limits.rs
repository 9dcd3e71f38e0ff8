//! Limits of the decision.

/// Rounds in which a decision may ask the world. One round asks for everything that is known to be missing; what depends
/// on an answer needs another. More rounds than this is a fault of ours, and denies.
pub(crate) const ROUNDS_MAX: usize = 8;

/// Bytes of one rule's message in a reason. Agents cut reasons; what a person needs stands first.
pub(crate) const MESSAGE_BYTES_MAX: usize = 2000;
