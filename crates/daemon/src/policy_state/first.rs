//! The first set of a home whose first start found the organisation's files broken: it comes into force once these are mended. Nobody
//! has applied anything yet, so only the user's files count that lay there then. It must not know what they say.

use std::sync::PoisonError;

use super::organisation::organisation_now;
use super::{Cause, PolicyState, has_records};
use crate::file_set::FileSet;
use crate::judge::Judge;
use crate::layers::Layers;
use crate::layout::Layout;
use crate::trial::Trial;

/// The record of such a start begins so; the hash of the user's files follows.
const WAITS: &str = "waits for the organisation's files, with the user's files ";

/// The reason why nothing is in force.
#[derive(Debug)]
pub(super) struct Nothing {
    pub(super) why: String,
    /// The user's files, where they only wait for the organisation's.
    pub(super) first: Option<FileSet>,
}

impl From<String> for Nothing {
    fn from(why: String) -> Nothing {
        Nothing { why, first: None }
    }
}

impl Nothing {
    /// The organisation's files are broken: what they would have forbidden is not known.
    pub(super) fn until_mended(layout: &Layout, why: &str) -> Nothing {
        Nothing { why: format!("the organisation's files: {why}"), first: FileSet::read(layout).ok() }
    }
}

/// Reports whether nothing was ever in force in this home: no daemon has served it, or the last one waited for the organisation, with
/// the user's files that lie there now.
pub(super) fn is_first(layout: &Layout) -> bool {
    let is_same = |hash: String| FileSet::read(layout).is_ok_and(|files| files.hash() == hash);
    !has_records(layout) || awaited(layout).is_some_and(is_same)
}

/// The hash of the user's files with which the last start waited. A log that cannot be read names none.
fn awaited(layout: &Layout) -> Option<String> {
    let last = castellan_audit::last_control(&layout.log(), |control| {
        !control.files.is_empty() || control.action == "start"
    });
    let last = last.ok().flatten().filter(|control| control.files.is_empty())?;
    let hash = last.argument.strip_prefix(WAITS)?.split(',').next()?;
    Some(hash.to_owned())
}

impl PolicyState {
    /// What the record of a start says where the user's files wait for the organisation's.
    pub(super) fn waits(&self) -> Option<String> {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.as_ref().map(|first| format!("{WAITS}{}", first.hash()))
    }

    /// Puts the first set in force if it waits and the organisation's files make sense by now.
    pub(super) fn put_first(&self, judge: &Judge) {
        let Some(user) = self.first.lock().unwrap_or_else(PoisonError::into_inner).clone() else { return };
        let put =
            organisation_now(&self.layout).map_err(|unusable| unusable.why()).and_then(|organisation| {
                let set = Layers { organisation, user, project: None, trial: Trial::new() };
                self.put(judge, set, Cause { action: "organisation", what: "", peer: (0, 0) })
            });
        self.note_organisation(judge, put.err());
    }
}
