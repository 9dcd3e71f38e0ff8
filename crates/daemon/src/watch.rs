//! [`Watch`]: finds out that files have changed, by looking at their folders now and then. It must not know what
//! becomes of them.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::file_set::rule_files;
use crate::layout::Layout;

/// What tells one state of a file from another, without its text.
type Stamp = (PathBuf, u64, u64, [i64; 4]);

/// Files as they were seen.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// As they were at the last look.
    seen: Option<Vec<Stamp>>,
    /// As they were when they were last said to have changed.
    told: Option<Vec<Stamp>>,
}

impl Watch {
    /// Looks at the rule files of a home. True once for each change, after two looks have found the same: a file that is being written is
    /// left alone until it is done.
    pub(crate) fn has_changed(&mut self, layout: &Layout) -> bool {
        self.settled(stamps(layout))
    }

    /// The same for all files of the organisation.
    pub(crate) fn has_organisation_changed(&mut self, layout: &Layout) -> bool {
        self.settled(organisation_stamps(layout))
    }

    fn settled(&mut self, now: Vec<Stamp>) -> bool {
        let now = Some(now);
        let quiet = self.seen == now;
        let news = self.told != now;
        self.seen.clone_from(&now);
        if quiet && news {
            self.told = now;
        }
        quiet && news
    }
}

/// A folder or file that cannot be looked at counts as gone: reading it will say why.
fn stamps(layout: &Layout) -> Vec<Stamp> {
    let dirs = [layout.rules_shipped(), layout.rules_user()];
    let files = dirs.iter().flat_map(|dir| rule_files(dir).unwrap_or_default());
    files.filter_map(|file| stamp(&file)).collect()
}

/// With the folders: whose they are counts too.
fn organisation_stamps(layout: &Layout) -> Vec<Stamp> {
    let dir = &layout.organisation().dir;
    let rules = dir.join("rules");
    let fixed = [dir.clone(), dir.join("config.toml"), rules.clone()];
    let files = fixed.into_iter().chain(rule_files(&rules).unwrap_or_default());
    files.filter_map(|file| stamp(&file)).collect()
}

fn stamp(file: &Path) -> Option<Stamp> {
    let found = std::fs::metadata(file).ok()?;
    let times = [found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()];
    Some((file.to_owned(), found.ino(), found.size(), times))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_told_once_and_only_when_it_is_done() {
        let file = |size| vec![(PathBuf::from("/a.yaml"), 1, size, [0; 4])];
        let mut watch = Watch::default();
        let mut check =
            |files: Vec<Stamp>, expected| assert_eq!(watch.settled(files.clone()), expected, "{files:?}");
        check(file(1), false);
        check(file(1), true);
        check(file(1), false);
        // Being written.
        check(file(2), false);
        check(file(3), false);
        check(file(3), true);
        check(file(3), false);
        check(vec![], false);
        check(vec![], true);
        // There and back between two looks of which none found it settled.
        check(file(1), false);
        check(vec![], false);
        check(vec![], false);
    }

    #[test]
    fn every_way_to_change_a_file_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::read(dir.path()).unwrap();
        layout.create().unwrap();
        let (user, shipped) = (layout.rules_user(), layout.rules_shipped());
        let mut before = stamps(&layout);
        let mut check = |what: &str, change: &dyn Fn() -> std::io::Result<()>| {
            change().unwrap();
            let now = stamps(&layout);
            assert_ne!(now, before, "{what}");
            before = now;
        };
        let new = user.join("new");
        check("new", &|| std::fs::write(user.join("a.yaml"), "1"));
        check("longer", &|| std::fs::write(user.join("a.yaml"), "12"));
        check("replaced", &|| {
            std::fs::write(&new, "34").and_then(|()| std::fs::rename(&new, user.join("a.yaml")))
        });
        check("moved", &|| std::fs::rename(user.join("a.yaml"), shipped.join("a.yaml")));
        check("renamed", &|| std::fs::rename(shipped.join("a.yaml"), shipped.join("b.yml")));
        check("gone", &|| std::fs::remove_file(shipped.join("b.yml")));
    }
}
