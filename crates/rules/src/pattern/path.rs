//! Sets of path prefixes, as `pmatch` tests them: component by component, ignoring empty components. A component of the
//! set with `?`, `*` or `[` is a glob for one component.

use std::collections::HashMap;

use crate::pattern::Glob;

/// A set of path prefixes.
#[derive(Debug, Default)]
pub(crate) struct PathSet {
    root: Dir,
}

/// The continuations after a common prefix.
#[derive(Debug, Default)]
struct Dir {
    /// A path of the set ends here, so everything below matches.
    end: bool,
    names: HashMap<Box<[u8]>, Dir>,
    globs: Vec<(Glob, Dir)>,
}

impl PathSet {
    pub(crate) fn new<'p>(paths: impl IntoIterator<Item = &'p [u8]>) -> Self {
        let mut set = Self::default();
        for path in paths {
            let mut dir = &mut set.root;
            for name in components(path) {
                dir = if name.iter().any(|byte| matches!(byte, b'?' | b'*' | b'[')) {
                    dir.globs.push((Glob::new(name), Dir::default()));
                    match dir.globs.last_mut() {
                        Some((_, dir)) => dir,
                        None => break,
                    }
                } else {
                    dir.names.entry(name.into()).or_default()
                };
            }
            dir.end = true;
        }
        set
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.root.is_empty()
    }

    /// Returns texts such that every matching path contains one of them; `None` when there are no such texts.
    pub(crate) fn literals(&self) -> Option<Vec<Box<[u8]>>> {
        let mut literals = Vec::new();
        self.root.literals(b"", &mut literals).then_some(literals)
    }

    /// Reports whether a path of the set is a prefix of this path.
    pub(crate) fn matches(&self, path: &[u8]) -> bool {
        // Every prefix that still matches. A path of n components and a set of m never cost more than n times m.
        let mut open = vec![&self.root];
        let mut names = components(path);
        loop {
            if open.iter().any(|dir| dir.end) {
                return true;
            }
            let Some(name) = names.next().filter(|_| !open.is_empty()) else { return false };
            open = open.iter().flat_map(|dir| dir.under(name)).collect();
        }
    }
}

impl Dir {
    fn is_empty(&self) -> bool {
        !self.end && self.names.is_empty() && self.globs.is_empty()
    }

    /// Adds, for each path that ends here or below, the longest text that its components must contain. `longest` is the
    /// longest such text of the components above. Returns whether every path has a text.
    fn literals(&self, longest: &[u8], literals: &mut Vec<Box<[u8]>>) -> bool {
        if self.end {
            // Paths below match only if this path matches.
            literals.push(longest.into());
            return !longest.is_empty();
        }
        let longer = |text: &[u8]| text.len() > longest.len();
        let names = self
            .names
            .iter()
            .all(|(name, dir)| dir.literals(if longer(name) { name } else { longest }, literals));
        names
            && self.globs.iter().all(|(glob, dir)| {
                let own = glob.literals().into_iter().max_by_key(|run| run.len()).filter(|run| longer(run));
                dir.literals(own.as_deref().unwrap_or(longest), literals)
            })
    }

    fn under<'d>(&'d self, name: &[u8]) -> impl Iterator<Item = &'d Self> {
        let globs = self.globs.iter().filter(|(glob, _)| glob.matches(name)).map(|(_, dir)| dir);
        self.names.get(name).into_iter().chain(globs.collect::<Vec<_>>())
    }
}

fn components(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::PathSet;

    #[test]
    fn prefixes() {
        for (set, path, expected) in [
            (&["/etc"][..], "/etc", true),
            (&["/etc"], "/etc/", true),
            (&["/etc"], "//etc//passwd", true),
            (&["/etc"], "/etcx", false),
            (&["etc"], "/etc/passwd", true),
            (&["/home/u"], "/home", false),
            (&["/"], "", true),
            (&[""], "/x", true),
            (&[], "/x", false),
            (&["/home/*/p"], "/home/v/p/q", true),
            (&["/home/*/p"], "/home/v/x", false),
            (&["/home/?/p"], "/home/uv/p", false),
            (&["/a/*/b", "/a/x*/c"], "/a/xy/c", true),
            (&["/a/b/c", "/a"], "/a/z", true),
        ] {
            let compiled = PathSet::new(set.iter().map(|path| path.as_bytes()));
            assert_eq!(compiled.matches(path.as_bytes()), expected, "{set:?} on {path}");
        }
    }
}
