//! Decisions by the agent's own call id, to compare running calls with. The oldest are forgotten, except in the log.

use std::collections::{HashMap, VecDeque};

use castellan_event::Verdict;
use sha2::{Digest, Sha256};

use crate::limits::DECIDED_CALLS_MAX;
use crate::memory::CallKey;
use crate::requests::GrantKey;
use crate::risks::Risks;
use crate::session_key::SessionKey;

#[derive(Debug, Default)]
pub(crate) struct DecidedCalls {
    calls: HashMap<UseKey, Decided>,
    order: VecDeque<UseKey>,
    /// At least one decision was forgotten.
    forgot: bool,
}

/// Key of a call: SHA-256 over its session and the agent's call id, which may be long.
type UseKey = [u8; 32];

/// The decision about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decided {
    /// The judged call; `None` when only the log has it.
    pub(crate) judged: Option<CallKey>,
    /// Hash of the input that the agent is to run; `None` as above.
    pub(crate) input: Option<[u8; 32]>,
    /// Hash of the call's own input, if the agent is to run another one.
    pub(crate) original: Option<[u8; 32]>,
    /// The grant key of the judged call; `None` as above.
    pub(crate) granted_as: Option<GrantKey>,
    /// The verdict sent to the agent.
    pub(crate) answer: Verdict,
    /// The risks of the judged call; none when only the log has it.
    pub(crate) risks: Risks,
    /// The agent was to ask at its own prompt, and a person may be there.
    pub(crate) is_at_prompt: bool,
    /// The agent has reported the end of the call.
    pub(crate) is_over: bool,
    /// The deviation of this call is already recorded.
    pub(crate) is_reported: bool,
}

impl Decided {
    /// Builds a decision from the log, which stores only the answer.
    pub(crate) fn remembered(answer: Verdict) -> Decided {
        Decided {
            judged: None,
            input: None,
            original: None,
            granted_as: None,
            answer,
            risks: Risks::default(),
            is_at_prompt: false,
            is_over: false,
            is_reported: false,
        }
    }
}

impl DecidedCalls {
    /// Stores the decision about a call. Ignores a call without id, as from some agents and in a second question.
    pub(crate) fn put(&mut self, session: SessionKey, id: &str, decided: Decided) {
        if id.is_empty() {
            return;
        }
        let key = use_key(session, id);
        if self.calls.insert(key, decided).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > DECIDED_CALLS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.calls.remove(&oldest);
            self.forgot = true;
        }
    }

    pub(crate) fn of(&self, session: SessionKey, id: &str) -> Option<Decided> {
        self.calls.get(&use_key(session, id)).copied()
    }

    /// Changes the answer to deny after a denied second question.
    pub(crate) fn deny(&mut self, judged: CallKey) {
        for decided in self.calls.values_mut().filter(|decided| decided.judged == Some(judged)) {
            decided.answer = Verdict::Deny;
        }
    }

    /// Reports whether the log may know calls that were forgotten here.
    pub(crate) fn forgot(&self) -> bool {
        self.forgot
    }
}

fn use_key(SessionKey(session): SessionKey, id: &str) -> UseKey {
    Sha256::new().chain_update(session).chain_update(id).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: SessionKey = SessionKey([1; 32]);

    fn decided(answer: Verdict) -> Decided {
        Decided {
            judged: Some(CallKey([2; 32])),
            input: Some([3; 32]),
            granted_as: Some(GrantKey([4; 32])),
            ..Decided::remembered(answer)
        }
    }

    #[test]
    fn a_call_is_known_by_its_session_and_id() {
        let mut calls = DecidedCalls::default();
        calls.put(S, "a", decided(Verdict::Defer));
        calls.put(S, "", decided(Verdict::Deny));
        assert_eq!(calls.of(S, "a"), Some(decided(Verdict::Defer)));
        assert_eq!(calls.of(SessionKey([9; 32]), "a"), None);
        assert_eq!(calls.of(S, ""), None);
        // The agent's second question has no id.
        calls.deny(CallKey([3; 32]));
        assert_eq!(calls.of(S, "a"), Some(decided(Verdict::Defer)));
        calls.deny(CallKey([2; 32]));
        assert_eq!(calls.of(S, "a"), Some(decided(Verdict::Deny)));
        // A reused id is another call.
        calls.put(S, "a", decided(Verdict::Allow));
        assert_eq!(calls.of(S, "a"), Some(decided(Verdict::Allow)));
    }

    #[test]
    fn the_oldest_are_forgotten_and_it_says_so() {
        let mut calls = DecidedCalls::default();
        for number in 0..DECIDED_CALLS_MAX {
            calls.put(S, &number.to_string(), decided(Verdict::Defer));
        }
        assert!(!calls.forgot());
        calls.put(S, "one more", decided(Verdict::Defer));
        assert!(calls.forgot());
        assert_eq!(calls.of(S, "0"), None);
        assert_eq!(calls.of(S, "1"), Some(decided(Verdict::Defer)));
        assert_eq!((calls.calls.len(), calls.order.len()), (DECIDED_CALLS_MAX, DECIDED_CALLS_MAX));
    }
}
