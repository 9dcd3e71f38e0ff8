//! [`Scene`]: the state for finding the effects of one call: the session, the world, the call's own earlier changes,
//! and the remaining work. Each part is a type of its own; the methods here need several of them.

mod budget;
mod contained;
mod exports;
mod files;
mod locations;
mod session;

use std::collections::BTreeSet;

use castellan_event::{Answer, Call, FileKind, FileOrigin, Query, Recorder, Scope};
use castellan_programs::Arg;

pub(crate) use budget::Budget;
pub(crate) use exports::Exports;
pub(crate) use files::{Files, Known};
pub(crate) use session::Session;

use crate::Setting;
use crate::names::Names;
use crate::overlay::Overlay;
use crate::path::{Last, Located};
use crate::secrets::SecretReads;
use contained::Taken;
use locations::Locations;

pub(crate) struct Scene<'s, 'w, 'r> {
    pub(crate) session: Session<'s>,
    pub(crate) world: &'r mut Recorder<'w>,
    pub(crate) names: Names,
    pub(crate) overlay: Overlay,
    pub(crate) budget: Budget,
    pub(crate) exports: Exports,
    pub(crate) files: Files,
    /// Commands that read secrets.
    pub(crate) secrets: SecretReads,
    /// Files into which the call puts what it reads from secrets.
    pub(crate) copies: BTreeSet<String>,
    /// The call makes more copies than are stored.
    pub(crate) has_more_copies: bool,
    /// This call, as far as it was analysed, or an earlier call of the session has opened a tunnel.
    pub(crate) has_tunnel: bool,
    /// Files of settings that were not read as what they make a program of the call do.
    pub(crate) unread: BTreeSet<String>,
    /// Directories below which version control changes files during the call.
    pub(crate) changed_trees: BTreeSet<String>,
    /// Files of contained commands that run or are loaded in this call.
    pub(crate) contained: BTreeSet<String>,
    /// What version control does to such files.
    pub(crate) taken: Taken,
    /// The call passes unknown input to the code of a file.
    pub(crate) is_code_given_unknown: bool,
    /// Tasks whose analysis is in progress; prevents endless recursion.
    pub(crate) open_tasks: Vec<String>,
    locations: Locations,
}

impl<'s, 'w, 'r> Scene<'s, 'w, 'r> {
    pub(crate) fn new(call: &Call, setting: &'s Setting, world: &'r mut Recorder<'w>) -> Scene<'s, 'w, 'r> {
        let session = Session::new(call, setting, world);
        let names = Names::new(session.process.as_ref());
        Scene {
            session,
            world,
            names,
            overlay: Overlay::default(),
            budget: Budget::new(),
            exports: Exports::default(),
            files: Files::default(),
            secrets: SecretReads::default(),
            copies: BTreeSet::new(),
            has_more_copies: false,
            has_tunnel: setting.has_tunnel,
            unread: BTreeSet::new(),
            changed_trees: BTreeSet::new(),
            contained: BTreeSet::new(),
            taken: Taken::default(),
            is_code_given_unknown: false,
            open_tasks: Vec::new(),
            locations: Locations::default(),
        }
    }

    /// True if the path is a file, not a directory, when the call reaches it.
    pub(crate) fn is_file_there(&mut self, path: &str) -> bool {
        let kind = self.world.ask(Query::FileKind { path: path.to_owned() });
        let is_there = !matches!(kind, Some(Answer::FileKind(FileKind::Missing | FileKind::Directory)));
        is_there || self.overlay.has_written(path) || self.files.has_text(path)
    }

    /// Returns true if a path is a file, before the call or after one of its commands. A written directory is none.
    pub(crate) fn has_file(&mut self, path: &str) -> bool {
        match self.world.ask(Query::FileKind { path: path.to_owned() }) {
            Some(Answer::FileKind(FileKind::Directory)) => false,
            Some(Answer::FileKind(FileKind::Missing)) => self.overlay.has_written(path) && path.contains('.'),
            _ => true,
        }
    }

    /// Files below a directory that this call or an earlier call of the session wrote.
    pub(crate) fn written_below(&self, directory: &str) -> Vec<String> {
        let begin = format!("{}/", directory.trim_end_matches('/'));
        let earlier = self.session.written_below(&begin);
        earlier.cloned().chain(self.overlay.written_below(&begin)).collect()
    }

    /// True if this call, as far as it was analysed, or an earlier call of the session has written anything.
    pub(crate) fn has_changes(&self) -> bool {
        self.session.has_changes() || !self.overlay.is_empty() || !self.files.writing.is_empty()
    }

    /// Files below a directory that this call or an earlier call of the session wrote and that `fits` accepts.
    pub(crate) fn written_where(&self, directory: &str, fits: impl Fn(&str) -> bool) -> BTreeSet<String> {
        let begin = format!("{}/", directory.trim_end_matches('/'));
        let earlier = self.session.written_below(&begin).filter(|path| fits(path)).cloned();
        earlier.chain(self.overlay.written_below(&begin).filter(|path| fits(path))).collect()
    }

    /// The origin of a file. A file in a written directory (a cloned repository) has the origin of that directory.
    pub(crate) fn origin_of(&self, path: &str, place: Option<Scope>) -> Option<FileOrigin> {
        let Setting { written, downloaded, written_is_full, .. } = self.session.setting;
        let above = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        let mut paths = above.chain([path]).filter(|path| !path.is_empty());
        let is_fetched = |path: &str| self.overlay.has_downloaded(path) || downloaded.contains(path);
        if paths.clone().any(is_fetched) {
            Some(FileOrigin::Downloaded)
        } else if self.overlay.has_written_on_way(path)
            || paths.any(|path| written.contains(path))
            || self.session.is_contained(path)
            || self.session.may_have_written(path)
            || *written_is_full && place != Some(Scope::System)
        {
            Some(FileOrigin::Written)
        } else {
            (place == Some(Scope::Workspace)).then_some(FileOrigin::Repository)
        }
    }

    /// Locates a program's file. The caller knows that the path has no further symlinks.
    pub(crate) fn program(&mut self, file: &str) -> &Located {
        self.locations.program(file, &self.session.places)
    }

    /// Locates an argument relative to a directory.
    pub(crate) fn located(&mut self, arg: &Arg, cwd: Option<&str>, last: Last) -> Located {
        self.locations.of(arg, cwd, last, &self.session.places, self.world)
    }
}
