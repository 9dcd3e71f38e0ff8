//! Paths and patterns of paths that earlier calls wrote, or that running calls may be changing: whether a file may be
//! one of them.

use std::collections::BTreeSet;

use crate::limits::WRITTEN_PATTERNS_MAX;

/// Git writes this file, below the work tree's root, whenever it changes files of the work tree. If an earlier call
/// wrote it, any file of the project may differ from the file that the user knows.
pub const TREE_MARK: &str = ".git/index";

/// Marks a write to an unknown path below a workspace's root. Git has no such file.
pub const ANYWHERE_MARK: &str = ".git/anywhere";

/// Characters that begin or end an open part of a pattern.
pub(crate) const OPEN: &[char] = &['*', '?', '[', ']', '{', '}'];

/// True if the written paths mean that a file may have changed. A match is the file, a directory above it, a pattern
/// that may match it, or a mark for any file of its work tree. For a pattern: any file that it matches, or any file
/// below its fixed directory.
pub fn may_be_written(written: &BTreeSet<String>, file: &str) -> bool {
    let above = file.match_indices('/').filter_map(|(at, _)| file.get(..at));
    let mut directories = above.chain([file]).filter(|path| !path.is_empty());
    let known = file.find(OPEN).and_then(|at| file.get(..at));
    let below = known.and_then(|known| known.get(..=known.rfind('/')?));
    let is_marked = |path: &str| {
        [TREE_MARK, ANYWHERE_MARK].iter().any(|mark| written.contains(&format!("{path}/{mark}")))
    };
    directories.any(|path| written.contains(path) || is_marked(path))
        || written
            .iter()
            .any(|path| may_meet(path, file) || below.is_some_and(|below| path.starts_with(below)))
}

/// The patterns among the written paths. The files behind them are unknown.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    patterns: Vec<String>,
    /// There are more patterns than are compared.
    is_full: bool,
}

impl Patterns {
    pub(crate) fn of(written: &BTreeSet<String>) -> Patterns {
        let is_open =
            |path: &&String| path.bytes().any(|byte| matches!(byte, b'*' | b'?' | b'[' | b']' | b'{' | b'}'));
        let mut open = written.iter().filter(is_open);
        let patterns = open.by_ref().take(WRITTEN_PATTERNS_MAX).cloned().collect();
        Patterns { patterns, is_full: open.next().is_some() }
    }

    /// True if a pattern may match a file.
    pub(crate) fn may_be(&self, file: &str) -> bool {
        self.is_full || self.patterns.iter().any(|pattern| may_meet(pattern, file))
    }
}

/// True if two paths or patterns may be the same; compares only the text before and after the open parts.
pub(crate) fn may_meet(one: &str, other: &str) -> bool {
    let ends = |path| ends(path).unwrap_or((path, path));
    let ((begin, end), (other_begin, other_end)) = (ends(one), ends(other));
    if !one.contains(OPEN) && !other.contains(OPEN) {
        return one == other;
    }
    (begin.starts_with(other_begin) || other_begin.starts_with(begin))
        && (end.ends_with(other_end) || other_end.ends_with(end))
}

/// The text before and after the open parts of a pattern.
fn ends(pattern: &str) -> Option<(&str, &str)> {
    let (first, last) = (pattern.find(OPEN)?, pattern.rfind(OPEN)?);
    Some((pattern.get(..first)?, pattern.get(last + 1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_may_be_another_one() {
        let check = |written: &str, expected: bool| {
            assert_eq!(
                may_be_written(&BTreeSet::from([written.to_owned()]), "/w/lib/a.js"),
                expected,
                "{written}"
            );
        };
        for written in [
            "/w/lib/a.js",
            "/w/lib",
            "/w",
            "/w/lib/*.js",
            "/w/*/a.js",
            "/w/**",
            "/w/.git/index",
            "/w/.git/anywhere",
        ] {
            check(written, true);
        }
        for written in ["/w/lib/b.js", "/w/li", "/w/lib/*.py", "/v/*.js", "/v/.git/index", "/.git/index", ""]
        {
            check(written, false);
        }
    }

    #[test]
    fn patterns_are_told_from_paths_and_bounded() {
        let may_be = |written: &[&str], file: &str| {
            Patterns::of(&written.iter().map(|path| (*path).to_owned()).collect()).may_be(file)
        };
        assert!(may_be(&["/w/lib/*.js"], "/w/lib/a.js"));
        assert!(!may_be(&["/w/lib/*.js", "/w/lib/b.py"], "/w/lib/b.py"));
        let many: Vec<String> =
            (0..=WRITTEN_PATTERNS_MAX).map(|number| format!("/w/{number}/*.py")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(may_be(&many, "/w/lib/a.js"));
        assert!(!may_be(many.get(1..).unwrap_or_default(), "/w/lib/a.js"));
    }

    #[test]
    fn of_a_pattern_any_file_may_be_another_one() {
        let check = |written: &str, expected: bool| {
            assert_eq!(
                may_be_written(&BTreeSet::from([written.to_owned()]), "/w/lib/*.js"),
                expected,
                "{written}"
            );
        };
        for written in
            ["/w/lib/a.js", "/w/lib/b.py", "/w/lib", "/w", "/w/*/a.js", "/w/**", "/w/l*", "/w/.git/index"]
        {
            check(written, true);
        }
        for written in
            ["/w/test/a.js", "/v/lib/a.js", "/w/*/a.py", "/w/test/*.js", "/v/.git/index", "/w/library/a.js"]
        {
            check(written, false);
        }
    }
}
