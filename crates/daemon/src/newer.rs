//! [`check`]: refuses a home whose state or log a newer castellan wrote. An older one would set the state aside as damaged,
//! with every halt and grant in it. [`check_whole`] also tries what a daemon needs to serve.

use std::path::PathBuf;

use crate::applied::{self, AppliedError};
use crate::layout::Layout;
use crate::memory;
use crate::policy_state::Ready;

/// A file of a newer castellan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{file}` has format version {version}, of a newer castellan than this one ({own}): install that castellan again. To go \
     on with this one, move the file away: what it holds is then not in force",
    file = .file.display(),
    own = env!("CARGO_PKG_VERSION")
)]
pub struct Newer {
    /// The file.
    pub file: PathBuf,
    /// The version of its format.
    pub version: u64,
}

/// Refuses formats that this castellan does not know. Changes nothing.
pub(crate) fn check(layout: &Layout) -> Result<(), Newer> {
    let journal = memory::newer_format(&layout.journal()).map(|version| (layout.journal(), version));
    let log = castellan_audit::newer_format(&layout.log()).map(|(file, version)| (file, version.into()));
    match journal.or(log) {
        Some((file, version)) => Err(Newer { file, version }),
        None => Ok(()),
    }
}

/// Also refuses an applied set that does not load: a daemon that serves with it would be replaced by one that denies
/// everything but reading. Returns the loaded set.
pub(crate) fn check_whole(layout: &Layout) -> Result<Option<Ready>, String> {
    check(layout).map_err(|newer| newer.to_string())?;
    match applied::read(layout) {
        Ok(set) => match set.load(layout) {
            Ok(loaded) => Ok(Some((set, loaded))),
            Err(why) => Err(format!("the rules in force do not load: {why}")),
        },
        Err(AppliedError::None) => Ok(None),
        Err(error @ AppliedError::Unreadable(..)) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use castellan_files::write_private;

    use super::*;

    #[test]
    fn state_and_log_of_a_newer_castellan_are_refused_with_a_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::read(dir.path()).unwrap();
        layout.create().unwrap();
        assert_eq!(check(&layout), Ok(()));
        let header = |version: u64| format!("{{\"castellan_journal\":{version},\"more\":1}}\n");
        for (version, is_newer) in [(1, false), (7, false), (8, true), (u64::MAX, true)] {
            write_private(&layout.journal(), header(version).as_bytes()).unwrap();
            let expected = Newer { file: layout.journal(), version };
            assert_eq!(check(&layout).err(), is_newer.then_some(expected), "{version}");
        }
        let why = check(&layout).unwrap_err().to_string();
        assert!(why.contains("install that castellan again") && why.contains("move the file away"), "{why}");
        // Other damage is no newer format.
        for damaged in ["", "{}\n", "nonsense\n", "{\"castellan_journal\":8}"] {
            write_private(&layout.journal(), damaged.as_bytes()).unwrap();
            assert_eq!(check(&layout), Ok(()), "{damaged:?}");
        }
        let log = layout.log().join("notable.jsonl");
        write_private(&log, b"{\"v\":3,\"type\":\"anchor\"}\n").unwrap();
        assert_eq!(check(&layout), Err(Newer { file: log, version: 3 }));
    }

    #[test]
    fn a_set_that_does_not_load_is_refused_before_a_handover() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::read(dir.path()).unwrap();
        layout.create().unwrap();
        assert!(check_whole(&layout).unwrap().is_none());
        let check = |text: &str, part: &str| {
            write_private(&layout.applied().join("policy.json"), text.as_bytes()).unwrap();
            let why = check_whole(&layout).unwrap_err();
            assert!(why.contains(part), "{part}: {why}");
        };
        check(r#"{"version":9}"#, "its version is 9");
        check(
            r#"{"version":1,"config":"version = 2\n","sources":[]}"#,
            "`version` is 2, but this castellan reads 1: update castellan",
        );
        let sound = r#"{"version":1,"config":"version = 1\n","sources":[]}"#;
        write_private(&layout.applied().join("policy.json"), sound.as_bytes()).unwrap();
        assert!(check_whole(&layout).unwrap().is_some());
    }
}
