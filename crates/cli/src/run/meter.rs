//! [`Meter`]: an agent's reports in its stream and transcripts, summed, compared with the budgets, recorded. It finds
//! the reason to end the agent, and ends nothing.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use castellan_agents::{AgentId, StreamCall, StreamProblem, Tokens, is_session_id, stream_line};
use castellan_daemon::RunNote;
use memchr::memmem::Finder;

use super::budget::{Budget, Budgets, Spent, both};
use super::lines::Line;
use super::reporter::Reporter;
use super::spending::Spending;
use super::sums::SessionSums;
use super::transcripts::{Found, Transcripts};
use crate::limits::{CALLS_KEPT, SESSION_SUMS_PAUSE};
use crate::output::{self, WARNING};

/// The reason why `castellan run` ends the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cause {
    /// More tokens than the limit.
    Exceeded(Budget, Spent),
    /// The tokens that the agent spent cannot be read, so they may be more than the limit.
    Unreadable(String),
    /// castellan cannot record or store what the agent does.
    Failed(String),
}

/// Reads what an agent reports.
#[derive(Debug)]
pub(crate) struct Meter {
    agent: AgentId,
    budgets: Budgets,
    is_observer: bool,
    sums: SessionSums,
    reporter: Reporter,
    words: Vec<Finder<'static>>,
    state: Mutex<State>,
    end: OnceLock<End>,
    recorded: OnceLock<()>,
}

/// The first cause, and its record.
#[derive(Debug)]
struct End {
    cause: Cause,
    kind: RunNote,
    text: String,
}

#[derive(Debug, Default)]
struct State {
    spending: Spending,
    transcripts: Option<Transcripts>,
    /// The sessions of this start, with the tokens of all other starts. The last one is current.
    sessions: Vec<(String, u64)>,
    /// The tokens of this start that are in the sums already.
    stored: u64,
    stored_at: Option<Instant>,
    calls: BTreeSet<String>,
    calls_order: VecDeque<String>,
    warned: BTreeSet<Budget>,
    has_warned: bool,
}

/// An escaped letter: a key may be written with it.
const ESCAPED: &str = "\\u00";

impl Meter {
    pub(crate) fn new(
        agent: AgentId,
        (budgets, is_observer): (Budgets, bool),
        sums: SessionSums,
        reporter: Reporter,
        transcripts: Option<Transcripts>,
    ) -> Meter {
        let words = castellan_agents::stream_words(agent).iter().copied().chain([ESCAPED]);
        Meter {
            agent,
            budgets,
            is_observer,
            sums,
            reporter,
            words: words.map(Finder::new).collect(),
            state: Mutex::new(State { transcripts, ..State::default() }),
            end: OnceLock::new(),
            recorded: OnceLock::new(),
        }
    }

    pub(crate) fn cause(&self) -> Option<&Cause> {
        self.end.get().map(|end| &end.cause)
    }

    /// Reads a line of the stream. Returns true if this line is the reason to end the agent.
    pub(crate) fn line(&self, line: &Line<'_>) -> bool {
        let Line::Whole(line) = line else { return self.unread("a line of the stream is too long") };
        if !self.words.iter().any(|word| word.find(line).is_some()) {
            return false;
        }
        match stream_line(self.agent, line) {
            Err(problem) => self.unread(&problem.to_string()),
            Ok(read) => {
                let mut state = self.lock();
                if let Some(session) = read.session
                    && let Err(cause) = self.see(&mut state, &session)
                {
                    return self.end(&state, cause);
                }
                let thread = state.sessions.last().map(|(id, _)| id.clone()).unwrap_or_default();
                read.usage.iter().for_each(|report| state.spending.add(&thread, report));
                let recorded = read.calls.iter().try_for_each(|call| self.record(&mut state, &thread, call));
                self.settle(&mut state, recorded, false)
            }
        }
    }

    /// Names the session before the agent starts. An exhausted session is a reason not to start it.
    pub(crate) fn begin(&self, session: &str) -> bool {
        let mut state = self.lock();
        let seen = self.see(&mut state, session);
        self.settle(&mut state, seen, false)
    }

