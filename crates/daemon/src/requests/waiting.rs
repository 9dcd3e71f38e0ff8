//! [`Waiting`]: calls that were not allowed and that a person may grant, and the last refused ones. Pending calls are
//! only in memory, because the agent has to repeat the call anyway.

use std::collections::VecDeque;
use std::time::SystemTime;

use castellan_policy::{CallClass, Grant, Pending, RequestId};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{GrantKey, is_called};
use crate::explanation::Explanation;
use crate::limits::{ASKS_MAX, DENIED_TIME, ENDED_AGENT_TIME, REQUESTS_MAX, WAITING_BYTES_MAX};
use crate::peers::AgentProcess;
use crate::session_key::SessionKey;

/// A call that a person may grant.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Request {
    pub(crate) id: RequestId,
    pub(crate) key: GrantKey,
    pub(crate) session: SessionKey,
    /// Record number of the call at its last question.
    pub(crate) record: u64,
    /// The last questions of the agent about the call that are not over.
    pub(crate) asks: Vec<Ask>,
    /// The agent's session.
    pub(crate) session_id: String,
    pub(crate) subject: Subject,
    /// The whole input of the call.
    pub(crate) input: Json,
    /// SHA-256 of the input as text, in hex.
    pub(crate) input_sha256: String,
    /// Bytes in memory for the call.
    pub(crate) bytes: usize,
    /// Why the call is not allowed, one line for each finding.
    pub(crate) reasons: Vec<String>,
    /// Description of the call's effects.
    pub(crate) explanation: Explanation,
    pub(crate) grant: Grant,
    /// The class of the call, if a grant may be that wide.
    pub(crate) class: Option<CallClass>,
    /// The person may grant the class.
    pub(crate) is_offered: bool,
    /// Identifies the call and its grant, in hex, so that a person agrees exactly to what was shown.
    pub(crate) shown: String,
    pub(crate) asked: SystemTime,
    /// Number of questions.
    pub(crate) times: u32,
}

/// A question of an agent about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ask {
    /// The agent's own id of the call; empty if it gives none, as in a second question.
    pub(crate) use_id: String,
    /// The agent's turn, if it names one.
    pub(crate) turn_id: String,
    pub(crate) process: AgentProcess,
    /// A sub-agent asked. It continues while the user writes to the main agent.
    pub(crate) is_subagents: bool,
    pub(crate) waits: Waits,
}

/// Place where a call is pending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waits {
    /// At castellan: its hook waits.
    Held,
    /// At the agent's own open prompt.
    AtPrompt,
    /// Nowhere: it was denied, and the agent can repeat it.
    Denied,
}

/// Reason why calls are no longer pending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over<'a> {
    /// The user has written to the agent.
    Prompt,
    /// The agent is now in this turn.
    Turn(&'a str),
    Session,
}

/// The list entry of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Subject {
    /// The agent's name; `cwd` is the directory of the call.
    pub(crate) agent: String,
    pub(crate) cwd: String,
    pub(crate) tool: String,
    /// The input of the call, shortened.
    pub(crate) preview: String,
}

/// Pending calls, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    calls: VecDeque<Request>,
    /// The last refused calls. The hook of a call that is not held yet must still learn of the refusal.
    refused: VecDeque<RequestId>,
}

impl Waiting {
    /// Returns the call and its grant if it is already pending.
    pub(super) fn pending(&self, key: &GrantKey, session: &SessionKey) -> Option<Pending> {
        let is_it = |one: &&Request| one.key == *key && one.session == *session;
        let request = self.calls.iter().find(is_it)?;
        Some(Pending { id: request.id, grant: request.grant.clone() })
    }

    /// Reports whether a call of this id is pending.
    pub(super) fn knows(&self, id: RequestId) -> bool {
        self.calls.iter().any(|request| request.id == id)
    }

    /// Stores a call that was not allowed; the same call is stored once. The oldest calls make room. Returns true if
    /// the call was not shown before.
    pub(super) fn wait(&mut self, request: Request) -> bool {
        let is_it = |one: &Request| one.key == request.key && one.session == request.session;
        let before = self.calls.iter().find(|one| is_it(one));
        let is_new = before.is_none_or(|before| before.id != request.id);
        let times = before.map_or(0, |before| before.times);
        let mut asks = before.map_or_else(Vec::new, |before| before.asks.clone());
        request.asks.iter().for_each(|ask| ask.join(&mut asks));
        asks.drain(..asks.len().saturating_sub(ASKS_MAX));
        self.refused.retain(|id| *id != request.id);
        self.calls.retain(|one| !is_it(one));
        self.calls.push_back(Request { times: times.saturating_add(1), asks, ..request });
        let mut bytes: usize = self.calls.iter().map(|request| request.bytes).sum();
        while self.calls.len() > REQUESTS_MAX || bytes > WAITING_BYTES_MAX {
            let Some(oldest) = self.calls.pop_front() else { break };
            bytes = bytes.saturating_sub(oldest.bytes);
        }
        is_new
    }

