//! Limits of the analysis, each with its reason. Over a limit is an Opaque part, never one left out.

/// Texts of an MCP call's input that are looked at for paths, URLs and commands. Real calls have tens; each path costs a
/// look at the file system.
pub(crate) const MCP_VALUES_MAX: usize = 256;
