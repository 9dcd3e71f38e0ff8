//! What the daemon remembers between calls: answers given, and the next request id.

use std::collections::{HashMap, VecDeque};

use castellan_event::Verdict;
use castellan_policy::RequestId;

use crate::limits::REMEMBERED_ANSWERS_MAX;

/// Names one call for the agent's second question about it, which carries no id: SHA-256 over agent, session, sub-agent,
/// directory, canonical tool name and input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CallKey(pub(crate) [u8; 32]);

/// What was answered to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) verdict: Verdict,
    pub(crate) reason: String,
}

#[derive(Debug)]
pub(crate) struct Memory {
    next_request: RequestId,
    answers: HashMap<CallKey, Given>,
    answer_order: VecDeque<CallKey>,
}

impl Memory {
    /// Starts empty; `seed` keeps request ids of two runs apart.
    pub(crate) fn new(seed: u64) -> Memory {
        Memory {
            next_request: RequestId::from_seed(seed),
            answers: HashMap::new(),
            answer_order: VecDeque::new(),
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

    /// Forgets every answer: what was answered under another policy or mode does not answer a second question.
    pub(crate) fn forget(&mut self) {
        self.answers.clear();
        self.answer_order.clear();
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
    fn the_last_answers_are_kept_and_forgotten_on_demand() {
        let mut memory = Memory::new(1);
        let given = |verdict| Given { verdict, reason: String::new() };
        for number in 0..=REMEMBERED_ANSWERS_MAX {
            memory.remember(key(number), given(Verdict::Allow));
        }
        assert_eq!(memory.given(&key(0)), None);
        assert_eq!(memory.given(&key(1)), Some(&given(Verdict::Allow)));
        memory.remember(key(1), given(Verdict::Deny));
        assert_eq!(memory.given(&key(1)), Some(&given(Verdict::Deny)));
        memory.forget();
        assert_eq!(memory.given(&key(1)), None);
    }
}
