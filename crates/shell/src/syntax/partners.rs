//! [`Partners`]: parentheses of `((` that a search has passed. This module must not know the search.

use std::collections::HashMap;

use crate::limits::{PARENS_BYTES_MIN, PARENS_FACTOR_MAX};

/// Memory of the searches in one text.
#[derive(Debug, Default)]
pub(super) struct Partners {
    /// The offset of the `)` of each `(` that directly follows another `(`.
    pub(super) partners: HashMap<usize, usize>,
    /// The range that the last search read completely.
    pub(super) read: (usize, usize),
}

/// Returns the number of bytes that all searches of one call may read: a search that a misleading quote or comment
/// leads to the end of the text finds nothing, and the next one starts anew.
pub(super) fn spare(bytes: usize) -> usize {
    bytes.saturating_mul(PARENS_FACTOR_MAX).max(PARENS_BYTES_MIN)
}
