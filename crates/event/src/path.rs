//! Paths as text, without the file system: `..` removes the name before it, as if there were no symlinks.

/// Returns the components of a path, without `.` and empty ones.
pub fn path_components(path: &str) -> impl Iterator<Item = &str> {
    let mut rest = path;
    // Names are short: a loop over their bytes is faster than `split`. Each call compares thousands of names.
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let end = rest.bytes().position(|byte| byte == b'/').unwrap_or(rest.len());
            let name = rest.get(..end)?;
            rest = rest.get(end + 1..).unwrap_or_default();
            if !name.is_empty() && name != "." {
                return Some(name);
            }
        }
        None
    })
}

/// Returns the absolute path without `.` and `..`. `base` is ignored if `path` is absolute, and else read from the
/// root.
pub fn lexical_path(base: &str, path: &str) -> String {
    let base = if path.starts_with('/') { "" } else { base };
    let mut normal = String::with_capacity(base.len() + path.len() + 1);
    for name in path_components(base).chain(path_components(path)) {
        if name == ".." {
            normal.truncate(normal.rfind('/').unwrap_or_default());
        } else {
            normal.push('/');
            normal.push_str(name);
        }
    }
    if normal.is_empty() {
        normal.push('/');
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_resolved_as_text() {
        for (base, path, expected) in [
            ("/", "", "/"),
            ("", "", "/"),
            ("/w", "", "/w"),
            ("/w", "src/../../x", "/x"),
            ("/w", "/a//b/./c/", "/a/b/c"),
            ("/w/x", "../../../..", "/"),
            ("/w", "/..", "/"),
            ("w/./x/..", "y", "/w/y"),
            ("/w", "...", "/w/..."),
            ("/é", "ü/../ö", "/é/ö"),
        ] {
            assert_eq!(lexical_path(base, path), expected, "{base} {path}");
        }
    }
}
