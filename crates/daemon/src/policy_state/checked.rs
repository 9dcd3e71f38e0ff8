//! New rules for Falco: Falco loads them before they come into force. It does so without the lock of a change, so a Falco
//! that hangs keeps no status and no other change waiting. Also the rules and files that a set wants of Falco. Independent of
//! the origin of the rules.

use castellan_policy::{EngineKind, EngineSettings};

use super::{Loaded, PolicyState};
use crate::compile::Compiled;
use crate::config::Config;
use crate::control::EngineStatus;
use crate::engine::{Wanted, WantedEvents, refusal};
use crate::layout::Layout;
use crate::limits::ENGINE_CHECKS_MAX;
use crate::sight;

/// The reason why a set did not come into force. The set before stays.
#[derive(Debug)]
pub(crate) enum NotPut {
    /// It cannot be used, or could not be stored.
    Failed(String),
    /// Falco has not loaded its rules yet.
    Unchecked(Box<Wanted>),
}

impl From<String> for NotPut {
    fn from(why: String) -> NotPut {
        NotPut::Failed(why)
    }
}

/// The result of a change that waits for nothing.
#[derive(Debug)]
pub(super) enum Aside {
    Done,
    /// Falco loads the rules. The change must be tried again.
    Checking,
    /// Falco does not load the rules, or could not be asked.
    Rejected(String),
    Failed(String),
}

/// The problem of files that a daemon finds at its start, for the time until Falco has loaded them.
pub(super) const UNCHECKED: &str = "Falco has not loaded their rules yet";

impl PolicyState {
    /// Makes a change, and waits until Falco has loaded its rules. `change` locks, tries, and unlocks.
    pub(super) fn checked(&self, change: impl Fn() -> Result<(), NotPut>) -> Result<(), String> {
        for _ in 0..ENGINE_CHECKS_MAX {
            match change() {
                Ok(()) => return Ok(()),
                Err(NotPut::Failed(why)) => return Err(why),
                Err(NotPut::Unchecked(wanted)) => self.check(&wanted)?,
            }
        }
        Err("the rules have changed while Falco loaded them: try again".to_owned())
    }

    /// Has Falco load the rules of a change, which may then be tried again.
    pub(crate) fn check(&self, wanted: &Wanted) -> Result<(), String> {
        self.engine.check(wanted).map_err(|why| format!("{why}; nothing was changed"))
    }

    /// Returns the result of a change that must not wait, such as one of housekeeping.
    pub(super) fn aside(&self, done: Result<(), NotPut>) -> Aside {
        match done {
            Ok(()) => Aside::Done,
            Err(NotPut::Failed(why)) => Aside::Failed(why),
            Err(NotPut::Unchecked(wanted)) => match self.engine.check_aside(&wanted) {
                // The next try finds that they have passed.
                None | Some(Ok(())) => Aside::Checking,
                Some(Err(why)) => Aside::Rejected(why),
            },
        }
    }

    /// Returns the engine's part of the status.
    pub(crate) fn engine_status(&self, kind: EngineKind) -> EngineStatus {
        self.engine.status(kind)
    }
}

/// Returns the set of before, loaded, if it stays in force until Falco has loaded the rules of the set of now. It does not
/// stay if it does not load.
pub(super) fn waits_for_falco(
    layout: &Layout,
    now: &Loaded,
    before: impl FnOnce() -> Result<Loaded, String>,
) -> Option<Loaded> {
    let now = wanted(layout, &now.0, &now.1)?;
    let before = before().ok()?;
    (wanted(layout, &before.0, &before.1).as_ref() != Some(&now)).then_some(before)
}

/// Returns the Falco that a set wants, if it wants one.
pub(super) fn wanted(layout: &Layout, config: &Config, compiled: &Compiled) -> Option<Wanted> {
    // Copies are of no interest to this Falco.
    let settings = EngineSettings { events: false, ..config.settings.engine.clone() };
    let rules = compiled.exported.clone().filter(|_| settings.is_falco())?;
    Some(Wanted {
        settings,
        rules,
        language: config.rule_options.engine,
        place: layout.engine(),
        refusal: refusal(sight::is_through_reader()),
    })
}

/// Returns the files of the copies for a Falco of the user's own.
pub(super) fn wanted_events(layout: &Layout, config: &Config) -> WantedEvents {
    let engine = &config.settings.engine;
    WantedEvents {
        place: layout.events(),
        key: layout.events_key(),
        library: engine.events.then(|| engine.plugin.clone()),
    }
}

#[cfg(test)]
mod tests;
