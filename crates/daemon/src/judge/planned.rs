//! [`Planned`]: a call beside its session's plan, before the decision. It must not know what follows.

use castellan_event::{Call, Facts};
use castellan_plans::Departure;
use castellan_policy::{PlanCheck, PlanEnforcement, PlanMode};

use super::{Asked, Judge, Whose};
use crate::clock::unix_ms;
use crate::memory::PlanPlace;
use crate::plans::{Comparison, compare};

/// A call beside its session's plan.
pub(super) struct Planned {
    pub(super) check: PlanCheck,
    pub(super) compared: Option<Compared>,
}

/// A compared plan, and the departures from it.
pub(super) struct Compared {
    pub(super) place: PlanPlace,
    pub(super) departures: Vec<Departure>,
    /// The calls that the plan permits.
    budget: Option<u64>,
    /// The calls before this one, as compared.
    calls: u64,
}

impl Compared {
    /// Reports whether other calls have spent the budget since the comparison. `calls`: the count now.
    pub(super) fn is_overtaken(&self, calls: u64) -> bool {
        self.budget.is_some_and(|budget| self.calls < budget && calls >= budget)
    }
}

impl Judge {
    /// Compares a call with its session's plan. `None` if no plan applies and none is needed. A repeated question about
    /// a call does not spend the budget again.
    pub(super) fn planned(
        &self,
        asked: &Asked<'_>,
        whose: &Whose,
        (call, is_repeated): (&Call, bool),
        facts: &Facts,
    ) -> Option<Planned> {
        let mode = asked.terms().policy.settings().plans.mode;
        if mode == PlanMode::Off {
            return None;
        }
        let missing = |why, enforcement| {
            Some(Planned { check: PlanCheck::Missing { why, enforcement }, compared: None })
        };
        let found = self.memory().plan_of(whose.session.root, whose.workspace.as_ref());
        let Some((place, mut in_force)) = found else {
            let why = "plans are enforced, and this session has no plan".to_owned();
            return missing(why, PlanEnforcement::Strict).filter(|_| mode == PlanMode::Strict);
        };
        let plan = match self.plans.copies.get(&in_force.hash) {
            Ok(plan) => plan,
            Err(why) => {
                let why = format!("the copy of this session's plan cannot be read: {why}");
                self.fail("plan", &format!("{}: {why}", in_force.source));
                return missing(why, in_force.enforcement(mode));
            }
        };
        in_force.calls = in_force.calls.saturating_sub(is_repeated.into());
        let of = (&*plan, &in_force);
        // The paths of a plan begin there, also for an agent that another agent started elsewhere.
        let workspace = match &place {
            PlanPlace::Workspace(path) => path.clone(),
            PlanPlace::Session(root) => self.workspace_of_session(root),
        };
        let places = (workspace.as_str(), whose.inside());
        let Comparison { departures, report } = compare(of, mode, (call, facts), places, unix_ms() / 1000);
        let compared =
            Compared { place, departures, budget: plan.parts().budget.calls, calls: in_force.calls };
        Some(Planned { check: PlanCheck::Compared(report), compared: Some(compared) })
    }
}
