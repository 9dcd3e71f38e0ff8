//! Denials of every session by denial key, in memory only. The resulting mark of the session outlives the daemon. Does
//! not depend on the meaning of a denial key or on the limit for probing.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use castellan_policy::{DenialKey, Tries};

use crate::limits::DENIALS_REMEMBERED_MAX;
use crate::session_key::SessionKey;

#[derive(Debug, Default)]
pub(crate) struct Denials {
    sessions: HashMap<SessionKey, Arc<Tries>>,
    /// Every counted denial key, oldest first.
    order: VecDeque<(SessionKey, DenialKey)>,
}

impl Denials {
    /// Returns a snapshot of a session's denials.
    pub(crate) fn of(&self, root: &SessionKey) -> Arc<Tries> {
        self.sessions.get(root).map(Arc::clone).unwrap_or_default()
    }

    /// Counts the denial keys of a denied call.
    pub(crate) fn count(&mut self, root: SessionKey, denial_keys: &[String]) {
        if denial_keys.is_empty() {
            return;
        }
        let tries = self.sessions.entry(root).or_default();
        let added = Arc::make_mut(tries).count(denial_keys);
        self.order.extend(added.into_iter().map(|denial_key| (root, denial_key)));
        while self.order.len() > DENIALS_REMEMBERED_MAX {
            if let Some((root, denial_key)) = self.order.pop_front() {
                self.forget(root, denial_key);
            }
        }
    }

    fn forget(&mut self, root: SessionKey, denial_key: DenialKey) {
        if let Some(tries) = self.sessions.get_mut(&root) {
            Arc::make_mut(tries).forget(denial_key);
            if tries.is_empty() {
                self.sessions.remove(&root);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denial_keys(denial_key: &str) -> Vec<String> {
        vec![denial_key.to_owned()]
    }

    #[test]
    fn each_session_is_counted_by_itself() {
        let (mut denials, denial_keys) = (Denials::default(), denial_keys("a"));
        let (one, other) = (SessionKey([1; 32]), SessionKey([2; 32]));
        for root in [one, other, one] {
            denials.count(root, &denial_keys);
        }
        let is_probing = |root| denials.of(root).is_probing_with(&denial_keys);
        assert_eq!((is_probing(&one), is_probing(&other)), (true, false));
    }

    #[test]
    fn a_decision_sees_what_was_denied_when_it_began() {
        let (mut denials, denial_keys, root) = (Denials::default(), denial_keys("a"), SessionKey([1; 32]));
        let before = denials.of(&root);
        denials.count(root, &denial_keys);
        denials.count(root, &denial_keys);
        assert!(!before.is_probing_with(&denial_keys) && denials.of(&root).is_probing_with(&denial_keys));
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let (mut denials, root) = (Denials::default(), SessionKey([1; 32]));
        denials.count(root, &denial_keys("a"));
        denials.count(root, &denial_keys("a"));
        assert!(denials.of(&root).is_probing_with(&denial_keys("a")));
        for other in 0..DENIALS_REMEMBERED_MAX {
            denials.count(SessionKey([2; 32]), &denial_keys(&other.to_string()));
        }
        assert!(!denials.sessions.contains_key(&root), "the session is forgotten");
        assert_eq!(denials.order.len(), DENIALS_REMEMBERED_MAX);
    }
}
