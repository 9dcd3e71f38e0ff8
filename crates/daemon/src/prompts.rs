//! [`Prompts`]: the user's own prompts, for reviews. They stay in memory. A prompt counts only if it certainly comes from
//! a person at the agent process that asks about the call. It must not know reviews.
//!
//! A tool that the agent runs can start castellan's hook, or talk to the socket, as the agent itself does. So a prompt
//! counts only while no call of the agent process runs and nothing that its calls have started is left.

mod source;

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use castellan_review::Prompt;

pub(crate) use self::source::is_from_person;
use crate::limits::{
    PROMPT_BYTES_MAX, PROMPTING_AGENTS_MAX, PROMPTING_SESSIONS_MAX, PROMPTS_PER_SESSION_MAX,
    RUNNING_CALLS_MAX,
};
use crate::peers::AgentProcess;
use crate::platform::start_clock;
use crate::session_key::SessionKey;

/// Prompts and running calls of agent processes.
#[derive(Debug)]
pub(crate) struct Prompts(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    agents: HashMap<AgentProcess, Agent>,
    /// Calls of processes that started no later are not known completely. No prompt of them counts.
    unknown_until: u64,
}

#[derive(Debug, Default)]
struct Agent {
    calls: Calls,
    /// Sessions with prompts, the latest last.
    sessions: VecDeque<(SessionKey, VecDeque<Stored>)>,
}

/// The calls of an agent process. Times are those of the clock of start times of processes.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Calls {
    /// The agent's ids of calls that may run.
    open: Vec<String>,
    /// The time of the first call.
    first: Option<u64>,
    /// The latest time at which a call may have run.
    last: u64,
}

#[derive(Debug)]
struct Stored {
    text: String,
    at_ms: u64,
}

impl Prompts {
    /// `known` are processes that made calls before this daemon started.
    pub(crate) fn new(known: impl IntoIterator<Item = AgentProcess>) -> Prompts {
        let unknown_until = known.into_iter().map(|process| process.started).max().unwrap_or_default();
        Prompts(Mutex::new(Inner { unknown_until, ..Inner::default() }))
    }

    /// Stores that a process has asked about a call, which may run.
    pub(crate) fn begin(&self, process: AgentProcess, id: &str) {
        let (now, _) = start_clock();
        self.lock().with(process, |agent| agent.calls.begin(id, now));
    }

    /// Stores that a call has ended, or does not run.
    pub(crate) fn end(&self, process: AgentProcess, id: &str) {
        let (now, _) = start_clock();
        self.lock().with(process, |agent| agent.calls.end(id, now));
    }

    /// Returns the calls of a process if none of them may run now. `None` if a call may run, or if that is unknown.
    pub(crate) fn ended_calls(&self, process: AgentProcess) -> Option<Calls> {
        let mut inner = self.lock();
        let calls = inner.with(process, |agent| agent.calls.clone())?;
        calls.open.is_empty().then_some(calls)
    }

    /// Ends the turn of a process. No agent reports the end of each call.
    pub(crate) fn end_turn(&self, process: AgentProcess) {
        let (now, _) = start_clock();
        self.lock().with(process, |agent| agent.calls.end_all(now));
    }

    /// Stores a prompt that counts.
    pub(crate) fn add(&self, process: AgentProcess, session: SessionKey, text: &str, at_ms: u64) {
        let stored = Stored { text: shortened(text).to_owned(), at_ms };
        self.lock().with(process, |agent| agent.add(session, stored));
    }

    /// Removes the prompts of a session. After a prompt that does not count, the stored ones are not all of them.
    pub(crate) fn forget(&self, process: AgentProcess, session: SessionKey) {
        self.lock().with(process, |agent| agent.sessions.retain(|(of, _)| *of != session));
    }

    /// Returns the prompts of a session of a process, newest last.
    pub(crate) fn of(&self, process: AgentProcess, session: SessionKey, now_ms: u64) -> Vec<Prompt> {
        let inner = self.lock();
        let sessions = inner.agents.get(&process).map(|agent| &agent.sessions);
        let stored = sessions.and_then(|all| all.iter().find(|(of, _)| *of == session));
        let prompt =
            |one: &Stored| Prompt { text: one.text.clone(), age_s: now_ms.saturating_sub(one.at_ms) / 1000 };
        stored.map(|(_, prompts)| prompts.iter().map(prompt).collect()).unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Applies `work` to the state of a process whose calls are all known; else returns `None`.
    fn with<T>(&mut self, process: AgentProcess, work: impl FnOnce(&mut Agent) -> T) -> Option<T> {
        if process.pid == 0 || process.started <= self.unknown_until {
            return None;
        }
        if !self.agents.contains_key(&process) && self.agents.len() >= PROMPTING_AGENTS_MAX {
            self.agents.retain(|known, _| known.lives());
        }
        if !self.agents.contains_key(&process) && self.agents.len() >= PROMPTING_AGENTS_MAX {
            self.unknown_until = process.started;
            return None;
        }
        Some(work(self.agents.entry(process).or_default()))
    }
}

impl Agent {
    fn add(&mut self, session: SessionKey, prompt: Stored) {
        let at = self.sessions.iter().position(|(of, _)| *of == session);
        let mut prompts =
            at.and_then(|at| self.sessions.remove(at)).map(|(_, prompts)| prompts).unwrap_or_default();
        prompts.push_back(prompt);
        if prompts.len() > PROMPTS_PER_SESSION_MAX {
            prompts.pop_front();
        }
        self.sessions.push_back((session, prompts));
        if self.sessions.len() > PROMPTING_SESSIONS_MAX {
            self.sessions.pop_front();
        }
    }
}

impl Calls {
    fn begin(&mut self, id: &str, now: u64) {
        self.first.get_or_insert(now);
        // The end of a call that is not stored is unknown, so it stays open until the turn ends.
        if self.open.len() < RUNNING_CALLS_MAX && !self.open.iter().any(|open| open == id) {
            self.open.push(id.to_owned());
        }
    }

    fn end(&mut self, id: &str, now: u64) {
        if self.open.len() < RUNNING_CALLS_MAX {
            self.open.retain(|open| open != id);
        }
        self.last = now;
    }

    fn end_all(&mut self, now: u64) {
        if !self.open.is_empty() {
            self.open.clear();
            self.last = now;
        }
    }

    /// Reports whether a process that started at this time may have been started by a call.
    fn may_have_started(&self, started: u64) -> bool {
        self.first.is_some_and(|first| (first..=self.last).contains(&started))
    }
}

/// Returns the start of a text.
fn shortened(text: &str) -> &str {
    text.get(..text.floor_char_boundary(PROMPT_BYTES_MAX)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
