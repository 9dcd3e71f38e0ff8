//! [`Overlay`]: what earlier commands of the same call have changed in the world, which the world does not know yet. It must
//! not know programs.

use std::collections::{BTreeMap, BTreeSet};

/// Paths that were written, and links that were made.
#[derive(Debug, Clone, Default)]
pub(crate) struct Overlay {
    /// Paths that commands of this call have written.
    written: Vec<String>,
    /// Those of them that were written in a way that the walk does not follow.
    changed: BTreeSet<String>,
    /// Those of them that came from the network.
    downloaded: BTreeSet<String>,
    /// Links that commands of this call have made, with what each leads to.
    links: BTreeMap<String, String>,
}

impl Overlay {
    /// A command writes a path. `is_followed`: the walk knows what.
    pub(crate) fn write(&mut self, path: &str, is_followed: bool) {
        self.written.push(path.to_owned());
        if !is_followed {
            self.changed.insert(path.to_owned());
        }
    }

    pub(crate) fn link(&mut self, path: &str, target: &str) {
        self.links.insert(path.to_owned(), target.to_owned());
    }

    /// Whether a command of this call has written the path.
    pub(crate) fn has_written(&self, path: &str) -> bool {
        self.written.iter().any(|written| written == path)
    }

    /// Whether one has, and the walk does not know what.
    pub(crate) fn has_changed(&self, path: &str) -> bool {
        self.changed.contains(path)
    }

    /// What was written there came from the network.
    pub(crate) fn download(&mut self, path: &str) {
        self.downloaded.insert(path.to_owned());
    }

    /// Whether what was written to one of these paths came from the network.
    pub(crate) fn has_downloaded(&self, path: &str) -> bool {
        self.downloaded.contains(path)
    }

    /// Where a path leads, through links that this call has made. A link to a link is followed as far as there are links.
    pub(crate) fn follow(&self, path: &str) -> Option<String> {
        let mut path = path.to_owned();
        let mut moved = false;
        for _ in 0..=self.links.len() {
            let Some(next) = self.links.iter().find_map(|(link, target)| {
                let rest = path.strip_prefix(link.as_str())?;
                (rest.is_empty() || rest.starts_with('/')).then(|| format!("{target}{rest}"))
            }) else {
                break;
            };
            path = next;
            moved = true;
        }
        moved.then_some(path)
    }
}
