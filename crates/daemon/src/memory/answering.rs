//! Answers to calls, for an agent's second question about the same call. It must not know rules.

use std::sync::Arc;

use castellan_event::{Action, Session, Verdict};
use castellan_policy::RequestId;

use super::Memory;
use crate::limits::REMEMBERED_ANSWERS_MAX;
use crate::requests::Taken;

/// Key of a call, to recognize the agent's second question about it, which carries no id: SHA-256 over agent, session,
/// sub-agent, directory, canonical tool name and input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CallKey(pub(crate) [u8; 32]);

/// The answer to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) verdict: Verdict,
    pub(crate) reason: String,
    /// The session at the first question. A second question uses this copy, or the call would meet its own marks.
    pub(crate) session: Arc<Session>,
    /// Record number of the call. A second question ignores the call's own later writes.
    pub(crate) call: u64,
    /// The part of a person's grant that the call took.
    pub(crate) grant: Option<Taken>,
    /// Obligations met before the answer.
    pub(crate) met: Vec<Action>,
    /// Epoch of the decision. The answer is valid for a second question while the epoch is unchanged.
    pub(crate) epoch: Epoch,
    /// The agent runs another command, which the second question shows.
    pub(crate) is_rewritten: bool,
}

/// A period in which answers stay valid. A new epoch begins with another policy or mode, or with a person's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Epoch(u64);

impl Memory {
    /// Stores an answer for a second question. Drops a grant of a past epoch, because a person may have revoked it.
    pub(crate) fn remember(&mut self, key: CallKey, mut given: Given) {
        given.grant = given.grant.filter(|_| given.epoch == self.epoch);
        if self.answers.insert(key, given).is_none() {
            self.answer_order.push_back(key);
        }
        if self.answer_order.len() > REMEMBERED_ANSWERS_MAX
            && let Some(oldest) = self.answer_order.pop_front()
        {
            self.answers.remove(&oldest);
        }
    }

    /// Starts a new epoch: no earlier answer is valid for a second question. Called when the policy or mode changes or
    /// a person decides. The answers stay stored, so that the daemon knows that the call was asked about.
    pub(crate) fn outdate(&mut self) {
        self.epoch = Epoch(self.epoch.0.wrapping_add(1));
    }

    pub(crate) fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Removes a grant from all stored answers, so that it lets no second question through.
    pub(super) fn take_back(&mut self, id: RequestId) {
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
