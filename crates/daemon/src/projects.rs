//! [`Projects`]: policies for workspaces with their own files, below one set in force. They use the copy that was
//! stored when a person trusted the files, never the files in the workspace. Does not depend on workspace trust.

mod copies;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use castellan_event::{Layer, Mode};
use castellan_policy::Policy;

use crate::file_set::FileSet;
use crate::layers::Layers;
use crate::layout::Layout;
use crate::limits::PROJECTS_MAX;

pub(crate) use self::copies::{forget_copies, keep_copy, read_copy};

/// The projects below one set in force. Another set has its own.
#[derive(Debug, Default)]
pub(crate) struct Projects {
    /// `None` when nothing is in force; then there are no projects.
    base: Option<(Layout, Arc<Layers>)>,
    /// Compiled projects by the hash of their files, or the reason why the copy is unreadable.
    known: Mutex<BTreeMap<String, Result<Arc<Projected>, String>>>,
}

/// The policy for calls of a workspace with its own files.
#[derive(Debug)]
pub(crate) struct Projected {
    pub(crate) policy: Arc<Policy>,
    /// The mode in its own files. Calls there are never judged in a milder mode.
    pub(crate) mode: Option<Mode>,
}

/// The copy of a project's files is unusable.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Lost {
    pub(crate) why: String,
    /// This is the first report.
    pub(crate) is_news: bool,
}

impl Projects {
    pub(crate) fn below(layout: &Layout, set: Arc<Layers>) -> Projects {
        Projects { base: Some((layout.clone(), set)), known: Mutex::default() }
    }

    /// Returns the policy for own files with this hash at the decision. Files that do not load allow only reading.
    pub(crate) fn get(&self, hash: &str) -> Result<Arc<Projected>, Lost> {
        let Some((layout, set)) = &self.base else {
            let policy = Arc::new(Policy::missing("nothing is in force"));
            return Ok(Arc::new(Projected { policy, mode: None }));
        };
        let mut known = self.known();
        if let Some(found) = known.get(hash) {
            return found.clone().map_err(|why| Lost { why, is_news: false });
        }
        let found = read_copy(layout, hash).map(|project| Arc::new(project_of(layout, set, project)));
        if known.len() >= PROJECTS_MAX {
            known.clear();
        }
        known.insert(hash.to_owned(), found.clone());
        found.map_err(|why| Lost { why, is_news: true })
    }

    /// Makes the next call read the copy again, because there is a new one.
    pub(crate) fn look_again(&self, hash: &str) {
        self.known().remove(hash);
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, Result<Arc<Projected>, String>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn project_of(layout: &Layout, set: &Layers, project: FileSet) -> Projected {
    let layers = Layers { project: Some(project), ..set.clone() };
    match layers.load(layout) {
        Ok((config, compiled)) => Projected {
            policy: Arc::new(compiled.policy),
            mode: config.mode_said_by(Layer::Project).map(|(mode, _)| mode),
        },
        Err(why) => Projected {
            policy: Arc::new(Policy::missing(format!("the workspace's own files: {why}"))),
            mode: Some(Mode::Enforce),
        },
    }
}

#[cfg(test)]
mod tests;
