//! A person's requests about plans over the control socket: use, end, propose, approve, list.

use std::sync::{MutexGuard, PoisonError};

use castellan_agents::AgentId;
use castellan_event::PartsHash;
use castellan_plans::{describe, widens};
use castellan_policy::PlanMode;

use super::{ControlServer, Peer, alphanumeric_start};
use crate::clock::unix_ms;
use crate::control::{ControlResponse, ListedPlan, PlanFor, ShownPlan};
use crate::memory::{PlanInForce, PlanPlace};
use crate::plans::{Proposed, propose};
use crate::session_key::SessionKey;

impl ControlServer {
    /// Puts a copy of a plan in force. Needs a person where a plan is in force already: also an equal one begins its
    /// budget anew. Needs a person for a single session: its plan comes before a later one of the workspace. Needs a
    /// person where strict sessions without a plan may only read: any plan permits more.
    pub(super) fn use_plan(
        &self,
        (text, source): (&str, &str),
        of: &PlanFor,
        is_strict: bool,
        peer: Peer<'_>,
    ) -> Result<(), ControlResponse> {
        let place = self.place(of)?;
        let argument = format!("{} for {}", shown(source), shown(&of.to_string()));
        let _changing = self.plan_changes();
        let before = self.in_force(&place);
        let loosens = matches!(place, PlanPlace::Session(_))
            || before.is_some()
            || self.judge.terms().policy.settings().plans.mode == PlanMode::Strict;
        if loosens {
            self.check_presence("plan_use", &argument, peer)?;
        }
        let old = before.and_then(|before| self.judge.plans().copies.get(&before.hash).ok());
        let (hash, plan) = self.judge.plans().copies.keep(text).map_err(ControlResponse::Failed)?;
        let is_wider = old.is_some_and(|old| widens(&old, &plan));
        let argument = if is_wider { format!("{argument}, wider than the plan before") } else { argument };
        self.conclude("plan_use", &argument, peer, Ok(()))?;
        let plan = PlanInForce { is_strict, ..started(hash, &shown(source), &of.to_string()) };
        self.put_in_force(place, Some(plan), ("plan_use", &argument), peer)
    }

    /// Ends a plan. Needs a person: without it, everything is permitted.
    pub(super) fn end_plan(&self, of: &PlanFor, peer: Peer<'_>) -> Result<(), ControlResponse> {
        let (place, argument) = (self.place(of)?, shown(&of.to_string()));
        let _changing = self.plan_changes();
        self.check_presence("plan_end", &argument, peer)?;
        let is_there = self.in_force(&place).is_some();
        let outcome = if is_there { Ok(()) } else { Err(format!("no plan is in force for {argument}")) };
        self.conclude("plan_end", &argument, peer, outcome)?;
        self.put_in_force(place, None, ("plan_end", &argument), peer)
    }

    /// Compiles Markdown to its effect scope. Nothing is in force before a person approves it.
    pub(super) fn propose_plan(
        &self,
        markdown: &str,
        of: &PlanFor,
        peer: Peer<'_>,
    ) -> Result<ControlResponse, ControlResponse> {
        let place = self.place(of)?;
        let root = match &place {
            PlanPlace::Workspace(path) => path.clone(),
            PlanPlace::Session(root) => self.judge.workspace_of_session(root),
        };
        let id = self.judge.take_request();
        let proposed = propose(markdown, (id, place, &of.to_string()), (&root, peer.pid), self.judge.own())
            .map_err(ControlResponse::Failed)?;
        let answer = shown_plan(&proposed);
        self.judge.plans().proposals.add(proposed);
        Ok(ControlResponse::Plan(Box::new(answer)))
    }

    /// Returns a proposal.
    pub(super) fn show_plan(&self, id: &str) -> Result<ControlResponse, ControlResponse> {
        let proposed = self.judge.plans().proposals.called(id);
        let proposed = proposed.ok_or_else(|| ControlResponse::Failed(none_called(id)))?;
        Ok(ControlResponse::Plan(Box::new(shown_plan(&proposed))))
    }

    /// Puts a proposal in force, if it is the one that was shown to the person. Where a strict plan was in force, the
    /// new one is strict, too: an approval permits no departures.
    pub(super) fn approve_plan(&self, id: &str, hash: &str, peer: Peer<'_>) -> Result<(), ControlResponse> {
        let argument = format!("{} {}", alphanumeric_start(id), alphanumeric_start(hash));
        let _changing = self.plan_changes();
        self.check_presence("plan_approve", &argument, peer)?;
        let found = match self.judge.plans().proposals.called(id) {
            None => Err(none_called(id)),
            Some(proposed) if proposed.hash() != hash => {
                Err(format!("{} is another plan by now: look at it again", alphanumeric_start(id)))
            }
            Some(proposed) => {
                self.judge.plans().copies.keep(&proposed.text).map(|(hash, _)| (hash, proposed))
            }
        };
        let outcome = found.as_ref().map(drop).map_err(Clone::clone);
        self.conclude("plan_approve", &argument, peer, outcome)?;
        let Ok((hash, Proposed { id, place, of, .. })) = found else { return Ok(()) };
        let is_strict = self.in_force(&place).is_some_and(|before| before.is_strict);
        let source = format!("proposal {id}");
        let plan = PlanInForce { is_strict, is_approved: true, ..started(hash, &source, &of) };
        self.put_in_force(place, Some(plan), ("plan_approve", &argument), peer)?;
        self.judge.plans().proposals.end(id);
        Ok(())
    }

