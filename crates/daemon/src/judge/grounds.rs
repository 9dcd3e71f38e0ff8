//! [`Grounds`]: the basis of a decision, read from the memory and the agent's process. It must not know the decision.

use std::sync::Arc;
use std::time::Duration;

use castellan_agents as agents;
use castellan_event::{AccessLevel, Call, Facts, Mode, Recorder, Session};
use castellan_policy::{Block, CallClass, Failed, Pending, RequestId, State, Tries};

use super::containment::{ABLE, ABLE_TO_CONTAIN};
use super::planned::Planned;
use super::{Asked, Judge, Whose};
use crate::requests::Taken;

/// Facts from before the call is judged: its first question, its grants, and the same call if it is pending.
pub(super) struct Earlier {
    /// The number of the call's record, if it was asked about before.
    pub(super) first: Option<u64>,
    /// The session as the call sees it.
    pub(super) session: Arc<Session>,
    /// The grant of the call: taken now, or by its first question.
    pub(super) granted: Option<Taken>,
    /// Classes of calls that are granted in the session.
    pub(super) granted_classes: Vec<CallClass>,
    /// Classes of calls that the person may grant.
    pub(super) offered_classes: Vec<CallClass>,
    /// The same call, if it is already pending.
    pub(super) pending: Option<Pending>,
    /// The id for a new request.
    pub(super) next_request: RequestId,
}

/// The basis of a decision.
pub(super) struct Grounds {
    pub(super) earlier: Earlier,
    pub(super) facts: Facts,
    /// The call beside its session's plan.
    pub(super) planned: Option<Planned>,
    /// The denials in its session.
    pub(super) tries: Arc<Tries>,
    ceiling: AccessLevel,
    is_halted: bool,
    lacks_sandbox: bool,
    block: Option<Block>,
    is_new_server: bool,
    agent_asks: bool,
    agent_prompts: bool,
    honours_allow: bool,
    host_judges: bool,
    is_headless: bool,
    can_contain: bool,
    hold: Option<Duration>,
    pub(super) failed: Vec<Failed>,
}

impl Judge {
    /// Reads the basis of a decision.
    pub(super) fn grounds(
        &self,
        (asked, call, whose): (&Asked<'_>, &Call, &Whose),
        earlier: Earlier,
        world: &mut Recorder<'_>,
    ) -> Grounds {
        let terms = asked.terms();
        let permission_mode = &call.agent.permission_mode;
        let is_halted = self.is_halted(asked, whose);
        let facts = match terms.mode == Mode::Passthrough || is_halted {
            true => Facts::default(),
            false => self.facts(asked, call, (whose, earlier.first), world),
        };
        let follows = self.consequence(asked, &whose.session.id);
        let tries = self.memory().tries(&whose.session.root);
        let planned = self.planned(asked, whose, (call, earlier.first.is_some()), &facts);
        Grounds {
            planned,
            tries,
            ceiling: follows.ceiling.map_or(whose.ceiling, |level| level.min(whose.ceiling)),
            is_halted,
            lacks_sandbox: self.lacks_sandbox(asked),
            block: follows.block,
            is_new_server: self.is_new_server(call, whose),
            agent_asks: asked.holds_ask(call, &facts),
            agent_prompts: agents::prompts(asked.agent, call),
            honours_allow: agents::honours_allow(asked.agent, call),
            host_judges: terms.policy.settings().review.is_on() && asked.host_judges(permission_mode),
            is_headless: terms.policy.settings().minds_headless() && asked.is_headless(permission_mode),
            can_contain: self.can_contain(asked.agent, call),
            hold: asked.hold_time(call, earlier.first.is_some()),
            failed: asked.failed_to_hold().into_iter().chain(asked.failed_review()).collect(),
            facts,
            earlier,
        }
    }

    /// Reports whether a call uses an MCP server that no person has agreed to.
    fn is_new_server(&self, call: &Call, whose: &Whose) -> bool {
        let server = call.tool.mcp.as_ref().map(|(server, _)| server);
        server.is_some_and(|server| !self.memory().knows_server(&whose.session.root, server))
    }
}

impl Grounds {
    /// Returns the state that a decision depends on, without a tester of rules: that one knows the time of the call.
    pub(super) fn state<'s>(&'s self, asked: &Asked<'_>, whose: &Whose) -> State<'s> {
        State {
            mode: asked.terms().mode,
            agent_asks: self.agent_asks,
            agent_prompts: self.agent_prompts,
            honours_allow: self.honours_allow,
            host_judges: self.host_judges,
            headless: self.is_headless,
            ceiling: self.ceiling,
            workspace_trust: whose.workspace_trust,
            is_new_server: self.is_new_server,
            is_halted: self.is_halted,
            is_paused: asked.terms().is_paused(),
            lacks_sandbox: self.lacks_sandbox,
            block: self.block.as_ref(),
            next_request: self.earlier.next_request,
            plan: self.planned.as_ref().map(|planned| &planned.check),
            session: &self.earlier.session,
            tries: &self.tries,
            grant: self.earlier.granted.as_ref().map(|taken| &taken.grant),
            granted_classes: &self.earlier.granted_classes,
            offered_classes: &self.earlier.offered_classes,
            pending: self.earlier.pending.as_ref(),
            is_refused: asked.is_refused(),
            is_repeated: self.earlier.first.is_some(),
            hold: self.hold,
            able: if self.can_contain { ABLE_TO_CONTAIN } else { ABLE },
            failed: &self.failed,
            tester: None,
        }
    }
}