    /// Reads the new lines of the transcripts. Returns true if they are the reason to end the agent.
    pub(crate) fn look(&self, is_last: bool) -> bool {
        let mut state = self.lock();
        let read = self.read_transcripts(&mut state);
        self.settle(&mut state, read, is_last)
    }

    /// The stream has ended. Returns true if that is the reason to end the agent: without a session, its transcripts are
    /// unknown.
    pub(crate) fn stream_ended(&self) -> bool {
        let is_known = !self.budgets.is_some() || !self.lock().sessions.is_empty();
        !is_known && self.unread("the stream ended before it named a session")
    }

    /// The agent has ended. Returns true if that shows a reason. An agent that has succeeded has spent tokens: without a
    /// report they are somewhere else.
    pub(crate) fn agent_ended(&self, has_succeeded: bool) -> bool {
        let is_reason = self.look(true);
        let is_silent = |state: &State| state.spending.total() == Tokens::default();
        let is_missing = has_succeeded && self.budgets.is_some() && is_silent(&self.lock());
        is_reason || is_missing && self.unread("the agent reported no tokens")
    }

    /// A part of what the agent reports was not read, by a failure of castellan. Returns true if that is the reason to end
    /// the agent.
    pub(crate) fn failed(&self, why: &str) -> bool {
        let why = format!("the agent's output cannot be read: {why}");
        let state = self.lock();
        if self.is_observer || self.budgets.is_some() {
            return self.end(&state, Cause::Failed(why));
        }
        drop(state);
        self.unread(&why)
    }

    /// Shows and records why the agent is ended, if it is, once. Waits for the daemon; a second caller waits, too.
    pub(crate) fn record_end(&self) {
        let Some(End { kind, text, .. }) = self.end.get() else { return };
        self.recorded.get_or_init(|| {
            warn(&format!("{} is ended: {}: {text}", self.agent.title(), kind.as_str()));
            if let Err(error) = self.reporter.ended(*kind, text) {
                warn(&format!("the end cannot be recorded: {error}"));
            }
        });
    }

    /// Makes a session the current one.
    fn see(&self, state: &mut State, session: &str) -> Result<(), Cause> {
        if state.sessions.last().is_some_and(|(known, _)| known == session) {
            return Ok(());
        }
        if !is_session_id(session) {
            return Err(Cause::Unreadable("the agent's session id is no id".to_owned()));
        }
        let before = if self.budgets.is_some() {
            self.sums
                .of(self.agent.word(), session)
                .map_err(|error| Cause::Failed(output::message(&error)))?
        } else {
            0
        };
        state.sessions.retain(|(known, _)| known != session);
        state.sessions.push((session.to_owned(), before));
        if let Some(transcripts) = &mut state.transcripts {
            transcripts.add_session(session);
        }
        // A thread's earlier usage must be known before its next sum.
        self.read_transcripts(state)
    }

