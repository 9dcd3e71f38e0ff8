//! What follows for a session from calls that ran as nobody decided: less access, or none. It must not know how they were found.

use std::collections::HashMap;

use castellan_event::{AccessLevel, Code};
use castellan_policy::Bar;

use super::entry::{Entry, Level};
use super::sessions::SessionKey;
use crate::limits::CONSEQUENCES_MAX;

/// The sessions for which something follows, by their roots.
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
    /// Why it may do nothing at all: calls ran as nobody decided.
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

impl Consequences {
    pub(super) fn merge(&mut self, from: &SessionKey, into: SessionKey) {
        if let Some(consequence) = self.sessions.remove(from) {
            self.add(into, &consequence);
        }
    }

    pub(super) fn is_of(&self, session: &SessionKey) -> bool {
        self.sessions.contains_key(session)
    }

    pub(super) fn forget(&mut self, session: &SessionKey) {
        self.sessions.remove(session);
    }

    /// Everything, as entries.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> {
        let of_all = std::iter::once((None, &self.of_all)).filter(|(_, all)| **all != Consequence::default());
        let own = self.sessions.iter().map(|(root, consequence)| (Some(*root), consequence));
        own.chain(of_all).map(|(root, consequence)| consequence.entry(root))
    }

    /// Something follows for every session.
    pub(super) fn add_to_all(&mut self, consequence: &Consequence) {
        self.of_all = std::mem::take(&mut self.of_all).and(consequence);
    }
}

impl Consequence {
    /// As an entry, for a session or for every one.
    pub(super) fn entry(&self, root: Option<SessionKey>) -> Entry {
        let barred = self.bar.as_ref().map(|bar| bar.message.clone());
        Entry::Consequence { root, ceiling: self.ceiling.map(Level), barred }
    }

    /// As it was kept.
    pub(super) fn kept(ceiling: Option<Level>, barred: Option<String>) -> Consequence {
        let bar = barred.map(|message| Bar { code: Code::Ungoverned, message });
        Consequence { ceiling: ceiling.map(|Level(level)| level), bar }
    }

    /// Both.
    pub(crate) fn and(self, other: &Consequence) -> Consequence {
        let ceiling = [self.ceiling, other.ceiling].into_iter().flatten().min();
        Consequence { ceiling, bar: self.bar.or_else(|| other.bar.clone()) }
    }
}

#[cfg(test)]
mod tests {
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
