//! [`Watch`]: detects changed files by checking their folders from time to time. Independent of their handling.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::file_set::rule_files;
use crate::layout::Layout;

/// Distinguishes two states of a file without its text.
type Stamp = (PathBuf, u64, u64, [i64; 4]);

/// States of the files.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// At the last check.
    seen: Option<Vec<Stamp>>,
    /// At the last reported change.
    reported: Option<Vec<Stamp>>,
}

impl Watch {
    /// Checks the rule files of a home. Returns true once for each change, after two checks have found the same state:
    /// a file that is still being written is not reported.
    pub(crate) fn has_changed(&mut self, layout: &Layout) -> bool {
        self.settled(stamps(layout))
    }

    /// Checks all files of the organisation in the same way.
    pub(crate) fn has_organisation_changed(&mut self, layout: &Layout) -> bool {
        self.settled(organisation_stamps(layout))
    }

    fn settled(&mut self, now: Vec<Stamp>) -> bool {
        let now = Some(now);
        let quiet = self.seen == now;
        let news = self.reported != now;
        self.seen.clone_from(&now);
        if quiet && news {
            self.reported = now;
        }
        quiet && news
    }
}

/// A folder or file that cannot be checked is omitted; reading it gives the error.
fn stamps(layout: &Layout) -> Vec<Stamp> {
    let dirs = [layout.rules_shipped(), layout.rules_user()];
    let files = dirs.iter().flat_map(|dir| rule_files(dir).unwrap_or_default());
    files.filter_map(|file| stamp(&file)).collect()
}

/// Includes the folders, because their owner matters, too.
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
        // The file is still being written.
        check(file(2), false);
        check(file(3), false);
        check(file(3), true);
        check(file(3), false);
        check(vec![], false);
        check(vec![], true);
        // A change that is undone before any check found it settled.
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
