//! [`Approvals`]: how often a person approved calls of one class in one session. Only in memory: a restart offers later.
//! Must not know how a class is made or granted.

use std::collections::VecDeque;

use castellan_policy::CallClass;

use crate::limits::{APPROVALS_MAX, OFFERED_AFTER};
use crate::session_key::SessionKey;

/// Counts of approvals, the least recent first.
#[derive(Debug, Default)]
pub(super) struct Approvals {
    counts: VecDeque<(SessionKey, CallClass, u32)>,
}

impl Approvals {
    /// Counts one approval. The least recent class makes room.
    pub(super) fn count(&mut self, session: SessionKey, class: CallClass) {
        let at = self.counts.iter().position(|(of, counted, _)| *of == session && *counted == class);
        let before = at.and_then(|at| self.counts.remove(at)).map_or(0, |(_, _, count)| count);
        if self.counts.len() >= APPROVALS_MAX {
            self.counts.pop_front();
        }
        self.counts.push_back((session, class, before.saturating_add(1)));
    }

    /// Classes of a session with enough approvals for an offer.
    pub(super) fn offered(&self, session: &SessionKey) -> Vec<CallClass> {
        let is_offered = |of: &SessionKey, count: u32| of == session && count >= OFFERED_AFTER;
        let offered = self.counts.iter().filter(|(of, _, count)| is_offered(of, *count));
        offered.map(|(_, class, _)| class.clone()).collect()
    }
}
