//! Rules on trial in the set in force: those that an upgrade adds, and their end. Independent of the choice of rules.

use super::{Aside, Cause, NotPut, PolicyState};
use crate::clock::wall;
use crate::judge::Judge;
use crate::layers::Layers;
use crate::trial::{self, Trial};

impl PolicyState {
    /// Returns the new set with the rules of an upgrade on trial. If nothing is in force, all rules are enforced.
    pub(super) fn with_trial(&self, judge: &Judge, set: Layers) -> Result<Layers, String> {
        let before = self.set();
        let Some(before) = before else { return Ok(Layers { trial: Trial::new(), ..set }) };
        let (_, compiled) = set.load(&self.layout)?;
        let terms = judge.terms();
        let after = (&set.user, &compiled.policy);
        let trial = trial::after((&before.trial, &terms.policy), after, wall());
        Ok(Layers { trial, ..set })
    }

    /// Ends the trial of all rules. Changes nothing else.
    pub(crate) fn end_trial(&self, judge: &Judge, peer: (u32, u32)) -> Result<(), String> {
        self.checked(|| self.end_trial_of(judge, true, peer))
    }

    /// Ends the trial of rules whose time is over. Changes nothing else.
    pub(crate) fn end_due_trial(&self, judge: &Judge) -> Result<(), String> {
        match self.aside(self.end_trial_of(judge, false, (0, 0))) {
            Aside::Done | Aside::Checking => Ok(()),
            Aside::Rejected(why) | Aside::Failed(why) => Err(why),
        }
    }

    fn end_trial_of(&self, judge: &Judge, all: bool, peer: (u32, u32)) -> Result<(), NotPut> {
        let _changing = self.changing();
        let Some(set) = self.set() else { return Ok(()) };
        let now = wall();
        let mut left = set.trial.rules.clone();
        left.retain(|_, since| !all && !trial::is_over(*since, now));
        if left == set.trial.rules {
            return Ok(());
        }
        let new = Layers { trial: set.trial.with(left), ..Layers::clone(&set) };
        self.put(judge, new, Cause { action: "trial_over", what: "", peer })
    }

    /// The trial of the set in force.
    pub(crate) fn trial(&self) -> Trial {
        self.set().map_or_else(Trial::new, |set| set.trial.clone())
    }
}
