//! The organisation's part of the set in force. Its files on disk apply if only the organisation can have written them
//! and they load. Does not depend on their contents.

use std::sync::PoisonError;
use std::time::Instant;

use super::{Aside, Cause, NotPut, PolicyState};
use crate::file_set::{FileSet, read_organisation};
use crate::judge::Judge;
use crate::layers::Layers;
use crate::layout::Layout;
use crate::limits::ENGINE_PAUSE_MAX;
use crate::shipped::DEFAULT_CONFIG;
use crate::trial::Trial;

impl PolicyState {
    /// Puts changed files of the organisation in force. Unusable files change only the status.
    pub(crate) fn reload_organisation(&self, judge: &Judge) {
        let _changing = self.changing();
        *self.organisation_due.lock().unwrap_or_else(PoisonError::into_inner) = None;
        // With nothing in force, only a waiting first set needs an update. `castellan apply` reads the files itself.
        let Some(set) = self.in_force().set.clone() else { return self.put_first(judge) };
        let put = || -> Result<(), NotPut> {
            match organisation_now(&self.layout) {
                Ok(organisation) if organisation == set.organisation => Ok(()),
                Ok(organisation) => {
                    let new = Layers { organisation, ..Layers::clone(&set) };
                    self.put(judge, new, Cause { action: "organisation", what: "", peer: (0, 0) })
                }
                Err(unusable) => Err(unusable.why().into()),
            }
        };
        self.put_organisation(judge, put());
    }

    /// Notes the result of putting the organisation's files in force. While Falco loads the rules, and after it could not,
    /// they are tried again: nobody is there to do that.
    pub(super) fn put_organisation(&self, judge: &Judge, put: Result<(), NotPut>) {
        let (again, problem) = match self.aside(put) {
            Aside::Done => (None, None),
            Aside::Checking => (Some(Instant::now()), self.organisation_problem()),
            Aside::Rejected(why) => (Some(Instant::now() + ENGINE_PAUSE_MAX), Some(why)),
            Aside::Failed(why) => (None, Some(why)),
        };
        *self.organisation_due.lock().unwrap_or_else(PoisonError::into_inner) = again;
        self.note_organisation(judge, problem);
    }

    /// Reports whether the organisation's files must be tried again now.
    pub(crate) fn is_organisation_due(&self) -> bool {
        let due = self.organisation_due.lock().unwrap_or_else(PoisonError::into_inner);
        due.is_some_and(|due| due <= Instant::now())
    }

    /// Stores the reason why the organisation's files are not in force, or `None` if they are.
    pub(super) fn note_organisation(&self, judge: &Judge, problem: Option<String>) {
        let is_news = problem != self.organisation_problem();
        if let Some(why) = problem.as_ref().filter(|_| is_news) {
            judge.record_problem("organisation", &format!("its files are not put in force: {why}"));
        }
        *self.organisation.lock().unwrap_or_else(PoisonError::into_inner) = problem;
    }

    /// The organisation's files for a new set: those on disk or, if these are rejected, those in force.
    pub(super) fn organisation_to_use(&self) -> Result<Option<FileSet>, String> {
        match organisation_now(&self.layout) {
            Ok(organisation) => Ok(organisation),
            Err(Unusable::Distrusted(_)) => Ok(self.set().and_then(|set| set.organisation.clone())),
            Err(Unusable::Broken(why)) => {
                let before = self.set().and_then(|set| set.organisation.clone());
                before.map(Some).ok_or(why)
            }
        }
    }

    pub(super) fn organisation_problem(&self) -> Option<String> {
        self.organisation.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The reason why the organisation's files cannot be used.
#[derive(Debug)]
pub(super) enum Unusable {
    /// Another user can have written them, so castellan does not trust them as the organisation's.
    Distrusted(String),
    /// They cannot be read or parsed.
    Broken(String),
}

impl Unusable {
    pub(super) fn why(self) -> String {
        match self {
            Unusable::Distrusted(why) | Unusable::Broken(why) => why,
        }
    }
}

/// Reads the organisation's files on disk and checks that they load alone.
pub(super) fn organisation_now(layout: &Layout) -> Result<Option<FileSet>, Unusable> {
    let read = read_organisation(layout.organisation()).map_err(|error| match error.is_distrusted() {
        true => Unusable::Distrusted(error.to_string()),
        false => Unusable::Broken(error.to_string()),
    })?;
    if read.is_some() {
        let user = FileSet { config: DEFAULT_CONFIG.to_owned(), rules: Vec::new() };
        let alone = Layers { organisation: read.clone(), user, project: None, trial: Trial::new() };
        alone.load(layout).map_err(Unusable::Broken)?;
    }
    Ok(read)
}
