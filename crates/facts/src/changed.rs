//! [`ChangedPath`]: a path that a call wrote or may be changing, and the test whether a file may be among such paths.
//! It must not know who wrote them.

use std::collections::BTreeSet;

use crate::limits::WRITTEN_PATTERNS_MAX;

/// A path that a call wrote or may be changing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangedPath<'p> {
    /// A file, or a pattern for files.
    File(&'p str),
    /// The root of a work tree of which version control changes files that the call does not name.
    Tree(&'p str),
    /// The root of a directory in which a write to an unknown path may have changed any file.
    Anywhere(&'p str),
    /// The settings file of a repository in which a call set the address of a remote.
    Remotes(&'p str),
}

impl ChangedPath<'_> {
    /// Returns the form in which sets of changed paths and the journal hold it. Git writes the index whenever it changes
    /// files of the work tree, so a work tree is the path of its index. Git has no file `.git/anywhere`, and none below its
    /// settings file.
    pub fn stored(self) -> String {
        let below = |root: &str, name: &str| format!("{}/.git/{name}", root.trim_end_matches('/'));
        match self {
            ChangedPath::File(path) => path.to_owned(),
            ChangedPath::Tree(root) => below(root, "index"),
            ChangedPath::Anywhere(root) => below(root, "anywhere"),
            ChangedPath::Remotes(settings) => format!("{settings}/remotes"),
        }
    }

    /// Reports whether a set of changed paths holds it.
    pub(crate) fn is_in(self, paths: &BTreeSet<String>) -> bool {
        paths.contains(&self.stored())
    }
}

/// Reports whether any file below a root may have changed.
pub(crate) fn is_any_below(root: &str, paths: &BTreeSet<String>) -> bool {
    ChangedPath::Tree(root).is_in(paths) || ChangedPath::Anywhere(root).is_in(paths)
}

/// Characters that begin or end an open part of a pattern.
pub(crate) const OPEN: &[char] = &['*', '?', '[', ']', '{', '}'];

/// True if the written paths mean that a file may have changed: the paths name the file, or any file of its work tree may
/// have changed. For a pattern: any file that it matches, or any file below its fixed directory.
pub fn may_be_written(written: &BTreeSet<String>, file: &str) -> bool {
    names(written, file) || directories(file).any(|path| is_any_below(path, written))
}

/// True if paths name a file: itself, a directory above it, or a pattern that may match it. For a pattern: any file that it
/// matches, or any file below its fixed directory.
pub fn names(written: &BTreeSet<String>, file: &str) -> bool {
    let known = file.find(OPEN).and_then(|at| file.get(..at));
    let below = known.and_then(|known| known.get(..=known.rfind('/')?));
    directories(file).any(|path| written.contains(path))
        || written
            .iter()
            .any(|path| may_meet(path, file) || below.is_some_and(|below| path.starts_with(below)))
}

/// True if paths hold a file or a directory above it. For a pattern: a file that it may match.
pub(crate) fn is_named(paths: &BTreeSet<String>, file: &str) -> bool {
    // A path without an open part is the same as another one or above it, which the set finds faster.
    let is_open = file.contains(OPEN);
    !paths.is_empty()
        && (directories(file).any(|path| paths.contains(path))
            || paths.iter().filter(|path| is_open || path.contains(OPEN)).any(|path| may_meet(path, file)))
}

/// True if a write to an unknown path may have changed the file.
pub fn may_be_anywhere(written: &BTreeSet<String>, file: &str) -> bool {
    directories(file).any(|path| ChangedPath::Anywhere(path).is_in(written))
}

/// The directories above a file, and the file.
pub(crate) fn directories(file: &str) -> impl Iterator<Item = &str> {
    let above = file.match_indices('/').filter_map(|(at, _)| file.get(..at));
    above.chain([file]).filter(|path| !path.is_empty())
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
