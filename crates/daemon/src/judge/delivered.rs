//! A call that an agent delivers twice: it also reads the settings of another agent and starts that agent's hook, too. Where its
//! own hook asks castellan, the call is judged once. Everywhere else the payload of another agent is denied.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use castellan_agents::{self as agents, AgentId, Malformed};
use castellan_wire::{Reply, Request};

use super::{Asked, Attempt, Failure, Holding, Judge, Outcome};
use crate::deliveries::{Arrival, key};
use crate::peers::Sender;

impl Judge {
    /// Judges a question once, and gives the answer to both hooks that deliver it.
    pub(super) fn answered_once(
        &self,
        request: &Request,
        sender: Sender,
        holding: Holding,
        judge: impl FnOnce() -> Outcome,
    ) -> Outcome {
        let agent = request.agent.parse::<AgentId>().ok();
        let question = agent.filter(|agent| agents::question_event(*agent) == request.event);
        let Some(agent) = question.filter(|_| matches!(holding, Holding::May)) else { return judge() };
        let Some(from) = Self::from(agent, request) else { return judge() };
        let epoch = self.memory().epoch();
        match self.deliveries.arrive(key(sender.agent, from, request), agent) {
            Arrival::First(first) => {
                let outcome = judge();
                match &outcome {
                    Outcome::Decided(reply) => first.share(epoch, reply),
                    // A call that waits for a person is answered for one hook only.
                    Outcome::Held { .. } => drop(first),
                }
                outcome
            }
            Arrival::Second(Some((judged, reply))) if judged == epoch && self.asks_itself(from, sender) => {
                Outcome::Decided(reply)
            }
            Arrival::Second(_) => judge(),
        }
    }

    /// Returns the agent that sends such payloads; `None` if castellan guards none that does.
    fn from(hook: AgentId, request: &Request) -> Option<AgentId> {
        match agents::decode(hook, &request.event, &request.payload, &agents::Origin::default()) {
            Ok(_) => Some(hook),
            Err(malformed) => malformed.other_guarded().map(|(agent, _)| agent),
        }
    }

    /// Reports whether an agent asks by its own hook. Only then its payloads are judged, whichever hook delivers them.
    fn asks_itself(&self, agent: AgentId, sender: Sender) -> bool {
        (self.asks_by_its_own_hook)(agent, sender.agent, &self.own)
    }

    /// Judges a payload that the hook of another agent delivers, if its own agent asks castellan, too. Its other events come by
    /// its own hook. Denies each other payload that has no readable call.
    pub(super) fn delivered_elsewhere(
        &self,
        asked: &Asked<'_>,
        malformed: &Malformed,
    ) -> Result<Attempt, Failure> {
        let own = malformed.other_guarded().filter(|(agent, _)| self.asks_itself(*agent, asked.sender));
        let Some((agent, event)) = own else { return self.malformed(asked, malformed).map(Attempt::from) };
        if agents::question_event(agent) != event {
            return Ok(Reply::default().into());
        }
        let request = Request {
            agent: agent.word().to_owned(),
            event: event.to_owned(),
            parent_pid: asked.request.parent_pid,
            cwd: asked.request.cwd.clone(),
            payload: asked.request.payload.clone(),
        };
        self.judge(&Asked {
            agent,
            request: &request,
            sender: asked.sender,
            run: asked.run,
            started: asked.started,
            epoch: asked.epoch,
            in_force: Arc::clone(&asked.in_force),
            in_workspace: OnceCell::new(),
            holding: asked.holding,
            reviewed: Rc::clone(&asked.reviewed),
        })
    }
}
