//! The first set of a home whose first start found the organisation's files broken, until they are repaired. Nobody has
//! applied anything yet, so only the user's files of that start apply. Independent of their contents.

use std::sync::PoisonError;

use super::organisation::organisation_now;
use super::{Cause, NotPut, PolicyState, has_records};
use crate::file_set::FileSet;
use crate::judge::Judge;
use crate::layers::Layers;
use crate::layout::Layout;
use crate::trial::Trial;

/// Prefix of the record of such a start; the hash of the user's files follows.
const WAITS: &str = "waits for the organisation's files, with the user's files ";

/// The reason why nothing is in force.
#[derive(Debug)]
pub(super) struct Nothing {
    pub(super) why: String,
    /// The user's files if they only wait for the organisation's.
    pub(super) first: Option<FileSet>,
}

impl From<String> for Nothing {
    fn from(why: String) -> Nothing {
        Nothing { why, first: None }
    }
}

impl Nothing {
    /// The organisation's files are broken, so their prohibitions are unknown.
    pub(super) fn until_mended(layout: &Layout, why: &str) -> Nothing {
        Nothing { why: format!("the organisation's files: {why}"), first: FileSet::read(layout).ok() }
    }
}

/// Reports whether nothing was ever in force in this home: no daemon has served it, or the last one waited for the
/// organisation with the same user's files.
pub(super) fn is_first(layout: &Layout) -> bool {
    let is_same = |hash: String| FileSet::read(layout).is_ok_and(|files| files.hash() == hash);
    !has_records(layout) || awaited(layout).is_some_and(is_same)
}

/// The hash of the user's files with which the last start waited. `None` if the log cannot be read.
fn awaited(layout: &Layout) -> Option<String> {
    let last = castellan_audit::last_control(&layout.log(), |control| {
        !control.files.is_empty() || control.action == "start"
    });
    let last = last.ok().flatten().filter(|control| control.files.is_empty())?;
    let hash = last.argument.strip_prefix(WAITS)?.split(',').next()?;
    Some(hash.to_owned())
}

impl PolicyState {
    /// The text for the record of a start whose user's files wait for the organisation's.
    pub(super) fn waits(&self) -> Option<String> {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.as_ref().map(|first| format!("{WAITS}{}", first.hash()))
    }

    /// Puts a waiting first set in force if the organisation's files now load.
    pub(super) fn put_first(&self, judge: &Judge) {
        let Some(user) = self.first.lock().unwrap_or_else(PoisonError::into_inner).clone() else { return };
        let now = organisation_now(&self.layout).map_err(|unusable| NotPut::Failed(unusable.why()));
        let put = now.and_then(|organisation| {
            let set = Layers { organisation, user, project: None, trial: Trial::new() };
            self.put(judge, set, Cause { action: "organisation", what: "", peer: (0, 0) })
        });
        self.put_organisation(judge, put);
    }
}