    /// Pending calls, oldest first.
    pub(super) fn all(&self) -> impl Iterator<Item = &Request> {
        self.calls.iter()
    }

    /// The pending call of an id as a person writes it.
    pub(super) fn called(&self, id: &str) -> Option<&Request> {
        self.calls.iter().find(|request| is_called(request.id, id))
    }

    /// Ends the pending state of a call.
    pub(super) fn end(&mut self, id: RequestId) {
        self.calls.retain(|request| request.id != id);
    }

    /// Ends a call by the agent's call id. If it ran, its earlier denials are no longer pending either. Returns the class
    /// of a call that was asked about at the agent's own prompt.
    pub(super) fn over(
        &mut self,
        key: &GrantKey,
        session: &SessionKey,
        use_id: &str,
        ran: bool,
    ) -> Option<CallClass> {
        let is_it = |one: &&mut Request| one.key == *key && one.session == *session;
        let request = self.calls.iter_mut().find(is_it)?;
        let class = request.class.clone();
        let asks = &mut request.asks;
        let named = asks.iter().position(|ask| ask.use_id == use_id);
        let meant = named.or_else(|| asks.iter().position(|ask| ask.use_id.is_empty()));
        let meant = meant.filter(|at| asks.get(*at).is_some_and(|ask| ran || ask.waits == Waits::AtPrompt));
        let ended = meant.map(|at| asks.remove(at));
        asks.retain(|ask| !ran || ask.waits != Waits::Denied);
        self.calls.retain(|request| !request.asks.is_empty());
        class.filter(|_| ended.is_some_and(|ask| ask.waits == Waits::AtPrompt))
    }

    /// Ends the pending state of a session's calls. A denied call outlives its session, because the user may approve it
    /// and continue. `is_waiting`: whether a hook waits.
    pub(super) fn end_of(
        &mut self,
        session: &SessionKey,
        over: Over<'_>,
        is_waiting: impl Fn(RequestId) -> bool,
    ) {
        for request in self.calls.iter_mut().filter(|request| request.session == *session) {
            let is_waiting = is_waiting(request.id);
            request.asks.retain(|ask| !ask.is_over(over) || ask.waits == Waits::Held && is_waiting);
        }
        self.calls.retain(|request| !request.asks.is_empty());
    }

    /// Drops denied calls and calls of ended agents, each after its own time.
    pub(super) fn drop_over(&mut self, now: SystemTime, lives: impl Fn(&AgentProcess) -> bool) {
        for request in &mut self.calls {
            // A clock that was set back drops nothing.
            let since = now.duration_since(request.asked).unwrap_or_default();
            request.asks.retain(|ask| match ask.waits {
                Waits::Denied => since < DENIED_TIME,
                Waits::Held | Waits::AtPrompt => {
                    since < ENDED_AGENT_TIME || ask.process.pid == 0 || lives(&ask.process)
                }
            });
        }
        self.calls.retain(|request| !request.asks.is_empty());
    }

    /// Ends a refused call and stores the refusal for its hook.
    pub(super) fn refuse(&mut self, id: RequestId) {
        self.end(id);
        if self.refused.len() >= REQUESTS_MAX {
            self.refused.pop_front();
        }
        self.refused.push_back(id);
    }

    /// Reports whether a person refused the call of this id and no call has used the id since.
    pub(super) fn was_refused(&self, id: RequestId) -> bool {
        self.refused.contains(&id)
    }
}

impl Request {
    /// Reports whether the agent's own prompt is open for the call.
    pub(crate) fn is_at_prompt(&self) -> bool {
        self.asks.iter().any(|ask| ask.waits == Waits::AtPrompt)
    }

    /// The agent's ids of the questions after which the call did not run. At the agent's own prompt it may still run.
    pub(crate) fn not_run(&self) -> Vec<String> {
        let not_run = self.asks.iter().filter(|ask| ask.waits != Waits::AtPrompt);
        not_run.map(|ask| ask.use_id.clone()).collect()
    }
}

impl Ask {
    /// Adds this question to the earlier ones. The answer to a held call and a second question replace the earlier
    /// question about the same call.
    fn join(&self, asks: &mut Vec<Ask>) {
        let is_same = |ask: &Ask| match self.use_id.as_str() {
            "" => ask.waits == self.waits && ask.is_subagents == self.is_subagents,
            id => ask.use_id == id,
        };
        match asks.iter_mut().find(|ask| is_same(ask)) {
            Some(before) => *before = Ask { use_id: before.use_id.clone(), ..self.clone() },
            None => asks.push(self.clone()),
        }
    }

    fn is_over(&self, over: Over<'_>) -> bool {
        match over {
            Over::Prompt => !self.is_subagents,
            Over::Turn(turn) => !self.is_subagents && !self.turn_id.is_empty() && self.turn_id != turn,
            Over::Session => self.waits != Waits::Denied,
        }
    }
}