    /// Returns the plans in force, then the proposals.
    pub(super) fn plans(&self) -> Vec<ListedPlan> {
        let in_force = self.judge.plans_in_force().into_iter().map(|(_, plan)| self.listed(&plan));
        let proposals = self.judge.plans().proposals.all().into_iter().map(|proposed| ListedPlan {
            of: proposed.of.clone(),
            proposal: Some(proposed.id.to_string()),
            scope: cut(proposed.scope),
            ..ListedPlan::default()
        });
        in_force.chain(proposals).take(PLANS_LISTED_MAX).collect()
    }

    fn listed(&self, plan: &PlanInForce) -> ListedPlan {
        let read = self.judge.plans().copies.get(&plan.hash);
        let scope = match read {
            Ok(read) => cut(describe(&read)),
            Err(why) => vec![("unreadable".to_owned(), vec![why])],
        };
        ListedPlan {
            of: plan.of.clone(),
            source: plan.source.clone(),
            hash: plan.hash.clone(),
            is_strict: plan.is_strict,
            is_approved: plan.is_approved,
            calls: plan.calls,
            departed: plan.departed,
            last: plan.last.clone(),
            proposal: None,
            scope,
        }
    }

    fn put_in_force(
        &self,
        place: PlanPlace,
        plan: Option<PlanInForce>,
        (action, argument): (&str, &str),
        peer: Peer<'_>,
    ) -> Result<(), ControlResponse> {
        let done = self.judge.use_plan(place, plan);
        let needed: Vec<String> =
            self.judge.plans_in_force().into_iter().map(|(_, plan)| plan.hash).collect();
        self.judge.plans().copies.forget_but(|hash| needed.iter().any(|one| one == hash));
        // The previous record says that the plan came into force.
        done.or_else(|why| self.conclude(action, argument, peer, Err(why)))
    }

    /// Serializes changes: another request must neither put a plan in force after this one's check of presence, nor
    /// remove the new copy as not needed.
    fn plan_changes(&self) -> MutexGuard<'_, ()> {
        self.plan_changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The plan that applies to a place now: of a session without an own one, that of its workspace.
    fn in_force(&self, place: &PlanPlace) -> Option<PlanInForce> {
        self.judge.plan_at(place)
    }

    fn place(&self, of: &PlanFor) -> Result<PlanPlace, ControlResponse> {
        match of {
            PlanFor::Workspace(path) => Ok(PlanPlace::Workspace(path.clone())),
            PlanFor::Session(session) => self.session_called(session).map(PlanPlace::Session),
        }
    }

    /// Returns the root of the sessions that an agent calls so.
    pub(super) fn session_called(&self, session: &str) -> Result<SessionKey, ControlResponse> {
        let key = |agent: &AgentId| SessionKey(PartsHash::of([agent.word(), session]).bytes());
        match self.judge.roots_of(AgentId::ALL.iter().map(key)).as_slice() {
            [root] => Ok(*root),
            [] => Err(format!("no session is called {}: see `castellan log`", shown(session))),
            _ => Err(format!("several agents have a session that is called {}", shown(session))),
        }
        .map_err(ControlResponse::Failed)
    }
}

fn started(hash: String, source: &str, of: &str) -> PlanInForce {
    PlanInForce {
        hash,
        source: source.to_owned(),
        of: of.to_owned(),
        is_strict: false,
        is_approved: false,
        started_s: unix_ms() / 1000,
        calls: 0,
        departed: 0,
        last: String::new(),
    }
}

fn shown_plan(proposed: &Proposed) -> ShownPlan {
    ShownPlan {
        id: proposed.id.to_string(),
        of: proposed.of.clone(),
        scope: proposed.scope.clone(),
        not_covered: proposed.not_covered.clone(),
        hash: proposed.hash(),
    }
}

/// Shortens the scope for the list: a frame holds all plans.
fn cut(scope: Vec<(String, Vec<String>)>) -> Vec<(String, Vec<String>)> {
    let section = |(title, mut lines): (String, Vec<String>)| {
        let more = lines.len().saturating_sub(SCOPE_LINES_LISTED);
        lines.truncate(SCOPE_LINES_LISTED);
        let mut lines: Vec<String> = lines.iter().map(|line| shown(line)).collect();
        if more > 0 {
            lines.push(format!("and {more} more"));
        }
        (shown(&title), lines)
    };
    scope.into_iter().take(SCOPE_LINES_LISTED).map(section).collect()
}

/// Sections of a plan's scope in the list, and lines of each. A person opens the plan for more.
const SCOPE_LINES_LISTED: usize = 12;

/// Plans in the list.
const PLANS_LISTED_MAX: usize = 64;

/// Shortens a text for a record.
pub(super) fn shown(text: &str) -> String {
    text.chars().take(200).collect()
}

fn none_called(id: &str) -> String {
    format!("no proposed plan is called {}: see `castellan plan status`", alphanumeric_start(id))
}
