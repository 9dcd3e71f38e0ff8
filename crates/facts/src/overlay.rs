//! [`Overlay`]: changes by earlier commands of the call, which the world does not show yet. Must not know programs.

use std::collections::{BTreeMap, BTreeSet};

use crate::limits::LINKS_MAX;

/// Written paths and created links.
#[derive(Debug, Clone, Default)]
pub(crate) struct Overlay {
    /// Paths that commands of this call have written, with the time of the last write.
    written: BTreeMap<String, usize>,
    /// Names that the walk uses for written paths whose content it follows.
    followed: BTreeMap<String, String>,
    /// Written paths whose content the walk does not follow.
    changed: BTreeSet<String>,
    /// Directories below which an archive, a copy or a clone may have written, moved or deleted anything. Each has the
    /// endings of the names that may have changed; an empty ending matches all names.
    trees: BTreeMap<String, BTreeMap<String, usize>>,
    /// Directories in `trees` into which something other than version control has put files.
    strange: BTreeSet<String>,
    /// Paths that were deleted or moved away, even if written again later.
    removed: BTreeSet<String>,
    /// Number of changes so far, used as a clock.
    now: usize,
    /// Written paths whose content came from the network.
    downloaded: BTreeSet<String>,
    /// Links that commands of this call have made, with their targets.
    links: BTreeMap<String, String>,
}

impl Overlay {
    /// Records that a command writes a path. `followed`: the name of the path in the walk, if the walk follows the
    /// content. A path that the walk knows by two names, through a symlink, is not followed.
    pub(crate) fn write(&mut self, path: &str, followed: Option<String>) {
        self.now += 1;
        self.written.insert(path.to_owned(), self.now);
        let is_followed = followed.is_some_and(|name| match self.followed.get(path) {
            Some(before) => *before == name,
            None => self.followed.insert(path.to_owned(), name).is_none(),
        });
        if !is_followed {
            self.changed.insert(path.to_owned());
        }
    }

    /// Records that a command may have changed anything below a path.
    pub(crate) fn change_below(&mut self, path: &str) {
        self.change_named(path, "");
    }

    /// Records that a command may have changed files below a path whose names end with `ending`.
    pub(crate) fn change_named(&mut self, path: &str, ending: &str) {
        self.now += 1;
        self.trees.entry(path.to_owned()).or_default().insert(ending.to_owned(), self.now);
    }

    /// Records that a command puts unknown files below a path: a copy, an archive.
    pub(crate) fn put_below(&mut self, path: &str) {
        self.change_below(path);
        self.strange.insert(path.to_owned());
    }

    /// Records that a command deletes a path, or moves it away.
    pub(crate) fn remove(&mut self, path: &str) {
        self.removed.insert(path.to_owned());
    }

    /// Returns true if a path that exists in the world may be gone.
    pub(crate) fn may_be_gone(&self, path: &str) -> bool {
        self.removed.contains(path)
    }

    pub(crate) fn link(&mut self, path: &str, target: &str) {
        self.links.insert(path.to_owned(), target.to_owned());
    }

