//! [`Names`]: which file a program's name leads to, by the agent's `PATH` as commands of the call have changed it.

use std::collections::HashMap;

use castellan_event::{Answer, Process, Query, Recorder};
use castellan_programs::Arg;
use castellan_shell::Work;

use crate::limits::{BYTES_PER_WORK, SEARCH_BYTES_MAX, WORK_OF_LOOK};

/// What is known of `PATH`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    path: Option<String>,
    /// Names that were looked up in it.
    found: HashMap<String, Resolved>,
}

/// Where a name leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Resolved {
    /// This file, symlinks resolved.
    File(String),
    /// To nothing: it is not there.
    Missing,
    /// It cannot be said: `PATH` is not known, or the world does not answer.
    Unknown,
}

impl Names {
    pub(crate) fn new(process: Option<&Process>) -> Names {
        let path = process.and_then(|process| process.var("PATH")).map(str::to_owned);
        Names { path, found: HashMap::new() }
    }

    /// `PATH` is set for the commands that follow.
    pub(crate) fn set_path(&mut self, value: &Arg) {
        self.path = value.as_str().map(str::to_owned);
        self.found.clear();
    }

    /// A directory comes before the others of `PATH`.
    pub(crate) fn put_first(&mut self, directory: &str) {
        self.path = self.path.as_ref().map(|path| format!("{directory}:{path}"));
    }

    /// Looks a name up. `env`: what the command itself is given.
    pub(crate) fn resolve(
        &mut self,
        name: &str,
        env: &[(String, Arg)],
        world: &mut Recorder<'_>,
        work: &mut Work,
    ) -> Resolved {
        let own = env.iter().rev().find(|(name, _)| name == "PATH");
        if let Some((_, value)) = own {
            return value.as_str().map_or(Resolved::Unknown, |path| look_up(name, path, world, work));
        }
        if let Some(found) = self.found.get(name) {
            return found.clone();
        }
        let Some(path) = &self.path else { return Resolved::Unknown };
        let found = look_up(name, path, world, work);
        self.found.insert(name.to_owned(), found.clone());
        found
    }
}

fn look_up(name: &str, path: &str, world: &mut Recorder<'_>, work: &mut Work) -> Resolved {
    let directories = path.split(':').count();
    let units = directories as u64 * WORK_OF_LOOK + (path.len() / BYTES_PER_WORK) as u64;
    if path.len() > SEARCH_BYTES_MAX || !work.spend(units) {
        return Resolved::Unknown;
    }
    match world.ask(Query::Executable { name: name.to_owned(), path: path.to_owned() }) {
        Some(Answer::Executable(Some(file))) => Resolved::File(file),
        Some(Answer::Executable(None)) => Resolved::Missing,
        _ => Resolved::Unknown,
    }
}
