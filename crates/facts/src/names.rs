//! [`Names`]: which file a program's name leads to, by the agent's `PATH` as commands of the call have changed it.

use std::collections::HashMap;

use castellan_event::{Answer, Process, Query, Recorder};
use castellan_programs::Arg;

/// What is known of `PATH`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    path: Option<String>,
    /// Names that were looked up since `path` was set.
    resolved: HashMap<String, Resolved>,
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
        Names { path, resolved: HashMap::new() }
    }

    /// `PATH` is set for the commands that follow.
    pub(crate) fn set_path(&mut self, value: &Arg) {
        self.path = value.as_str().map(str::to_owned);
        self.resolved.clear();
    }

    /// Looks a name up. `env`: what the command itself is given.
    pub(crate) fn resolve(
        &mut self,
        name: &str,
        env: &[(String, Arg)],
        world: &mut Recorder<'_>,
    ) -> Resolved {
        if let Some((_, own)) = env.iter().rev().find(|(name, _)| name == "PATH") {
            return found(name, own.as_str(), world);
        }
        if let Some(resolved) = self.resolved.get(name) {
            return resolved.clone();
        }
        let resolved = found(name, self.path.as_deref(), world);
        self.resolved.insert(name.to_owned(), resolved.clone());
        resolved
    }
}

fn found(name: &str, path: Option<&str>, world: &mut Recorder<'_>) -> Resolved {
    let Some(path) = path else { return Resolved::Unknown };
    match world.ask(Query::Executable { name: name.to_owned(), path: path.to_owned() }) {
        Some(Answer::Executable(Some(file))) => Resolved::File(file),
        Some(Answer::Executable(None)) => Resolved::Missing,
        _ => Resolved::Unknown,
    }
}