    /// Returns true if the call has changed nothing so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.now == 0
    }

    /// Returns the number of changes so far.
    pub(crate) fn changes(&self) -> usize {
        self.now
    }

    /// Returns true if a command of this call has written the path by its name.
    pub(crate) fn has_named(&self, path: &str) -> bool {
        self.written.contains_key(path)
    }

    /// Returns true if a command has put unread files below a directory above the path.
    pub(crate) fn has_strange(&self, path: &str) -> bool {
        let mut above = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        !self.strange.is_empty() && above.any(|path| self.strange.contains(path))
    }

    /// Returns true if a command of this call has created the path, alone or with a directory. Version control puts no
    /// settings of its own into a work tree.
    pub(crate) fn has_put(&self, path: &str) -> bool {
        self.has_named(path) || self.has_strange(path)
    }

    /// Returns true if a command of this call has written the path, or may have done so.
    pub(crate) fn has_written(&self, path: &str) -> bool {
        self.written.contains_key(path) || self.tree_changed(path).is_some()
    }

    /// Returns true if a command has written the path or a directory above it, or may have done so.
    pub(crate) fn has_written_on_way(&self, path: &str) -> bool {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.filter_map(|end| path.split_at_checked(end)).any(|(way, rest)| {
            let may_end = |ending: &String| {
                rest.ends_with(ending.as_str())
                    || rest.match_indices(ending.as_str()).any(|(at, _)| {
                        rest.get(at + ending.len()..).is_some_and(|behind| behind.starts_with('/'))
                    })
            };
            self.written.contains_key(way)
                || self.trees.get(way).is_some_and(|endings| endings.keys().any(may_end))
        })
    }

    /// Returns the paths with this prefix that commands of this call have written.
    pub(crate) fn written_below(&self, begin: &str) -> impl Iterator<Item = String> {
        let from = self.written.range(begin.to_owned()..);
        from.map(|(path, _)| path).take_while(move |path| path.starts_with(begin)).cloned()
    }

    /// Returns true if a directory above the path was written: the path is then in the new directory.
    pub(crate) fn has_written_above(&self, path: &str) -> bool {
        let mut above = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        above.any(|path| self.written.contains_key(path))
    }

    /// Returns true if a path in or above a directory was or may have been written, or a link was made there.
    pub(crate) fn has_changed_around(&self, directory: &str) -> bool {
        let is_below = |one: &str, other: &str| {
            one.strip_prefix(other.trim_end_matches('/'))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let is_around = |path: &String| is_below(path, directory) || is_below(directory, path);
        self.written.keys().any(|path| is_below(path, directory))
            || self.trees.keys().any(is_around)
            || self.links.keys().any(is_around)
    }

    /// Returns true if a command has written the path, and the walk does not know the content.
    pub(crate) fn has_changed(&self, path: &str) -> bool {
        self.changed.contains(path) || self.tree_changed(path) > self.written.get(path).copied()
    }

    /// Returns the time of the last change below a directory that holds the path.
    fn tree_changed(&self, path: &str) -> Option<usize> {
        if self.trees.is_empty() {
            return None;
        }
        let above = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        let trees = above.chain([path]).filter_map(|path| self.trees.get(path)).flatten();
        trees.filter(|(ending, _)| path.ends_with(ending.as_str())).map(|(_, when)| *when).max()
    }

    /// Records that the content written to a path came from the network.
    pub(crate) fn download(&mut self, path: &str) {
        self.downloaded.insert(path.to_owned());
        self.change_below(path);
    }

    /// Returns true if the content written to this path came from the network.
    pub(crate) fn has_downloaded(&self, path: &str) -> bool {
        self.downloaded.contains(path)
    }

    /// Resolves a path through links that this call has made. A link to a link is followed up to the limit of Linux.
    /// `last`: also follow the last component, not only the directories above it.
    pub(crate) fn follow(&self, path: &str, last: bool) -> Way {
        let Some(mut path) = self.next(path, last) else { return Way::Same };
        for _ in 1..LINKS_MAX {
            match self.next(&path, last) {
                Some(next) => path = next,
                None => return Way::Elsewhere(path),
            }
        }
        Way::Endless
    }

    /// Replaces the first link on the path by its target.
    fn next(&self, path: &str, last: bool) -> Option<String> {
        if self.links.is_empty() {
            return None;
        }
        let ends = path.match_indices('/').map(|(at, _)| at).chain(last.then_some(path.len()));
        ends.filter_map(|at| path.split_at_checked(at)).find_map(|(start, rest)| {
            let target = self.links.get(start)?;
            Some(format!("{target}{rest}"))
        })
    }
}

/// Result of resolving a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Way {
    /// The path contains no link of this call.
    Same,
    /// The path resolves to this one.
    Elsewhere(String),
    /// The path has more links than are followed, as in a loop.
    Endless,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_what_was_written_was_written() {
        let mut overlay = Overlay::default();
        overlay.write("/w/made", None);
        overlay.change_below("/w/tree");
        overlay.change_named("/w/some", ".d");
        let check = |path: &str, expected: bool| {
            assert_eq!(overlay.has_written_on_way(path), expected, "{path}");
        };
        for path in ["/w/made", "/w/made/a/b", "/w/tree", "/w/tree/a", "/w/some/a.d", "/w/some/a.d/b/c"] {
            check(path, true);
        }
        for path in ["/w", "/w/mad", "/w/madeup", "/w/trees/a", "/w/some/a.dd", "/w/some/a.d.e/b", "/v/made"]
        {
            check(path, false);
        }
    }
}
