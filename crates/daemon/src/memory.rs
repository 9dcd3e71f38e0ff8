//! What the daemon remembers between calls: answers given, marks of sessions, and the next request id.

mod changes;
mod marks;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use castellan_event::{Session, Verdict};
use castellan_policy::RequestId;

use crate::limits::REMEMBERED_ANSWERS_MAX;
use crate::requests::{Requests, Taken};

pub(crate) use changes::{Begun, Changed, Changes, Ended};
pub(crate) use marks::{Marks, SessionKey};

/// Names one call for the agent's second question about it, which carries no id: SHA-256 over agent, session, sub-agent,
/// directory, canonical tool name and input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CallKey(pub(crate) [u8; 32]);

/// What was answered to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) verdict: Verdict,
    pub(crate) reason: String,
    /// The session as the call saw it. To a second question it looks the same, or the call would meet its own marks.
    pub(crate) session: Arc<Session>,
    /// The number of the call's record. What it has written since does not count in a second question either.
    pub(crate) call: u64,
    /// What a person had granted of it.
    pub(crate) grant: Option<Taken>,
    /// Whether the answer answers a second question, too: not when it was given under another policy or mode.
    pub(crate) stands: bool,
}

#[derive(Debug)]
pub(crate) struct Memory {
    next_request: RequestId,
    answers: HashMap<CallKey, Given>,
    answer_order: VecDeque<CallKey>,
    /// Marks outlive policies: a rule of the next one may ask for them.
    pub(crate) marks: Marks,
    /// So does what sessions have written.
    pub(crate) changes: Changes,
    /// And what waits for a person, or was granted by one.
    pub(crate) requests: Requests,
}

impl Memory {
    /// Starts empty; `seed` keeps request ids of two runs apart.
    pub(crate) fn new(seed: u64) -> Memory {
        Memory {
            next_request: RequestId::from_seed(seed),
            answers: HashMap::new(),
            answer_order: VecDeque::new(),
            marks: Marks::default(),
            changes: Changes::default(),
            requests: Requests::default(),
        }
    }

    /// Hands out a request id. An id that a decision does not use is simply skipped.
    pub(crate) fn take_request(&mut self) -> RequestId {
        let id = self.next_request;
        self.next_request = id.next();
        id
    }

    pub(crate) fn remember(&mut self, key: CallKey, given: Given) {
        if self.answers.insert(key, given).is_none() {
            self.answer_order.push_back(key);
        }
        if self.answer_order.len() > REMEMBERED_ANSWERS_MAX
            && let Some(oldest) = self.answer_order.pop_front()
        {
            self.answers.remove(&oldest);
        }
    }

    /// No answer given so far answers a second question any more: policy or mode are others now. That the call was asked
    /// about is not forgotten.
    pub(crate) fn outdate(&mut self) {
        for given in self.answers.values_mut() {
            given.stands = false;
        }
    }

    /// What was granted under this id lets no call run any more that is asked about again.
    pub(crate) fn take_back(&mut self, id: RequestId) {
        for given in self.answers.values_mut() {
            if given.grant.as_ref().is_some_and(|taken| taken.of.contains(&id)) {
                given.grant = None;
            }
        }
    }

    pub(crate) fn given(&self, key: &CallKey) -> Option<&Given> {
        self.answers.get(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> CallKey {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&(number as u64).to_le_bytes());
        CallKey(bytes)
    }

    #[test]
    fn the_last_answers_are_kept_and_outdated_on_demand() {
        let mut memory = Memory::new(1);
        let given = |verdict| Given {
            verdict,
            reason: String::new(),
            session: Arc::default(),
            call: 1,
            grant: None,
            stands: true,
        };
        for number in 0..=REMEMBERED_ANSWERS_MAX {
            memory.remember(key(number), given(Verdict::Allow));
        }
        assert_eq!(memory.given(&key(0)), None);
        assert_eq!(memory.given(&key(1)), Some(&given(Verdict::Allow)));
        memory.remember(key(1), given(Verdict::Deny));
        assert_eq!(memory.given(&key(1)), Some(&given(Verdict::Deny)));
        memory.outdate();
        assert_eq!(memory.given(&key(1)), Some(&Given { stands: false, ..given(Verdict::Deny) }));
    }
}
