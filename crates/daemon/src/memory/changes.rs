//! Files that a session has written or may be writing. A replaced program is no longer the program of that name.

mod within;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use castellan_event::ScriptFile;
use castellan_facts::{may_be_anywhere, may_be_written, names};

use self::within::keep_within;
use super::entry::Entry;
use crate::limits::{CHANGED_PATHS_MAX, CHANGED_PATHS_PER_SESSION_MAX, OPEN_CALLS_PER_SESSION_MAX};
use crate::session_key::SessionKey;

/// Sessions that have written something, by root.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    sessions: HashMap<SessionKey, Session>,
    /// Number of paths of all sessions.
    paths: usize,
}

/// Writes of one session, as a call sees them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Changed {
    /// Paths of finished and running calls.
    pub(crate) written: Arc<BTreeSet<String>>,
    /// The subset that came from the network.
    pub(crate) downloaded: Arc<BTreeSet<String>>,
    /// The session wrote more paths than are stored.
    pub(crate) is_full: bool,
    /// Paths of calls that may still run.
    pub(crate) changing: BTreeSet<String>,
}

/// A call that may run now, and its writes.
#[derive(Debug)]
pub(crate) struct Begun<'a> {
    /// The number of the call's record.
    pub(crate) call: u64,
    /// The agent's id of the call.
    pub(crate) id: &'a str,
    pub(crate) paths: BTreeSet<String>,
    /// The subset whose contents come from the network.
    pub(crate) downloaded: BTreeSet<String>,
    /// Files whose code the call runs.
    pub(crate) scripts: Vec<ScriptFile>,
    /// The agent continues while the call runs.
    pub(crate) in_background: bool,
}

/// A call that has run or is no longer tracked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    /// The number of the call's record.
    pub(crate) call: u64,
    /// The agent's id of the call.
    pub(crate) id: String,
    /// Files whose code the call ran.
    pub(crate) scripts: Vec<ScriptFile>,
}

#[derive(Debug, Default)]
struct Session {
    /// Shared with readers, because there may be thousands of paths.
    written: Arc<BTreeSet<String>>,
    downloaded: Arc<BTreeSet<String>>,
    is_full: bool,
    /// Calls that may still run.
    open: VecDeque<Open>,
}

/// Call numbers of two collected rests of calls that are not stored singly. Calls that the agent waits for end with its
/// turn. The end of calls in the background is unknown.
const REST_WAITED_FOR: u64 = u64::MAX - 1;
const REST_IN_BACKGROUND: u64 = u64::MAX;

/// The id of a rest. No agent gives this id.
const NO_ID: &str = "\0";

/// A call that may still run.
#[derive(Debug)]
struct Open {
    call: u64,
    id: String,
    paths: BTreeSet<String>,
    /// The paths that no other call of the session has written.
    alone: BTreeSet<String>,
    scripts: Vec<ScriptFile>,
    in_background: bool,
}

impl Changes {
    /// The session's writes so far; `None` if there are none. `but` names a call that has not begun, at a second
    /// question; its own writes are excluded.
    pub(crate) fn of(&self, root: &SessionKey, but: Option<u64>) -> Option<Changed> {
        self.sessions.get(root).map(|session| session.but(but))
    }

    /// Reports whether any session may have written a file or a file that the pattern matches. Also true when a session
    /// wrote more paths than are stored.
    pub(crate) fn has_any_written(&self, file: &str) -> bool {
        self.sessions.values().any(|session| session.is_full || may_be_written(&session.written, file))
    }

    /// Reports whether any session may have fetched a file from the network by its name, or written it by an unknown
    /// path. What version control fetched in another session is the project's history.
    pub(crate) fn has_any_downloaded(&self, file: &str) -> bool {
        self.sessions.values().any(|session| {
            session.is_full || names(&session.downloaded, file) || may_be_anywhere(&session.written, file)
        })
    }

    /// Registers a call that may run now and writes paths or runs scripts. A repeated call begins once. Returns a call
    /// that lost its place to this one.
    pub(crate) fn begin(&mut self, root: SessionKey, begun: Begun<'_>) -> Option<Ended> {
        if begun.is_nothing() {
            return None;
        }
        let session = self.sessions.entry(root).or_default();
        let before = session.written.len();
        let forgotten = session.begin(begun, CHANGED_PATHS_MAX.saturating_sub(self.paths));
        self.paths += session.written.len().saturating_sub(before);
        forgotten
    }

