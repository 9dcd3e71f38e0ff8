//! [`Projects`]: what calls are judged by in workspaces that have files of their own, below one set in force. What counts is the copy
//! that was kept when a person trusted them, never what lies in the workspace. It must not know which workspace is trusted.

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

/// The projects below one set in force. Another set has others.
#[derive(Debug, Default)]
pub(crate) struct Projects {
    /// `None` where nothing is in force: nothing can be below it.
    base: Option<(Layout, Arc<Layers>)>,
    /// What was compiled, by the hashes of the projects' files; why there is none where the copy cannot be read.
    known: Mutex<BTreeMap<String, Result<Arc<Projected>, String>>>,
}

/// What calls of a workspace are judged by that has files of its own.
#[derive(Debug)]
pub(crate) struct Projected {
    pub(crate) policy: Arc<Policy>,
    /// The mode that its own files say: calls there are judged in no milder one.
    pub(crate) mode: Option<Mode>,
}

/// The copy of a project's files cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Lost {
    pub(crate) why: String,
    /// Nobody was told before.
    pub(crate) is_news: bool,
}

impl Projects {
    /// Those below a set.
    pub(crate) fn below(layout: &Layout, set: Arc<Layers>) -> Projects {
        Projects { base: Some((layout.clone(), set)), known: Mutex::default() }
    }

    /// What calls are judged by in a workspace whose own files had this hash when they were trusted. Files that do not load leave
    /// only reading.
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

    /// The next call looks for the copy again: there is another one by now.
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