    fn record(&self, state: &mut State, session: &str, call: &StreamCall) -> Result<(), Cause> {
        if !call.id.is_empty() {
            if !state.calls.insert(call.id.clone()) {
                return Ok(());
            }
            state.calls_order.push_back(call.id.clone());
            if state.calls_order.len() > CALLS_KEPT {
                state.calls_order.pop_front().map(|oldest| state.calls.remove(&oldest));
            }
        }
        match self.reporter.attempt(session, call) {
            Err(error) if self.is_observer => {
                Err(Cause::Failed(format!("a call cannot be recorded: {error}")))
            }
            Err(error) => {
                if !std::mem::replace(&mut state.has_warned, true) {
                    warn(&format!("a call of the agent cannot be recorded: {error}"));
                }
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Compares with the budgets, and stores the session's tokens.
    fn settle(&self, state: &mut State, read: Result<(), Cause>, is_last: bool) -> bool {
        if let Err(cause) = read {
            return self.end(state, cause);
        }
        if !self.budgets.is_some() {
            return false;
        }
        let new = both(state.spending.total()).saturating_sub(state.stored);
        let is_due = state.stored_at.is_none_or(|at| at.elapsed() >= SESSION_SUMS_PAUSE);
        let is_over = |state: &State| self.budgets.exceeded(self.spent(state)).is_some();
        if new > 0
            && (is_due || is_last || is_over(state))
            && let Err(cause) = self.store(state, new)
        {
            return self.end(state, cause);
        }
        let spent = self.spent(state);
        let exceeded = self.budgets.exceeded(spent);
        if let Some(budget) = exceeded {
            return self.end(state, Cause::Exceeded(budget, spent));
        }
        for budget in self.budgets.nearly(spent) {
            if state.warned.insert(budget) {
                warn(&format!("four fifths of the tokens are spent: {}", self.budgets.shown(budget, spent)));
            }
        }
        false
    }

    /// Adds new tokens to the sums. Reads there what parallel starts of the same session have spent.
    fn store(&self, state: &mut State, new: u64) -> Result<(), Cause> {
        let own = both(state.spending.total());
        for (session, before) in &mut state.sessions {
            let total = self.sums.add(self.agent.word(), session, new);
            let total = total.map_err(|error| Cause::Failed(output::message(&error)))?;
            *before = (*before).max(total.saturating_sub(own));
        }
        if !state.sessions.is_empty() {
            state.stored = own;
            state.stored_at = Some(Instant::now());
        }
        Ok(())
    }

    fn spent(&self, state: &State) -> Spent {
        let before = state.sessions.iter().map(|(_, before)| *before).max().unwrap_or(0);
        Spent::of(state.spending.total(), before)
    }

    /// Something in the stream cannot be read. With a budget it may hide what was spent.
    fn unread(&self, why: &str) -> bool {
        let mut state = self.lock();
        if self.budgets.is_some() {
            return self.end(&state, Cause::Unreadable(why.to_owned()));
        }
        if !std::mem::replace(&mut state.has_warned, true) {
            warn(&format!("calls of the agent may be missing in the log: {why}"));
        }
        false
    }

    /// Keeps the first cause.
    fn end(&self, state: &State, cause: Cause) -> bool {
        let session = state.sessions.last().map(|(id, _)| id.as_str()).unwrap_or("unknown");
        let (invocation, of_session) = (Budget::Invocation, Budget::Session);
        let spent = self.spent(state);
        let shown =
            format!("{}, {}", self.budgets.shown(invocation, spent), self.budgets.shown(of_session, spent));
        let (kind, why) = match &cause {
            Cause::Exceeded(budget, _) => (RunNote::TokenBudgetExceeded, format!("the {budget} budget")),
            Cause::Unreadable(why) => (RunNote::TokenUsageUnreadable, why.clone()),
            Cause::Failed(why) => (RunNote::RunFailed, why.clone()),
        };
        let text = format!("session {session}: {why}: {shown}");
        self.end.set(End { cause, kind, text }).is_ok()
    }

    /// Adds the new lines of the transcripts. They also have calls that an observer's stream does not show.
    fn read_transcripts(&self, state: &mut State) -> Result<(), Cause> {
        let Some(transcripts) = &mut state.transcripts else { return Ok(()) };
        let found =
            transcripts.read().map_err(|problem: StreamProblem| Cause::Unreadable(problem.to_string()))?;
        for Found { thread, line, is_before } in found {
            for report in &line.usage {
                if is_before {
                    state.spending.add_before(&thread, report);
                } else {
                    state.spending.add(&thread, report);
                }
            }
            if self.is_observer && !is_before {
                line.calls.iter().try_for_each(|call| self.record(state, &thread, call))?;
            }
        }
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes a warning. If standard error is closed, the record still has it.
pub(crate) fn warn(text: &str) {
    let _closed = output::write_messages(&mut anstream::stderr(), WARNING, &[text]);
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Exceeded(budget, _) => write!(f, "the {budget} budget is exceeded"),
            Cause::Unreadable(why) | Cause::Failed(why) => f.write_str(why),
        }
    }
}
