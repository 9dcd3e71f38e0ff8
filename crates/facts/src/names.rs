//! [`Names`]: which file a program's name leads to, by the agent's `PATH` as commands of the call have changed it.

use castellan_event::{Answer, Process, Query, Recorder};
use castellan_programs::Arg;

/// What is known of `PATH`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    path: Option<String>,
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
        Names { path: process.and_then(|process| process.var("PATH")).map(str::to_owned) }
    }

    /// `PATH` is set for the commands that follow.
    pub(crate) fn set_path(&mut self, value: &Arg) {
        self.path = value.as_str().map(str::to_owned);
    }

    /// A directory comes before the others of `PATH`.
    pub(crate) fn put_first(&mut self, directory: &str) {
        self.path = self.path.as_ref().map(|path| format!("{directory}:{path}"));
    }

    /// Looks a name up. `env`: what the command itself is given.
    pub(crate) fn resolve(&self, name: &str, env: &[(String, Arg)], world: &mut Recorder<'_>) -> Resolved {
        let own = env.iter().rev().find(|(name, _)| name == "PATH");
        let path = own.map_or(self.path.as_deref(), |(_, value)| value.as_str());
        let Some(path) = path else { return Resolved::Unknown };
        match world.ask(Query::Executable { name: name.to_owned(), path: path.to_owned() }) {
            Some(Answer::Executable(Some(file))) => Resolved::File(file),
            Some(Answer::Executable(None)) => Resolved::Missing,
            _ => Resolved::Unknown,
        }
    }
}
