//! [`base_name`]: the name of a program without its directory.

/// Returns the last component of a program's path. Windows paths have backslashes.
pub fn base_name(name: &str) -> &str {
    name.trim_end_matches('/').rsplit(['/', '\\']).next().unwrap_or_default()
}
