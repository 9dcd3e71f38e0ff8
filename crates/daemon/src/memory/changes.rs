//! What earlier calls of a session wrote, and what calls may be writing that run now: a program that an agent has put in place
//! is not the one that its name says.

use std::collections::{BTreeSet, HashMap, VecDeque};

use crate::limits::{CHANGED_PATHS_PER_SESSION_MAX, CHANGED_SESSIONS_MAX, OPEN_CALLS_PER_SESSION_MAX};
use crate::memory::SessionKey;

/// The sessions that have written something.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    sessions: HashMap<SessionKey, Changed>,
    /// In the order in which they first wrote something.
    order: VecDeque<SessionKey>,
    /// A session was forgotten to make room: what it wrote is not known any more.
    forgot: bool,
}

/// What one session has written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Changed {
    /// Paths of calls that are done, and of those that run.
    pub(crate) written: BTreeSet<String>,
    /// Those of them that came from the network.
    pub(crate) downloaded: BTreeSet<String>,
    /// There were more paths than are kept.
    pub(crate) is_full: bool,
    /// Calls that may still run.
    open: VecDeque<Open>,
}

/// A call that may still run.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Open {
    /// The agent's id of the call.
    id: String,
    /// What it writes.
    paths: Vec<String>,
    /// The agent does not wait for its end.
    in_background: bool,
}

impl Changed {
    /// Paths of calls that may still run.
    pub(crate) fn changing(&self) -> BTreeSet<String> {
        self.open.iter().flat_map(|open| &open.paths).cloned().collect()
    }
}

impl Changes {
    /// What the session has written so far. `None`: nothing.
    pub(crate) fn of(&self, key: &SessionKey) -> Option<Changed> {
        match self.sessions.get(key) {
            Some(changed) => Some(changed.clone()),
            None => self.forgot.then(|| Changed { is_full: true, ..Changed::default() }),
        }
    }

    /// What these paths hold came from the network.
    pub(crate) fn downloaded(&mut self, key: &SessionKey, paths: Vec<String>) {
        if let Some(changed) = self.sessions.get_mut(key) {
            let kept = paths.into_iter().filter(|path| changed.written.contains(path));
            changed.downloaded.extend(kept);
        }
    }

    /// A call may run now that writes these paths. `id`: the agent's id of the call. `in_background`: the agent goes on
    /// while it runs.
    pub(crate) fn begin(&mut self, key: SessionKey, id: &str, paths: Vec<String>, in_background: bool) {
        if paths.is_empty() {
            return;
        }
        if !self.sessions.contains_key(&key) {
            self.make_room();
            self.order.push_back(key);
        }
        let changed = self.sessions.entry(key).or_default();
        for path in &paths {
            if changed.written.len() >= CHANGED_PATHS_PER_SESSION_MAX {
                changed.is_full |= !changed.written.contains(path);
            } else {
                changed.written.insert(path.clone());
            }
        }
        changed.open.push_back(Open { id: id.to_owned(), paths, in_background });
        if changed.open.len() > OPEN_CALLS_PER_SESSION_MAX {
            changed.open.pop_front();
        }
    }

    /// The agent says that the call is done.
    pub(crate) fn end(&mut self, key: &SessionKey, id: &str) {
        if let Some(changed) = self.sessions.get_mut(key) {
            changed.open.retain(|open| open.id != id);
        }
    }

    /// The agent's turn is over, and so is every call that it waited for: of one that failed, was denied by the user or
    /// stopped, no agent reports the end.
    pub(crate) fn end_turn(&mut self, key: &SessionKey) {
        if let Some(changed) = self.sessions.get_mut(key) {
            changed.open.retain(|open| open.in_background);
        }
    }

    fn make_room(&mut self) {
        if self.sessions.len() >= CHANGED_SESSIONS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.sessions.remove(&oldest);
            self.forgot = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> SessionKey {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&number.to_le_bytes());
        SessionKey(key)
    }

    fn begin(changes: &mut Changes, id: &str, path: &str) {
        changes.begin(key(0), id, vec![path.to_owned()], false);
    }

    #[test]
    fn what_a_call_writes_is_changing_until_it_is_done_and_written_for_good() {
        let mut changes = Changes::default();
        assert_eq!(changes.of(&key(0)), None);
        begin(&mut changes, "1", "/w/a");
        begin(&mut changes, "2", "/w/b");
        changes.end(&key(0), "1");
        let changed = changes.of(&key(0)).unwrap();
        assert_eq!(changed.written, ["/w/a", "/w/b"].map(str::to_owned).into());
        assert_eq!(changed.changing(), ["/w/b"].map(str::to_owned).into());
        assert_eq!(changes.of(&key(1)), None);
    }

    #[test]
    fn a_turn_ends_what_the_agent_waited_for() {
        let mut changes = Changes::default();
        begin(&mut changes, "1", "/w/a");
        changes.begin(key(0), "2", vec!["/w/b".to_owned()], true);
        changes.begin(key(1), "1", vec!["/w/c".to_owned()], false);
        changes.end_turn(&key(0));
        changes.end_turn(&key(2));
        let changed = changes.of(&key(0)).unwrap();
        assert_eq!(changed.changing(), ["/w/b"].map(str::to_owned).into());
        assert_eq!(changed.written, ["/w/a", "/w/b"].map(str::to_owned).into());
        assert_eq!(
            changes.of(&key(1)).unwrap().changing(),
            ["/w/c"].map(str::to_owned).into(),
            "another session"
        );
        changes.end(&key(0), "2");
        assert_eq!(changes.of(&key(0)).unwrap().changing(), BTreeSet::new());
    }

    #[test]
    fn what_is_not_kept_is_not_taken_for_unwritten() {
        let mut changes = Changes::default();
        for number in 0..=CHANGED_PATHS_PER_SESSION_MAX {
            begin(&mut changes, "1", &number.to_string());
        }
        let changed = changes.of(&key(0)).unwrap();
        assert!(changed.is_full);
        assert_eq!(changed.written.len(), CHANGED_PATHS_PER_SESSION_MAX);
        for number in 1..=CHANGED_SESSIONS_MAX {
            changes.begin(key(number), "1", vec!["/w/a".to_owned()], false);
        }
        assert!(changes.of(&key(0)).unwrap().is_full);
        assert!(!changes.of(&key(1)).unwrap().is_full);
        assert_eq!(changes.sessions.len(), CHANGED_SESSIONS_MAX);
    }
}
