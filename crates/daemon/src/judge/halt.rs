//! The halt of agents: no call that is judged or answered after it may run. It must not know how a person asks for it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use castellan_agents::AgentId;

use super::{Asked, Judge, Whose};
use crate::held::End;
use crate::memory::{Halt, HaltPlace};
use crate::peers::AgentProcess;
use crate::session_key::SessionKey;

/// Orders answers and halts: an answer is sent before a halt is in force, or the call is judged again.
#[derive(Debug, Default)]
pub(crate) struct Halting {
    /// Number of halts so far.
    count: AtomicU64,
    /// Held while an answer is sent; a halt waits for it.
    sending: RwLock<()>,
}

/// The number of halts before a call was judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HaltCount(u64);

impl Halting {
    /// Returns the number of halts. It is read before the data that an answer depends on.
    pub(crate) fn count(&self) -> HaltCount {
        HaltCount(self.count.load(Ordering::SeqCst))
    }

    /// Permits to send an answer, or returns `None` if agents were halted since `seen`. A halt waits until the permit is
    /// dropped, so the answer must not wait for its reader.
    pub(crate) fn permit(&self, seen: HaltCount) -> Option<RwLockReadGuard<'_, ()>> {
        let sending = self.sending.read().unwrap_or_else(PoisonError::into_inner);
        (self.count() == seen).then_some(sending)
    }

    /// Makes every unsent answer outdated. Returns when all others are sent.
    fn begin(&self) {
        self.count.fetch_add(1, Ordering::SeqCst);
        drop(self.sending.write().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Judge {
    pub(crate) fn halting(&self) -> &Halting {
        &self.halting
    }

    /// Halts sessions: every answer that is sent after the return denies. Ends their held calls. An error says that the
    /// halt is not stored, or that there is no room for it.
    pub(crate) fn halt(&self, place: HaltPlace, of: String) -> Result<(), String> {
        let halted = self.memory().halt(place, of);
        self.halting.begin();
        let memory = self.memory();
        let held = |agent: &str, session: &SessionKey| memory.is_halted(agent, session);
        self.held.release(End::Judge, |call| held(&call.request.agent, &call.session));
        halted
    }

    /// Ends halts. Returns an error if that cannot be stored.
    pub(crate) fn resume(&self, is_meant: impl Fn(&HaltPlace) -> bool) -> Result<(), String> {
        let resumed = self.memory().resume(is_meant);
        resumed.map_err(|error| format!("the end of the halt could not be stored: {error}"))
    }

    /// The halts in force, with their age in seconds.
    pub(crate) fn halts(&self) -> Vec<(Halt, u64)> {
        let memory = self.memory();
        let now_ms = memory.now_ms();
        memory.halts().iter().map(|halt| (halt.clone(), now_ms.saturating_sub(halt.at_ms) / 1000)).collect()
    }

    /// Reports whether the session of a call is halted.
    pub(super) fn is_halted(&self, asked: &Asked<'_>, whose: &Whose) -> bool {
        self.memory().is_halted(asked.agent.word(), &whose.session.id)
    }

    /// Reports whether an event may be of a halted session. Its session is unknown, and its agent too if it is `None`.
    pub(super) fn may_be_halted(&self, agent: Option<AgentId>, process: AgentProcess) -> bool {
        self.memory().may_be_halted(agent.map(|agent| agent.word()), &process)
    }

    /// The processes of the agents of a session and of those that are merged with it.
    pub(crate) fn processes_of(&self, session: &SessionKey) -> Vec<AgentProcess> {
        self.memory().processes_of(session)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use super::*;

    /// A halt that begins while an answer is sent returns after it, and every later answer of that time is held back.
    #[test]
    fn a_halt_waits_for_the_answer_that_is_being_sent_and_holds_back_the_next() {
        let halting = Arc::new(Halting::default());
        let seen = halting.count();
        let is_sent = Arc::new(AtomicBool::new(false));
        let (other, sent) = (Arc::clone(&halting), Arc::clone(&is_sent));
        let permit = halting.permit(seen);
        assert!(permit.is_some());
        let halt = std::thread::spawn(move || {
            other.begin();
            assert!(sent.load(Ordering::SeqCst), "the halt did not wait");
        });
        // The halt is in force for answers that begin now, although this one is not yet sent.
        while halting.count() == seen {
            std::thread::yield_now();
        }
        is_sent.store(true, Ordering::SeqCst);
        drop(permit);
        halt.join().unwrap();
        assert!(halting.permit(seen).is_none() && halting.permit(halting.count()).is_some());
    }
}
