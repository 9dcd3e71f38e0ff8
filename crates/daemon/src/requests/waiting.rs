//! [`Waiting`]: calls that were not let run, for a person to look at, and what a person has just refused of them. What waits lives
//! in memory alone: the agent has to make the call again anyway.

use std::collections::VecDeque;
use std::time::SystemTime;

use castellan_policy::{Grant, Pending, RequestId};
use serde_json::Value as Json;

use super::{GrantKey, is_called};
use crate::explanation::Explanation;
use crate::limits::{ASKS_MAX, DENIED_TIME, ENDED_AGENT_TIME, REQUESTS_MAX, WAITING_BYTES_MAX};
use crate::memory::SessionKey;
use crate::peers::AgentProcess;

/// A call that a person may grant.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Request {
    pub(crate) id: RequestId,
    pub(crate) key: GrantKey,
    pub(crate) session: SessionKey,
    /// The number of the record of the call, as it was asked last.
    pub(crate) record: u64,
    /// Each time that the agent asked about it and that is not over, the last ones.
    pub(crate) asks: Vec<Ask>,
    /// The agent's session.
    pub(crate) session_id: String,
    pub(crate) subject: Subject,
    /// What it is called with, whole.
    pub(crate) input: Json,
    /// SHA-256 of that as text, in hex.
    pub(crate) input_sha256: String,
    /// Bytes that are kept of it.
    pub(crate) bytes: usize,
    /// Why it does not simply run, one line for each finding.
    pub(crate) reasons: Vec<String>,
    /// What it would do.
    pub(crate) explanation: Explanation,
    pub(crate) grant: Grant,
    /// Names the call and what of it can be granted, in hex: what a person agrees to is what they were shown.
    pub(crate) shown: String,
    pub(crate) asked: SystemTime,
    /// How often it was asked.
    pub(crate) times: u32,
}

/// One time that an agent asked about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ask {
    /// The agent's own id of the call; empty where it gives none, as in a second question.
    pub(crate) use_id: String,
    /// The agent's turn, where it names one.
    pub(crate) turn_id: String,
    pub(crate) process: AgentProcess,
    /// A sub-agent asked: it goes on while the user talks to the main agent.
    pub(crate) is_subagents: bool,
    pub(crate) waits: Waits,
}

/// Where a call waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waits {
    /// At castellan: its hook waits.
    Held,
    /// At the agent's own prompt, which is open.
    AtPrompt,
    /// Nowhere: it was denied, and the agent can make it again.
    Denied,
}

/// Why calls wait no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over<'a> {
    /// The user has said something to the agent.
    Prompt,
    /// The agent is in this turn by now.
    Turn(&'a str),
    /// The session has ended.
    Session,
}

/// What a list says of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Subject {
    /// The agent's name, and where the call was made.
    pub(crate) agent: String,
    pub(crate) cwd: String,
    pub(crate) tool: String,
    /// What it is called with, shortened.
    pub(crate) preview: String,
}

/// What waits, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    calls: VecDeque<Request>,
    /// What was refused last: of a call that is not held yet its hook has still to hear of it.
    refused: VecDeque<RequestId>,
}

impl Waiting {
    /// The call, where it waits already, with what a person can grant of it.
    pub(super) fn pending(&self, key: &GrantKey, session: &SessionKey) -> Option<Pending> {
        let is_it = |one: &&Request| one.key == *key && one.session == *session;
        let request = self.calls.iter().find(is_it)?;
        Some(Pending { id: request.id, grant: request.grant.clone() })
    }

    /// Whether a call of this id waits.
    pub(super) fn knows(&self, id: RequestId) -> bool {
        self.calls.iter().any(|request| request.id == id)
    }

    /// Remembers a call that was not let run, and that is asked about once. The oldest go first. True when nobody was told of it before.
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

    /// What waits, the oldest first.
    pub(super) fn all(&self) -> impl Iterator<Item = &Request> {
        self.calls.iter()
    }

    /// What waits under an id as a person writes it.
    pub(super) fn called(&self, id: &str) -> Option<&Request> {
        self.calls.iter().find(|request| is_called(request.id, id))
    }

    /// A call waits no more.
    pub(super) fn end(&mut self, id: RequestId) {
        self.calls.retain(|request| request.id != id);
    }

    /// A call of a session is over, by the agent's id of it. Where it ran, the same call that was denied before waits no more either.
    pub(super) fn over(&mut self, key: &GrantKey, session: &SessionKey, use_id: &str, ran: bool) {
        let is_it = |one: &&mut Request| one.key == *key && one.session == *session;
        let Some(request) = self.calls.iter_mut().find(is_it) else { return };
        let asks = &mut request.asks;
        let named = asks.iter().position(|ask| ask.use_id == use_id);
        let meant = named.or_else(|| asks.iter().position(|ask| ask.use_id.is_empty()));
        let meant = meant.filter(|at| asks.get(*at).is_some_and(|ask| ran || ask.waits == Waits::AtPrompt));
        if let Some(at) = meant {
            asks.remove(at);
        }
        asks.retain(|ask| !ran || ask.waits != Waits::Denied);
        self.calls.retain(|request| !request.asks.is_empty());
    }

    /// Calls of a session wait no more. A call that was denied outlives its session: the user approves it, and continues. `is_held`: whether
    /// a hook waits.
    pub(super) fn end_of(
        &mut self,
        session: &SessionKey,
        over: Over<'_>,
        is_held: impl Fn(RequestId) -> bool,
    ) {
        for request in self.calls.iter_mut().filter(|request| request.session == *session) {
            let is_held = is_held(request.id);
            request.asks.retain(|ask| !ask.is_over(over) || ask.waits == Waits::Held && is_held);
        }
        self.calls.retain(|request| !request.asks.is_empty());
    }

    /// Calls wait no more whose agents have ended, nor calls that were denied, each after a time of its own.
    pub(super) fn drop_over(&mut self, now: SystemTime, lives: impl Fn(&AgentProcess) -> bool) {
        for request in &mut self.calls {
            // A clock that was set back proves nothing.
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

    /// A person has refused it: it waits no more, and that is remembered for its hook.
    pub(super) fn refuse(&mut self, id: RequestId) {
        self.end(id);
        if self.refused.len() >= REQUESTS_MAX {
            self.refused.pop_front();
        }
        self.refused.push_back(id);
    }

    /// Whether a person has refused what waited under this id, and nothing has waited under it since.
    pub(super) fn was_refused(&self, id: RequestId) -> bool {
        self.refused.contains(&id)
    }
}

impl Request {
    /// Whether the agent's own prompt is open for it.
    pub(crate) fn is_at_prompt(&self) -> bool {
        self.asks.iter().any(|ask| ask.waits == Waits::AtPrompt)
    }

    /// The agent's ids of the call, each time that it was asked about and did not run: at the agent's own prompt it may still.
    pub(crate) fn not_run(&self) -> Vec<String> {
        let not_run = self.asks.iter().filter(|ask| ask.waits != Waits::AtPrompt);
        not_run.map(|ask| ask.use_id.clone()).collect()
    }
}

impl Ask {
    /// Joins what was asked before. The answer to a held call, and a second question, are about a call that is among these.
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