    /// Ends a call by the agent's id.
    pub(crate) fn end(&mut self, root: &SessionKey, id: &str) -> Vec<Ended> {
        self.close(root, |open| open.id == id)
    }

    /// Ends all calls that the agent waited for, at the end of its turn. No agent reports the end of a call that
    /// failed, was stopped or was denied by the user.
    pub(crate) fn end_turn(&mut self, root: &SessionKey) -> Vec<Ended> {
        self.close(root, |open| !open.in_background)
    }

    /// Ends calls by the numbers of their records.
    pub(super) fn end_calls(&mut self, root: &SessionKey, calls: &[u64]) -> Vec<Ended> {
        self.close(root, |open| calls.contains(&open.call))
    }

    fn close(&mut self, root: &SessionKey, is_over: impl Fn(&Open) -> bool) -> Vec<Ended> {
        let Some(session) = self.sessions.get_mut(root) else { return Vec::new() };
        let (over, open) = std::mem::take(&mut session.open).into_iter().partition(is_over);
        session.open = open;
        let over: VecDeque<Open> = over;
        over.into_iter().map(Open::ended).collect()
    }

    pub(super) fn has_changed(&self, root: &SessionKey) -> bool {
        self.sessions.contains_key(root)
    }

    /// Adds earlier writes.
    pub(super) fn add(
        &mut self,
        root: SessionKey,
        written: Vec<String>,
        downloaded: Vec<String>,
        is_full: bool,
    ) {
        let session = self.sessions.entry(root).or_default();
        let before = session.written.len();
        Arc::make_mut(&mut session.written).extend(written);
        session.download(downloaded);
        session.is_full |= is_full;
        self.paths += session.written.len().saturating_sub(before);
    }

    pub(super) fn merge(&mut self, from: &SessionKey, into: SessionKey) {
        let Some(Session { written, downloaded, is_full, open }) = self.sessions.remove(from) else { return };
        self.paths = self.paths.saturating_sub(written.len());
        let (written, downloaded) = (Arc::unwrap_or_clone(written), Arc::unwrap_or_clone(downloaded));
        self.add(into, written.into_iter().collect(), downloaded.into_iter().collect(), is_full);
        self.sessions.entry(into).or_default().open.extend(open);
    }

    pub(super) fn forget(&mut self, root: &SessionKey) {
        let session = self.sessions.remove(root);
        self.paths = self.paths.saturating_sub(session.map_or(0, |session| session.written.len()));
    }

    /// Returns entries for everything except the scripts of running calls.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> {
        self.sessions.iter().flat_map(|(root, session)| session.entries(*root))
    }
}

impl Begun<'_> {
    pub(super) fn is_nothing(&self) -> bool {
        self.paths.is_empty() && self.scripts.is_empty()
    }
}

impl Session {
    fn but(&self, call: Option<u64>) -> Changed {
        let own = self.open.iter().find(|open| Some(open.call) == call);
        let written = match own {
            Some(own) => Arc::new(self.written.difference(&own.alone).cloned().collect()),
            None => Arc::clone(&self.written),
        };
        let others = self.open.iter().filter(|open| Some(open.call) != call);
        let changing = others.flat_map(|open| &open.paths).cloned().collect();
        Changed { written, downloaded: Arc::clone(&self.downloaded), is_full: self.is_full, changing }
    }

    /// `room`: number of paths that all sessions together may still add.
    fn begin(&mut self, begun: Begun<'_>, room: usize) -> Option<Ended> {
        let Begun { call, id, paths, downloaded, scripts, in_background } = begun;
        self.download(downloaded);
        let alone = paths.difference(&self.written).cloned().collect();
        let mut open = Open { call, id: id.to_owned(), paths, alone, scripts, in_background };
        let again = self.open.iter().position(|open| open.call == call);
        if let Some(before) = again.and_then(|at| self.open.remove(at)) {
            open.id = before.id;
            open.paths.extend(before.paths);
            open.alone.extend(before.alone);
            open.in_background |= before.in_background;
        }
        for other in &mut self.open {
            other.alone.retain(|path| !open.paths.contains(path));
        }
        let most = CHANGED_PATHS_PER_SESSION_MAX.min(self.written.len() + room);
        for path in &open.paths {
            if self.written.contains(path) {
                continue;
            }
            self.is_full |= self.written.len() >= most;
            if !self.is_full {
                Arc::make_mut(&mut self.written).insert(path.clone());
            }
        }
        self.open.push_back(open);
        self.make_room()
    }

