//! What follows for a session from calls that ran as nobody decided: less access, or none. It must not know how they were found.

use std::collections::HashMap;

use castellan_event::AccessLevel;
use castellan_policy::Bar;

use crate::limits::CONSEQUENCES_MAX;
use crate::memory::SessionKey;

/// The sessions for which something follows.
#[derive(Debug, Default)]
pub(crate) struct Consequences {
    sessions: HashMap<SessionKey, Consequence>,
    /// What follows for every session: of those for which there is no room.
    of_all: Consequence,
}

/// What follows for a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Consequence {
    /// The highest access level that it has.
    pub(crate) ceiling: Option<AccessLevel>,
    /// Why it may do nothing at all.
    pub(crate) bar: Option<Bar>,
}

impl Consequences {
    /// What follows for a session.
    pub(crate) fn of(&self, session: &SessionKey) -> Consequence {
        let own = self.sessions.get(session).cloned().unwrap_or_default();
        own.and(&self.of_all)
    }

    /// Something more follows for a session. Nothing is ever taken back, and nothing makes room: over the limit it follows for
    /// every session.
    pub(crate) fn add(&mut self, session: SessionKey, consequence: &Consequence) {
        if *consequence == Consequence::default() {
            return;
        }
        let is_room = self.sessions.len() < CONSEQUENCES_MAX || self.sessions.contains_key(&session);
        let own = if is_room { self.sessions.entry(session).or_default() } else { &mut self.of_all };
        *own = std::mem::take(own).and(consequence);
    }
}

impl Consequence {
    fn and(self, other: &Consequence) -> Consequence {
        let ceiling = [self.ceiling, other.ceiling].into_iter().flatten().min();
        Consequence { ceiling, bar: self.bar.or_else(|| other.bar.clone()) }
    }
}

#[cfg(test)]
mod tests {
    use castellan_event::Code;

    use super::*;

    #[test]
    fn consequences_only_add_up() {
        let mut all = Consequences::default();
        let session = |number: usize| {
            let mut key = [0; 32];
            key[..8].copy_from_slice(&number.to_le_bytes());
            SessionKey(key)
        };
        let capped = |level| Consequence { ceiling: Some(level), bar: None };
        let bar = Some(Bar { code: Code::Ungoverned, message: "x".to_owned() });
        all.add(session(0), &capped(AccessLevel::ReadOnly));
        all.add(session(0), &capped(AccessLevel::WorkspaceWrite));
        all.add(session(0), &Consequence { ceiling: None, bar: bar.clone() });
        let both = Consequence { ceiling: Some(AccessLevel::ReadOnly), bar };
        assert_eq!(all.of(&session(0)), both);
        assert_eq!(all.of(&session(1)), Consequence::default());
        for number in 1..CONSEQUENCES_MAX {
            all.add(session(number), &capped(AccessLevel::WorkspaceWrite));
        }
        let other = session(CONSEQUENCES_MAX + 1);
        assert_eq!(all.of(&other), Consequence::default());
        all.add(session(CONSEQUENCES_MAX), &capped(AccessLevel::ReadOnly));
        assert_eq!(all.of(&other), capped(AccessLevel::ReadOnly));
        assert_eq!(all.of(&session(1)), capped(AccessLevel::ReadOnly));
    }
}
