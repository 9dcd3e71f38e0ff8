//! [`Source`]: one rule file as it is given to [`crate::load()`].

/// One rule file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Name of the file in problems, usually its path.
    pub name: String,
    /// YAML of the file. [`Source::from_bytes`] rejects bytes that are not UTF-8.
    pub text: String,
}
