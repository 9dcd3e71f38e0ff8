//! Marks of sessions: what rules of earlier calls noted for later ones. Time comes in as milliseconds of one clock.
//!
//! A mark that cannot be kept is one that a deny rule will not see: the call that would set it is refused.

use std::collections::{BTreeMap, HashMap};

use castellan_event::{Mark, Session};

use crate::limits::{MARK_LABEL_BYTES_MAX, MARKED_SESSIONS_MAX, MARKS_PER_SESSION_MAX, SESSION_IDLE_MS};

/// Names a session of an agent, whose sub-agents share it: SHA-256 over agent and session id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SessionKey(pub(crate) [u8; 32]);

/// The sessions that have marks.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    sessions: HashMap<SessionKey, Marked>,
}

#[derive(Debug, Default)]
struct Marked {
    marks: BTreeMap<String, Mark>,
    /// When its last call came.
    seen_ms: u64,
}

impl Marks {
    /// A session as a call sees it that comes now.
    pub(crate) fn session(&mut self, key: &SessionKey, now_ms: u64) -> Session {
        let marked = self.sessions.get_mut(key);
        let marks = marked.map(|marked| {
            marked.seen_ms = now_ms;
            marked.marks.clone()
        });
        Session { marks: marks.unwrap_or_default(), now_ms }
    }

    /// Makes room for a call's marks, if there is none by forgetting sessions that have long been silent. Returns how many
    /// it forgot, or why there is no room.
    pub(crate) fn make_room(
        &mut self,
        key: &SessionKey,
        labels: &[String],
        now_ms: u64,
    ) -> Result<usize, String> {
        if let Some(label) = labels.iter().find(|label| label.len() > MARK_LABEL_BYTES_MAX) {
            let start = label.chars().take(32).collect::<String>();
            return Err(format!(
                "the label of a mark has more than {MARK_LABEL_BYTES_MAX} bytes: shorten the tag of `{start}…`"
            ));
        }
        let marks = self.sessions.get(key).map(|marked| &marked.marks);
        let known = marks.map_or(0, BTreeMap::len);
        let new = labels.iter().filter(|label| marks.is_none_or(|marks| !marks.contains_key(*label)));
        if known + new.count() > MARKS_PER_SESSION_MAX {
            return Err(format!(
                "the session would have more than {MARKS_PER_SESSION_MAX} marks: use fewer labels"
            ));
        }
        if self.sessions.contains_key(key) || self.sessions.len() < MARKED_SESSIONS_MAX {
            return Ok(0);
        }
        let before = self.sessions.len();
        self.sessions.retain(|_, marked| now_ms.saturating_sub(marked.seen_ms) <= SESSION_IDLE_MS);
        match before.saturating_sub(self.sessions.len()) {
            0 => Err(format!(
                "more than {MARKED_SESSIONS_MAX} sessions of the last week have marks: mark fewer calls"
            )),
            forgotten => Ok(forgotten),
        }
    }

    /// Counts a call's marks, each once. There must be room for them.
    pub(crate) fn set(&mut self, key: SessionKey, labels: &[String], now_ms: u64) {
        let marked = self.sessions.entry(key).or_default();
        marked.seen_ms = now_ms;
        for label in labels {
            let mark = marked.marks.entry(label.clone()).or_default();
            mark.count = mark.count.saturating_add(1);
            mark.at_ms = now_ms;
        }
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
        assert_eq!(marks.make_room(&key(session), &labels(names), now_ms), Ok(0));
        marks.set(key(session), &labels(names), now_ms);
    }

    fn check(marks: &mut Marks, session: usize, now_ms: u64, expected: &[(&str, u64, u64)]) {
        let seen = marks.session(&key(session), now_ms);
        let seen: Vec<_> =
            seen.marks.iter().map(|(label, mark)| (label.as_str(), mark.count, mark.at_ms)).collect();
        assert_eq!(seen, expected, "session {session}");
    }

    #[test]
    fn a_mark_is_counted_for_its_session_alone() {
        let mut marks = Marks::default();
        check(&mut marks, 1, 0, &[]);
        set(&mut marks, 1, &["a", "b"], 10);
        set(&mut marks, 1, &["b"], 20);
        set(&mut marks, 2, &["b"], 30);
        check(&mut marks, 1, 40, &[("a", 1, 10), ("b", 2, 20)]);
        check(&mut marks, 2, 40, &[("b", 1, 30)]);
        check(&mut marks, 3, 40, &[]);
    }

    #[test]
    fn a_label_too_many_or_too_long_is_refused_and_a_known_one_never() {
        let mut marks = Marks::default();
        for number in 0..MARKS_PER_SESSION_MAX {
            set(&mut marks, 1, &[&format!("m{number}")], 0);
        }
        set(&mut marks, 1, &["m0", "m1"], 0);
        assert!(marks.make_room(&key(1), &labels(&["m0", "one more"]), 0).is_err());
        set(&mut marks, 2, &["one more"], 0);
        set(&mut marks, 2, &[&"x".repeat(MARK_LABEL_BYTES_MAX)], 0);
        assert!(marks.make_room(&key(2), &labels(&[&"x".repeat(MARK_LABEL_BYTES_MAX + 1)]), 0).is_err());
    }

    #[test]
    fn only_a_session_that_has_long_been_silent_makes_room_for_another() {
        let mut marks = Marks::default();
        for number in 0..MARKED_SESSIONS_MAX {
            set(&mut marks, number, &["a"], 0);
        }
        let new = MARKED_SESSIONS_MAX;
        assert!(marks.make_room(&key(new), &labels(&["a"]), SESSION_IDLE_MS).is_err());
        set(&mut marks, 7, &["a"], SESSION_IDLE_MS);
        // Every session but the first shows itself again.
        for number in 1..MARKED_SESSIONS_MAX {
            marks.session(&key(number), SESSION_IDLE_MS);
        }
        assert_eq!(marks.make_room(&key(new), &labels(&["a"]), SESSION_IDLE_MS + 1), Ok(1));
        check(&mut marks, 0, SESSION_IDLE_MS + 1, &[]);
        check(&mut marks, 1, SESSION_IDLE_MS + 1, &[("a", 1, 0)]);
        check(&mut marks, 7, SESSION_IDLE_MS + 1, &[("a", 2, SESSION_IDLE_MS)]);
    }
}
