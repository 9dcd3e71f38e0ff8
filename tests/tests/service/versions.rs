//! Formats and versions.
