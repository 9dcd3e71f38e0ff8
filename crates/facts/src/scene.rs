//! [`Scene`]: what the effects of one call are found with: the session, the world, and what earlier commands of the call
//! have changed.

use std::collections::{BTreeMap, BTreeSet};

use castellan_event::{Answer, Call, FileOrigin, Process, Query, Recorder, Scope};

use crate::Setting;
use crate::limits::PROGRAMS_MAX;
use crate::names::Names;
use crate::overlay::Overlay;
use crate::path::Places;
use crate::scripts::Known;

pub(crate) struct Scene<'s, 'w, 'r> {
    pub(crate) setting: &'s Setting,
    pub(crate) world: &'r mut Recorder<'w>,
    pub(crate) places: Places,
    pub(crate) names: Names,
    pub(crate) overlay: Overlay,
    /// Files with code that were asked for, by their absolute paths as written.
    pub(crate) scripts: BTreeMap<String, Known>,
    /// Those that run and that the walk has read, by where they lie.
    pub(crate) read_scripts: BTreeSet<String>,
    /// Bytes of those that were read.
    pub(crate) script_bytes: usize,
    /// Programs in other languages and tasks that were read.
    pub(crate) programs: usize,
    /// The agent's process, as far as the world could look at it.
    pub(crate) process: Option<Process>,
}

impl<'s, 'w, 'r> Scene<'s, 'w, 'r> {
    pub(crate) fn new(call: &Call, setting: &'s Setting, world: &'r mut Recorder<'w>) -> Scene<'s, 'w, 'r> {
        let process = match world.ask(Query::Process { pid: call.agent.pid }) {
            Some(Answer::Process(process)) => process,
            _ => None,
        };
        let places = Places::of_session(
            process.as_ref(),
            Some(&setting.workspace).filter(|path| !path.is_empty()).map(String::as_str),
            &setting.own,
        );
        let names = Names::new(process.as_ref());
        Scene {
            setting,
            world,
            places,
            names,
            overlay: Overlay::default(),
            scripts: BTreeMap::new(),
            read_scripts: BTreeSet::new(),
            script_bytes: 0,
            programs: 0,
            process,
        }
    }

    /// Counts a program or a task that is read. False when there were enough.
    pub(crate) fn counts_program(&mut self) -> bool {
        self.programs += 1;
        self.programs <= PROGRAMS_MAX
    }

    /// How a file came to where it is: what is written to a directory, as a repository that is cloned, is in it.
    pub(crate) fn origin_of(&self, path: &str, place: Option<Scope>) -> Option<FileOrigin> {
        let above = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        let mut paths = above.chain([path]).filter(|path| !path.is_empty());
        let is_fetched =
            |path: &str| self.overlay.has_downloaded(path) || self.setting.downloaded.contains(path);
        let is_written = |path: &str| self.overlay.has_written(path) || self.setting.written.contains(path);
        if paths.clone().any(is_fetched) {
            Some(FileOrigin::Downloaded)
        } else if paths.any(is_written) {
            Some(FileOrigin::Written)
        } else {
            (place == Some(Scope::Workspace)).then_some(FileOrigin::Repository)
        }
    }

    /// Whether a call that runs now may be changing what a path leads to or holds: the path or a directory above it.
    pub(crate) fn is_changing(&self, path: &str) -> bool {
        let ancestors = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        ancestors.chain([path]).any(|path| self.setting.changing.contains(path))
    }
}