    /// Adds paths whose contents came from the network. Over the limit, a directory replaces its paths.
    fn download(&mut self, paths: impl IntoIterator<Item = String>) {
        let mut paths = paths.into_iter().peekable();
        if paths.peek().is_some() {
            let downloaded = Arc::make_mut(&mut self.downloaded);
            downloaded.extend(paths);
            self.is_full |= !keep_within(downloaded, CHANGED_PATHS_PER_SESSION_MAX);
        }
    }

    /// Over the limit, drops the oldest call: first one that the agent waits for, then one in the background. Its paths
    /// stay in the changing set, as part of a rest.
    fn make_room(&mut self) -> Option<Ended> {
        let is_kept = |open: &Open| !matches!(open.call, REST_WAITED_FOR | REST_IN_BACKGROUND);
        if self.open.iter().filter(|open| is_kept(open)).count() <= OPEN_CALLS_PER_SESSION_MAX {
            return None;
        }
        let waited_for = self.open.iter().position(|open| is_kept(open) && !open.in_background);
        let oldest = self.open.remove(waited_for.or_else(|| self.open.iter().position(is_kept))?)?;
        let call = if oldest.in_background { REST_IN_BACKGROUND } else { REST_WAITED_FOR };
        let mut rest = match self.open.iter().position(|open| open.call == call) {
            Some(at) => self.open.remove(at)?,
            None => Open::rest(call, oldest.in_background),
        };
        rest.paths.extend(oldest.paths.iter().cloned());
        self.is_full |= !keep_within(&mut rest.paths, CHANGED_PATHS_PER_SESSION_MAX);
        self.open.push_front(rest);
        Some(oldest.ended())
    }
}

impl Session {
    fn entries(&self, root: SessionKey) -> impl Iterator<Item = Entry> {
        let all = |paths: &BTreeSet<String>| paths.iter().cloned().collect();
        let (paths, downloaded) = (all(&self.written), all(&self.downloaded));
        let written = Entry::Written { root, paths, downloaded, is_full: self.is_full };
        let open = self.open.iter().map(move |open| Entry::Begun {
            root,
            call: open.call,
            use_id: open.id.clone(),
            paths: all(&open.paths),
            downloaded: Vec::new(),
            in_background: open.in_background,
        });
        std::iter::once(written).chain(open)
    }
}

impl Open {
    fn rest(call: u64, in_background: bool) -> Open {
        let (paths, alone, scripts) = Default::default();
        Open { call, id: NO_ID.to_owned(), paths, alone, scripts, in_background }
    }

