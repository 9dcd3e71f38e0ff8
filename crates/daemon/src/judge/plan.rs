//! The plan of a call's session after the decision: the log and the count, and plans that agents present. It must not
//! know how a person approves a plan.

use castellan_agents as agents;
use castellan_event::{Call, Code, Exemption, Verdict};
use castellan_plans::{Departure, Outcome, ViolationRow};
use castellan_policy::{Decision, PlanCheck, RequestId};

use super::planned::{Compared, Planned};
use super::weighed::Weighed;
use super::{Asked, Judge, Whose};
use crate::clock::unix_ms;
use crate::memory::{Memory, PlanInForce, PlanPlace, Workspace};
use crate::plans::propose;
use crate::session_key::SessionKey;

impl Judge {
    /// Counts a call under its plan. Returns false if parallel calls have spent the budget since the comparison.
    pub(super) fn count_under_plan(memory: &mut Memory, weighed: &Weighed<'_>) -> bool {
        let Some((_, compared)) = counted(weighed) else { return true };
        if compared.is_overtaken(memory.calls_under(&compared.place)) {
            return false;
        }
        let last = compared.departures.first().map(line).unwrap_or_default();
        memory.count_plan(&compared.place, compared.departures.len() as u64, last);
        true
    }

    /// Logs the departures of a call from its plan.
    pub(super) fn log_departures(&self, weighed: &Weighed<'_>) {
        let Weighed { call, decision, .. } = weighed;
        let Some((check, Compared { departures, .. })) = counted(weighed) else { return };
        if departures.is_empty() {
            return;
        }
        let is_ad_hoc = matches!(check, PlanCheck::Compared(report) if report.is_ad_hoc);
        let command = call.command.as_deref().unwrap_or(&call.input_text);
        let outcome = outcome(decision);
        let rows: Vec<ViolationRow> = if is_ad_hoc {
            vec![ViolationRow::ad_hoc(departures, command, outcome, unix_ms())]
        } else {
            departures.iter().map(|one| ViolationRow::of(one, command, outcome, unix_ms())).collect()
        };
        if let Err(error) = self.plans.violations.append(&rows) {
            self.fail("plan", &format!("departures from a plan cannot be logged: {error}"));
        }
    }

    /// Compiles a plan that the agent presents to its effect scope. Returns a note for the user.
    pub(super) fn presented_plan(&self, asked: &Asked<'_>, whose: &Whose, call: &Call) -> Option<String> {
        let markdown = agents::presented_plan(asked.agent, call)?;
        let id = self.memory().take_request();
        let place = PlanPlace::Session(whose.session.root);
        match propose(
            markdown,
            (id, place, &call.agent.session_id),
            (whose.inside(), call.agent.pid),
            &self.own,
        ) {
            Ok(proposed) => self.plans.proposals.add(proposed),
            Err(why) => {
                self.fail("plan", &format!("a presented plan cannot be compiled: {why}"));
                return None;
            }
        }
        Some(format!("To let castellan follow this plan: castellan plan approve {id}"))
    }
}

/// Interface for the control server.
impl Judge {
    /// Returns the plans in force.
    pub(crate) fn plans_in_force(&self) -> Vec<(PlanPlace, PlanInForce)> {
        self.memory().plans().map(|(place, plan)| (place.clone(), plan.clone())).collect()
    }

    /// Returns the plan that applies to a workspace or a session.
    pub(crate) fn plan_at(&self, place: &PlanPlace) -> Option<PlanInForce> {
        let memory = self.memory();
        match place {
            PlanPlace::Session(root) => memory.plan_of(*root, memory.workspace(root)),
            PlanPlace::Workspace(_) => {
                memory.plans().find(|(of, _)| *of == place).map(|(of, plan)| (of.clone(), plan.clone()))
            }
        }
        .map(|(_, plan)| plan)
    }

    /// Puts a plan in force; `None` ends it. Earlier answers are no longer valid for a second question.
    pub(crate) fn use_plan(&self, place: PlanPlace, plan: Option<PlanInForce>) -> Result<(), String> {
        let mut memory = self.memory();
        memory.use_plan(place, plan)?;
        memory.outdate();
        Ok(())
    }

    /// Returns the roots of the sessions that have these keys, each once.
    pub(crate) fn roots_of(&self, keys: impl IntoIterator<Item = SessionKey>) -> Vec<SessionKey> {
        self.memory().roots_of(keys)
    }

    /// Returns the workspace of a session; empty if there is none.
    pub(crate) fn workspace_of_session(&self, root: &SessionKey) -> String {
        self.memory().workspace(root).map_or("", Workspace::inside).to_owned()
    }

    /// Returns a new request id.
    pub(crate) fn take_request(&self) -> RequestId {
        self.memory().take_request()
    }

    /// Returns castellan's own files.
    pub(crate) fn own(&self) -> &[String] {
        &self.own
    }
}

/// Returns the comparison of a call with its plan. A call that is asked about again was counted, and a call that waits
/// for a person is counted after the answer.
fn counted<'w>(weighed: &'w Weighed<'_>) -> Option<(&'w PlanCheck, &'w Compared)> {
    let Weighed { grounds, decision, .. } = weighed;
    let Planned { check, compared } = grounds.planned.as_ref()?;
    let is_counted = grounds.earlier.first.is_none() && decision.hold().is_none();
    compared.as_ref().filter(|_| is_counted).map(|compared| (check, compared))
}

/// Describes a departure in a line.
fn line(departure: &Departure) -> String {
    format!("{}: {}", departure.kind.meaning(), departure.subject)
}

fn outcome(decision: &Decision) -> Outcome {
    let is_granted = decision
        .findings
        .iter()
        .any(|finding| finding.code == Code::Plan && finding.lifted == Some(Exemption::Grant));
    match decision.answer {
        Verdict::Deny => Outcome::Block,
        Verdict::Ask => Outcome::Ask,
        Verdict::Allow | Verdict::Defer if is_granted => Outcome::Allow,
        Verdict::Allow | Verdict::Defer => Outcome::Warn,
    }
}
