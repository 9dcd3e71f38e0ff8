//! Consequences for sessions of calls that ran against the decision: a lower access level, or a block. Does not depend
//! on how such a call was found.

use std::collections::HashMap;

use super::consequence::Consequence;
use super::entry::Entry;
use crate::session_key::SessionKey;

/// Sessions with a consequence; at most one each. A consequence is never removed.
#[derive(Debug, Default)]
pub(super) struct Consequences {
    sessions: HashMap<SessionKey, Consequence>,
}

impl Consequences {
    pub(super) fn of(&self, root: &SessionKey) -> Consequence {
        self.sessions.get(root).cloned().unwrap_or_default()
    }

    pub(super) fn add(&mut self, root: SessionKey, consequence: Consequence) {
        let own = self.sessions.entry(root).or_default();
        *own = std::mem::take(own).and(consequence);
    }

    pub(super) fn merge(&mut self, from: &SessionKey, into: SessionKey) {
        if let Some(consequence) = self.sessions.remove(from) {
            self.add(into, consequence);
        }
    }

    pub(super) fn forget(&mut self, root: &SessionKey) {
        self.sessions.remove(root);
    }

    /// Returns the entries that restore the state.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> {
        let entry = |(root, consequence): (&SessionKey, &Consequence)| Entry::Follows {
            root: *root,
            consequence: consequence.clone(),
        };
        self.sessions.iter().map(entry)
    }
}

#[cfg(test)]
mod tests {
    use castellan_event::{AccessLevel, Code};
    use castellan_policy::Block;

    use super::*;

    const A: SessionKey = SessionKey([1; 32]);
    const B: SessionKey = SessionKey([2; 32]);

    fn capped(level: AccessLevel) -> Consequence {
        Consequence { ceiling: Some(level), block: None }
    }

    fn blocked() -> Consequence {
        Consequence { ceiling: None, block: Some(Block { code: Code::Ungoverned, message: "x".to_owned() }) }
    }

    #[test]
    fn consequences_only_add_up() {
        let mut all = Consequences::default();
        all.add(A, capped(AccessLevel::ReadOnly));
        all.add(A, capped(AccessLevel::WorkspaceWrite));
        all.add(A, blocked());
        // A later consequence removes nothing.
        all.add(A, capped(AccessLevel::FullAccess));
        let both = Consequence { ceiling: Some(AccessLevel::ReadOnly), ..blocked() };
        assert_eq!((all.of(&A), all.of(&B)), (both.clone(), Consequence::default()));
        all.merge(&A, B);
        assert_eq!((all.of(&A), all.of(&B)), (Consequence::default(), both));
        all.forget(&B);
        assert_eq!(all.entries().count(), 0);
    }

    #[test]
    fn what_is_written_is_read_again() {
        for consequence in [capped(AccessLevel::ReadOnly), blocked(), Consequence::default()] {
            let text = serde_json::to_string(&consequence).unwrap();
            assert_eq!(serde_json::from_str::<Consequence>(&text).unwrap(), consequence, "{text}");
        }
        assert!(serde_json::from_str::<Consequence>(r#"{"ceiling":"none","block":null}"#).is_err());
    }

    #[test]
    fn the_name_of_a_block_before_this_version_is_read() {
        let before = serde_json::from_str::<Consequence>(r#"{"ceiling":null,"bar":"x"}"#).unwrap();
        assert_eq!(before, blocked());
    }
}
