//! Marks of sessions: notes that a rule sets at one call for rules of later calls. Times are milliseconds of one clock.
//!
//! A deny rule would not see a mark that cannot be stored, so castellan refuses the call that would set it.

use std::collections::{BTreeMap, HashMap};

use castellan_event::{Mark, Session};

use super::entry::Entry;
use crate::limits::{MARK_LABEL_BYTES_MAX, MARKS_PER_SESSION_MAX};
use crate::session_key::SessionKey;

/// The reason why a call's marks cannot be stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoRoom {
    /// A label is too long.
    #[error("the label of a mark has more than {MARK_LABEL_BYTES_MAX} bytes: shorten the tag of `{start}…`")]
    Label {
        /// The first characters of the label.
        start: String,
    },
    /// The session has too many marks.
    #[error("the session would have more than {MARKS_PER_SESSION_MAX} marks: use fewer labels")]
    Marks,
}

/// Sessions with marks, by root.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    sessions: HashMap<SessionKey, BTreeMap<String, Mark>>,
}

impl Marks {
    /// The session as a call sees it now.
    pub(crate) fn session(&self, root: &SessionKey, now_ms: u64) -> Session {
        Session { marks: self.sessions.get(root).cloned().unwrap_or_default(), now_ms }
    }

    pub(super) fn is_marked(&self, root: &SessionKey) -> bool {
        self.sessions.contains_key(root)
    }

    /// Checks that there is room for a call's marks.
    pub(crate) fn check_room(&self, root: &SessionKey, labels: &[String]) -> Result<(), NoRoom> {
        if let Some(label) = labels.iter().find(|label| label.len() > MARK_LABEL_BYTES_MAX) {
            return Err(NoRoom::Label { start: label.chars().take(32).collect() });
        }
        let marks = self.sessions.get(root);
        let known = marks.map_or(0, BTreeMap::len);
        let new = labels.iter().filter(|label| marks.is_none_or(|marks| !marks.contains_key(*label)));
        if known + new.count() > MARKS_PER_SESSION_MAX {
            return Err(NoRoom::Marks);
        }
        Ok(())
    }

    /// Counts each of a call's marks once. There must be room for them.
    pub(crate) fn set(&mut self, root: SessionKey, labels: &[String], now_ms: u64) {
        for label in labels {
            self.add(root, label, Mark { count: 1, at_ms: now_ms });
        }
    }

    pub(super) fn add(&mut self, root: SessionKey, label: &str, more: Mark) {
        let mark = self.sessions.entry(root).or_default().entry(label.to_owned()).or_default();
        mark.count = mark.count.saturating_add(more.count);
        mark.at_ms = mark.at_ms.max(more.at_ms);
    }

    pub(super) fn merge(&mut self, from: &SessionKey, into: SessionKey) {
        for (label, mark) in self.sessions.remove(from).unwrap_or_default() {
            self.add(into, &label, mark);
        }
    }

    pub(super) fn forget(&mut self, root: &SessionKey) {
        self.sessions.remove(root);
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> {
        let all = self.sessions.iter().flat_map(|(root, marks)| marks.iter().map(move |mark| (root, mark)));
        all.map(|(root, (label, Mark { count, at_ms }))| Entry::Mark {
            root: *root,
            label: label.clone(),
            count: *count,
            at_ms: *at_ms,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> SessionKey {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&(number as u64).to_le_bytes());
        SessionKey(bytes)
    }

    fn labels(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    /// Sets marks for which there is room.
    fn set(marks: &mut Marks, session: usize, names: &[&str], now_ms: u64) {
        assert_eq!(marks.check_room(&key(session), &labels(names)), Ok(()));
        marks.set(key(session), &labels(names), now_ms);
    }

    fn check(marks: &Marks, session: usize, now_ms: u64, expected: &[(&str, u64, u64)]) {
        let seen = marks.session(&key(session), now_ms);
        let seen: Vec<_> =
            seen.marks.iter().map(|(label, mark)| (label.as_str(), mark.count, mark.at_ms)).collect();
        assert_eq!(seen, expected, "session {session}");
    }

    #[test]
    fn a_mark_is_counted_for_its_session_alone() {
        let mut marks = Marks::default();
        check(&marks, 1, 0, &[]);
        set(&mut marks, 1, &["a", "b"], 10);
        set(&mut marks, 1, &["b"], 20);
        set(&mut marks, 2, &["b"], 30);
        check(&marks, 1, 40, &[("a", 1, 10), ("b", 2, 20)]);
        check(&marks, 2, 40, &[("b", 1, 30)]);
        check(&marks, 3, 40, &[]);
        // Marks of two merged sessions.
        marks.merge(&key(2), key(1));
        check(&marks, 1, 40, &[("a", 1, 10), ("b", 3, 30)]);
        check(&marks, 2, 40, &[]);
    }

    #[test]
    fn a_label_too_many_or_too_long_is_refused_and_a_known_one_never() {
        let mut marks = Marks::default();
        for number in 0..MARKS_PER_SESSION_MAX {
            set(&mut marks, 1, &[&format!("m{number}")], 0);
        }
        set(&mut marks, 1, &["m0", "m1"], 0);
        assert!(marks.check_room(&key(1), &labels(&["m0", "one more"])).is_err());
        set(&mut marks, 2, &["one more"], 0);
        set(&mut marks, 2, &[&"x".repeat(MARK_LABEL_BYTES_MAX)], 0);
        assert!(marks.check_room(&key(2), &labels(&[&"x".repeat(MARK_LABEL_BYTES_MAX + 1)])).is_err());
    }
}
