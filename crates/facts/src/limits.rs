//! Limits of this crate, each with its reason.

/// Bytes of SQL in one text that are read. Statements that people and agents write by hand end within a few hundred.
pub(crate) const SQL_BYTES_MAX: usize = 64 * 1024;

/// Tokens of a statement that the parser is given. It makes a tree as deep as `1+1+1...` is long, which is taken down level
/// by level: 2,000 fit into a stack of 2 MiB many times.
pub(crate) const SQL_TOKENS_MAX: usize = 2_000;

/// Depth of parentheses, and of what else nests, that the parser follows. It tries several readings of some openers, each
/// time down to the end: the time doubles with each level.
pub(crate) const SQL_DEPTH_MAX: usize = 12;

/// Joins in a statement that the parser is given. One without a condition makes it call itself for the next, which nothing
/// in it bounds; people write ten.
pub(crate) const SQL_JOINS_MAX: usize = 40;

/// Statements of one text that are looked at one by one.
pub(crate) const SQL_STATEMENTS_MAX: usize = 200;
