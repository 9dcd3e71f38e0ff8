//! [`Overlay`]: what earlier commands of the same call have changed in the world, which the world does not know yet. It must
//! not know programs.

use std::collections::{BTreeMap, BTreeSet};

use crate::limits::LINKS_MAX;

/// Paths that were written, and links that were made.
#[derive(Debug, Clone, Default)]
pub(crate) struct Overlay {
    /// Paths that commands of this call have written, with when they last did.
    written: BTreeMap<String, usize>,
    /// What the walk calls those of them that it follows.
    followed: BTreeMap<String, String>,
    /// Those of them that were written in a way that the walk does not follow.
    changed: BTreeSet<String>,
    /// Directories below which anything may have been written, moved or deleted: by an archive, a copy, a clone.
    /// With how the names end of what it may be: all names do so that are not known.
    trees: BTreeMap<String, BTreeMap<String, usize>>,
    /// Those of the directories into which something else than version control has put files.
    strange: BTreeSet<String>,
    /// Paths that were deleted or moved away, whatever came there after.
    removed: BTreeSet<String>,
    /// Changes so far.
    now: usize,
    /// Those of the paths that came from the network.
    downloaded: BTreeSet<String>,
    /// Links that commands of this call have made, with what each leads to.
    links: BTreeMap<String, String>,
}

impl Overlay {
    /// A command writes a path. `followed`: the walk knows what, and this is what it calls the path. One that it knows by two
    /// names, through a symlink, it does not know.
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

    /// A command may have changed anything below a path.
    pub(crate) fn change_below(&mut self, path: &str) {
        self.change_named(path, "");
    }

    /// The same of files whose names end so.
    pub(crate) fn change_named(&mut self, path: &str, ending: &str) {
        self.now += 1;
        self.trees.entry(path.to_owned()).or_default().insert(ending.to_owned(), self.now);
    }

    /// A command puts files below a path of which nobody knows which: a copy, an archive.
    pub(crate) fn put_below(&mut self, path: &str) {
        self.change_below(path);
        self.strange.insert(path.to_owned());
    }

    /// A command deletes a path, or moves it away.
    pub(crate) fn remove(&mut self, path: &str) {
        self.removed.insert(path.to_owned());
    }

    /// Whether a path may be gone that the world tells of.
    pub(crate) fn may_be_gone(&self, path: &str) -> bool {
        self.removed.contains(path)
    }

    pub(crate) fn link(&mut self, path: &str, target: &str) {
        self.links.insert(path.to_owned(), target.to_owned());
    }

    /// Whether the call has changed nothing so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.now == 0
    }

    /// How often the call has changed something so far.
    pub(crate) fn changes(&self) -> usize {
        self.now
    }

    /// Whether a command of this call has written the path by its name.
    pub(crate) fn has_named(&self, path: &str) -> bool {
        self.written.contains_key(path)
    }

    /// Whether one has put files that nobody has read below a directory that the path lies in.
    pub(crate) fn has_strange(&self, path: &str) -> bool {
        let mut above = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        !self.strange.is_empty() && above.any(|path| self.strange.contains(path))
    }

    /// Whether a command of this call has put the path there, alone or with a directory. Version control puts no settings of its own
    /// into a work tree.
    pub(crate) fn has_put(&self, path: &str) -> bool {
        self.has_named(path) || self.has_strange(path)
    }

    /// Whether a command of this call has written the path, or may have done so.
    pub(crate) fn has_written(&self, path: &str) -> bool {
        self.written.contains_key(path) || self.tree_changed(path).is_some()
    }

    /// Whether one has written the path or a directory that it lies in, or may have done so.
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

    /// The paths that commands of this call have written and that begin so.
    pub(crate) fn written_below(&self, begin: &str) -> impl Iterator<Item = String> {
        let from = self.written.range(begin.to_owned()..);
        from.map(|(path, _)| path).take_while(move |path| path.starts_with(begin)).cloned()
    }

    /// Whether a directory that a path lies in was written: that is what lies in it by then.
    pub(crate) fn has_written_above(&self, path: &str) -> bool {
        let mut above = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        above.any(|path| self.written.contains_key(path))
    }

    /// Whether any path in a directory, or one that it lies in, was written or may have been, or a link was made there.
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

    /// Whether one has, and the walk does not know what.
    pub(crate) fn has_changed(&self, path: &str) -> bool {
        self.changed.contains(path) || self.tree_changed(path) > self.written.get(path).copied()
    }

    /// When anything below a directory that holds the path last changed.
    fn tree_changed(&self, path: &str) -> Option<usize> {
        if self.trees.is_empty() {
            return None;
        }
        let above = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        let trees = above.chain([path]).filter_map(|path| self.trees.get(path)).flatten();
        trees.filter(|(ending, _)| path.ends_with(ending.as_str())).map(|(_, when)| *when).max()
    }

    /// What was written there came from the network.
    pub(crate) fn download(&mut self, path: &str) {
        self.downloaded.insert(path.to_owned());
        self.change_below(path);
    }

    /// Whether what was written to one of these paths came from the network.
    pub(crate) fn has_downloaded(&self, path: &str) -> bool {
        self.downloaded.contains(path)
    }

    /// Where a path leads, through links that this call has made. A link to a link is followed, as far as Linux follows them.
    /// `last`: the path itself may be one, too, and not only a directory on the way to it.
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

    /// The path with the first link on its way replaced by what it leads to.
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

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Way {
    /// No link of this call stands on it.
    Same,
    /// There.
    Elsewhere(String),
    /// Through more links than are followed, as a loop does.
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
