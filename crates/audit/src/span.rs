//! [`Span`]: the place of what the log omits in a text. It must not know what that is.

/// A part of a text that the log omits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Kind of the omitted text.
    pub(crate) label: &'static str,
}