    fn ended(self) -> Ended {
        Ended { call: self.call, id: self.id, scripts: self.scripts }
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

    /// Begins the call `number`, with its number as the agent's id.
    fn begin(changes: &mut Changes, session: usize, number: u64, path: &str, in_background: bool) {
        let (id, paths) = (number.to_string(), paths(&[path]));
        let begun = Begun {
            call: number,
            id: &id,
            paths,
            downloaded: BTreeSet::new(),
            scripts: Vec::new(),
            in_background,
        };
        changes.begin(key(session), begun);
    }

    fn paths(paths: &[&str]) -> BTreeSet<String> {
        paths.iter().map(|path| (*path).to_owned()).collect()
    }

    /// Checks the session's written and changing paths as another call sees them.
    fn check(changes: &Changes, session: usize, written: &[&str], changing: &[&str]) {
        check_but(changes, session, None, written, changing);
    }

    fn check_but(changes: &Changes, session: usize, but: Option<u64>, written: &[&str], changing: &[&str]) {
        let expected =
            Changed { written: Arc::new(paths(written)), changing: paths(changing), ..Changed::default() };
        assert_eq!(changes.of(&key(session), but), Some(expected), "{session} but {but:?}");
    }

    #[test]
    fn what_a_call_writes_is_changing_until_it_is_done_and_written_for_good() {
        let mut changes = Changes::default();
        assert_eq!(changes.of(&key(0), None), None);
        begin(&mut changes, 0, 1, "/w/a", false);
        begin(&mut changes, 0, 2, "/w/b", false);
        changes.end(&key(0), "1");
        check(&changes, 0, &["/w/a", "/w/b"], &["/w/b"]);
        assert_eq!(changes.of(&key(1), None), None);
    }

    #[test]
    fn a_turn_ends_what_the_agent_waited_for() {
        let mut changes = Changes::default();
        begin(&mut changes, 0, 1, "/w/a", false);
        begin(&mut changes, 0, 2, "/w/b", true);
        begin(&mut changes, 1, 1, "/w/c", false);
        changes.end_turn(&key(0));
        changes.end_turn(&key(2));
        check(&changes, 0, &["/w/a", "/w/b"], &["/w/b"]);
        check(&changes, 1, &["/w/c"], &["/w/c"]);
        changes.end(&key(0), "2");
        check(&changes, 0, &["/w/a", "/w/b"], &[]);
    }

    #[test]
    fn a_call_that_is_asked_about_again_does_not_meet_what_it_alone_writes() {
        let mut changes = Changes::default();
        begin(&mut changes, 0, 1, "/w/a", false);
        check_but(&changes, 0, Some(1), &[], &[]);
        check_but(&changes, 0, Some(2), &["/w/a"], &["/w/a"]);
        // Another call that writes the same path counts: before or after, running or done.
        begin(&mut changes, 0, 2, "/w/a", false);
        changes.end(&key(0), "2");
        check_but(&changes, 0, Some(1), &["/w/a"], &[]);
        begin(&mut changes, 0, 3, "/w/a", false);
        check_but(&changes, 0, Some(3), &["/w/a"], &["/w/a"]);
        // A call that is judged again begins once and ends by its first id.
        begin(&mut changes, 1, 1, "/w/a", true);
        let begun = Begun {
            call: 1,
            id: "",
            paths: paths(&["/w/b"]),
            downloaded: BTreeSet::new(),
            scripts: Vec::new(),
            in_background: false,
        };
        changes.begin(key(1), begun);
        check_but(&changes, 1, Some(1), &[], &[]);
        changes.end_turn(&key(1));
        check(&changes, 1, &["/w/a", "/w/b"], &["/w/a", "/w/b"]);
        changes.end(&key(1), "1");
        check_but(&changes, 1, Some(1), &["/w/a", "/w/b"], &[]);
    }

    #[test]
    fn what_came_from_the_network_is_known_by_it() {
        let mut changes = Changes::default();
        let written = paths(&["/w/a", "/w/b"]);
        let downloaded = paths(&["/w/b"]);
        let (scripts, in_background) = (Vec::new(), false);
        let begun = Begun { call: 1, id: "1", paths: written, downloaded, scripts, in_background };
        changes.begin(key(0), begun);
        begin(&mut changes, 0, 2, "/w/c", false);
        let changed = changes.of(&key(0), None).unwrap();
        assert_eq!(*changed.downloaded, paths(&["/w/b"]));
        assert_eq!(*changed.written, paths(&["/w/a", "/w/b", "/w/c"]));
    }

    #[test]
    fn what_any_session_has_written_is_known() {
        let mut changes = Changes::default();
        begin(&mut changes, 0, 1, "/w/a", false);
        begin(&mut changes, 1, 1, "/w/sub", false);
        begin(&mut changes, 2, 1, "/v/.git/index", false);
        begin(&mut changes, 2, 2, "/u/*.js", false);
        changes.end(&key(0), "1");
        for (path, expected) in [
            ("/w/a", true),
            ("/w/sub/b", true),
            ("/v/x/y", true),
            ("/u/a.js", true),
            ("/u/a.py", false),
            ("/w/ab", false),
            ("/w/b", false),
            ("/vx", false),
        ] {
            assert_eq!(changes.has_any_written(path), expected, "{path}");
        }
        changes.add(key(3), Vec::new(), Vec::new(), true);
        assert!(changes.has_any_written("/w/b"));
    }

    #[test]
    fn what_is_not_kept_is_not_taken_for_unwritten() {
        let mut changes = Changes::default();
        for number in 0..=CHANGED_PATHS_PER_SESSION_MAX {
            begin(&mut changes, 0, 1, &number.to_string(), false);
        }
        let changed = changes.of(&key(0), None).unwrap();
        assert!(changed.is_full);
        assert_eq!(changed.written.len(), CHANGED_PATHS_PER_SESSION_MAX);
        begin(&mut changes, 1, 1, "/w/a", false);
        assert!(!changes.of(&key(1), None).unwrap().is_full);
    }

    #[test]
    fn what_a_call_writes_goes_on_changing_when_the_call_is_no_longer_kept() {
        let mut changes = Changes::default();
        begin(&mut changes, 0, 1, "/w/in_background", true);
        begin(&mut changes, 0, 2, "/w/waited_for", false);
        let most = OPEN_CALLS_PER_SESSION_MAX as u64;
        for number in 3..3 + most {
            begin(&mut changes, 0, number, "/w/b", true);
        }
        let changing = |changes: &Changes| changes.of(&key(0), None).unwrap().changing;
        let all = &["/w/b", "/w/in_background", "/w/waited_for"];
        assert_eq!(changing(&changes), paths(all));
        changes.end(&key(0), "3");
        assert_eq!(changing(&changes), paths(all));
        changes.end_turn(&key(0));
        assert_eq!(changing(&changes), paths(&["/w/b", "/w/in_background"]));
        // The journal stores it and restores it.
        let mut again = Changes::default();
        for entry in changes.entries().collect::<Vec<_>>() {
            if let Entry::Begun { root, call, use_id, paths, in_background, .. } = entry {
                let (paths, downloaded) = (paths.into_iter().collect(), BTreeSet::new());
                let begun =
                    Begun { call, id: &use_id, paths, downloaded, scripts: Vec::new(), in_background };
                again.begin(root, begun);
            }
        }
        assert_eq!(changing(&again), changing(&changes));
    }

    #[test]
    fn of_many_downloads_none_is_taken_for_the_users_own() {
        let mut changes = Changes::default();
        for number in 0..=CHANGED_PATHS_PER_SESSION_MAX as u64 {
            let downloaded = paths(&[&format!("/w/d/{number}")]);
            let (id, scripts, in_background) = (number.to_string(), Vec::new(), false);
            let paths = downloaded.clone();
            changes.begin(key(0), Begun { call: number, id: &id, paths, downloaded, scripts, in_background });
        }
        assert_eq!(*changes.of(&key(0), None).unwrap().downloaded, paths(&["/w/d"]));
    }

    #[test]
    fn the_paths_of_all_sessions_have_a_limit_together() {
        let mut changes = Changes { paths: CHANGED_PATHS_MAX - 1, ..Changes::default() };
        let is_full = |changes: &Changes, session| changes.of(&key(session), None).unwrap().is_full;
        begin(&mut changes, 0, 1, "/w/a", false);
        begin(&mut changes, 0, 2, "/w/a", false);
        assert!(!is_full(&changes, 0));
        begin(&mut changes, 1, 1, "/w/a", false);
        assert!(is_full(&changes, 1));
        changes.forget(&key(0));
        begin(&mut changes, 2, 1, "/w/a", false);
        assert!(!is_full(&changes, 2));
    }

    #[test]
    fn what_two_sessions_wrote_that_are_one_is_written_by_both() {
        let mut changes = Changes::default();
        begin(&mut changes, 0, 1, "/w/a", false);
        begin(&mut changes, 1, 2, "/w/a", false);
        begin(&mut changes, 1, 3, "/w/b", true);
        changes.merge(&key(1), key(0));
        check(&changes, 0, &["/w/a", "/w/b"], &["/w/a", "/w/b"]);
        assert_eq!((changes.of(&key(1), None), changes.paths), (None, 2));
        changes.end_turn(&key(0));
        check(&changes, 0, &["/w/a", "/w/b"], &["/w/b"]);
    }

    #[test]
    fn what_a_call_runs_is_told_when_it_ends() {
        let mut changes = Changes::default();
        let script = |path: &str| ScriptFile { path: path.to_owned(), sha256: None, is_written: false };
        let mut begins = |number: u64, id: &str, in_background| {
            let (paths, downloaded) = (BTreeSet::new(), BTreeSet::new());
            let scripts = vec![script(id)];
            changes.begin(key(0), Begun { call: number, id, paths, downloaded, scripts, in_background })
        };
        let ended = |call, id: &str| Ended { call, id: id.to_owned(), scripts: vec![script(id)] };
        for (number, id) in ["a", "b"].into_iter().enumerate() {
            assert_eq!(begins(number as u64, id, false), None);
        }
        assert_eq!(begins(2, "c", true), None);
        assert_eq!(changes.end(&key(0), "a"), [ended(0, "a")]);
        assert_eq!(changes.end(&key(0), "a"), []);
        assert_eq!(changes.end_turn(&key(0)), [ended(1, "b")]);
        assert_eq!(changes.end(&key(0), "c"), [ended(2, "c")]);
        let mut forgotten = Vec::new();
        for number in 0..=OPEN_CALLS_PER_SESSION_MAX {
            let (paths, downloaded) = (BTreeSet::new(), BTreeSet::new());
            let id = number.to_string();
            let scripts = vec![script(&id)];
            let begun =
                Begun { call: number as u64, id: &id, paths, downloaded, scripts, in_background: false };
            forgotten.extend(changes.begin(key(0), begun));
        }
        assert_eq!(forgotten, [ended(0, "0")]);
    }
}
