//! [`Session`]: the facts of the session that do not change within a call: its setting, places and process, and what
//! earlier and running calls have changed.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use castellan_event::{Answer, Call, Process, Query, Recorder};

use crate::Setting;
use crate::changed::{ChangedPath, Patterns, is_named, may_be_anywhere};
use crate::guard::Guarded;
use crate::path::Places;

pub(crate) struct Session<'s> {
    pub(crate) setting: &'s Setting,
    pub(crate) places: Places,
    /// The agent's process, as far as the world could read it.
    pub(crate) process: Option<Process>,
    /// The files that guard the session. Computed at the first change.
    guarded: OnceCell<Guarded>,
    /// The patterns among the paths that earlier calls wrote, and among the paths that running calls may change.
    written_patterns: OnceCell<Patterns>,
    changing_patterns: OnceCell<Patterns>,
}

impl<'s> Session<'s> {
    pub(super) fn new(call: &Call, setting: &'s Setting, world: &mut Recorder<'_>) -> Session<'s> {
        let process = match world.ask(Query::Process { pid: call.agent.pid }) {
            Some(Answer::Process(process)) => process,
            _ => None,
        };
        let places = Places::of_session(
            process.as_ref(),
            Some(&setting.workspace).filter(|path| !path.is_empty()).map(String::as_str),
            &setting.own,
        );
        Session {
            setting,
            places,
            process,
            guarded: OnceCell::new(),
            written_patterns: OnceCell::new(),
            changing_patterns: OnceCell::new(),
        }
    }

    pub(crate) fn guarded(&self) -> &Guarded {
        self.guarded.get_or_init(|| Guarded::of(&self.places))
    }

    /// Files below a directory that an earlier call of the session wrote. `begin`: the directory with its slash.
    pub(super) fn written_below<'p>(&'p self, begin: &'p str) -> impl Iterator<Item = &'p String> {
        let below = |paths: &'p BTreeSet<String>| {
            paths.range(begin.to_owned()..).take_while(move |path| path.starts_with(begin))
        };
        below(&self.setting.written).chain(below(&self.setting.contained))
    }

    /// True if a contained command wrote the file, a directory above it, or a directory whose contents are unknown.
    pub(crate) fn is_contained(&self, path: &str) -> bool {
        let contained = &self.setting.contained;
        !contained.is_empty() && (is_named(contained, path) || may_be_anywhere(contained, path))
    }

    /// True if an earlier call of the session has written anything.
    pub(super) fn has_changes(&self) -> bool {
        let Setting { written, downloaded, contained, written_is_full, .. } = self.setting;
        !written.is_empty() || !downloaded.is_empty() || !contained.is_empty() || *written_is_full
    }

    /// True if an earlier call of the session wrote, or may have written, the file or a directory above it.
    pub(crate) fn has_written_on_way(&self, path: &str) -> bool {
        let Setting { written, downloaded, written_is_full, .. } = self.setting;
        let mut paths = path.match_indices('/').filter_map(|(at, _)| path.get(..at)).chain([path]);
        *written_is_full
            || paths.any(|path| written.contains(path) || downloaded.contains(path))
            || self.is_contained(path)
            || self.may_have_written(path)
    }

    /// True if an earlier call may have written the file without naming it: by a pattern, or anywhere in the workspace.
    pub(super) fn may_have_written(&self, path: &str) -> bool {
        let workspace = self.setting.workspace.trim_end_matches('/');
        let is_inside = || path.strip_prefix(workspace).is_some_and(|rest| rest.starts_with('/'));
        let is_anywhere = || ChangedPath::Anywhere(workspace).is_in(&self.setting.written);
        self.fits_written(path) || is_inside() && is_anywhere()
    }

    /// True if an earlier call of the session wrote the file, by its name or by a pattern that may match the name.
    pub(crate) fn has_written(&self, path: &str) -> bool {
        self.setting.written.contains(path) || self.is_contained(path) || self.fits_written(path)
    }

    fn fits_written(&self, path: &str) -> bool {
        self.written_patterns.get_or_init(|| Patterns::of(&self.setting.written)).may_be(path)
    }

    /// True if a running call may be changing the path, a directory above it, or a pattern that may match it.
    pub(crate) fn is_changing(&self, path: &str) -> bool {
        let mut ancestors = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        let fits =
            || self.changing_patterns.get_or_init(|| Patterns::of(&self.setting.changing)).may_be(path);
        let changing = &self.setting.changing;
        !changing.is_empty()
            && (changing.contains(path) || ancestors.any(|path| changing.contains(path)) || fits())
    }
}
