//! Files that a session has written or may be writing. A replaced program is no longer the program of that name.

mod copying;
mod origins;
mod outlasting;
mod session;
mod within;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::Path;
use std::sync::Arc;

use castellan_event::ScriptFile;
use castellan_facts::{may_be_anywhere, may_be_written, names};

pub(super) use self::copying::Copier;
pub(crate) use self::copying::Copying;
pub(crate) use self::origins::Origins;
pub(super) use self::within::keep_within;
use super::entry::{BegunEntry, Entry};
use crate::jobs::Start;
use crate::limits::CHANGED_PATHS_MAX;
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
    pub(crate) origins: Origins,
    /// A call opened a tunnel, which may outlast it.
    pub(crate) has_tunnel: bool,
    /// The session wrote more paths than are stored.
    pub(crate) is_full: bool,
    /// Paths of calls that may still run.
    pub(crate) changing: BTreeSet<String>,
    /// Files that contained calls of any session wrote.
    pub(crate) contained: Arc<BTreeSet<String>>,
}

/// A call that may run now, and its writes.
#[derive(Debug, Default)]
pub(crate) struct Begun<'a> {
    /// The number of the call's record.
    pub(crate) call: u64,
    /// The agent's id of the call.
    pub(crate) id: &'a str,
    pub(crate) paths: BTreeSet<String>,
    /// The paths whose contents have a source that matters.
    pub(crate) origins: Origins,
    /// The call opens a tunnel.
    pub(crate) opens_tunnel: bool,
    /// Files whose code the call runs.
    pub(crate) scripts: Vec<ScriptFile>,
    /// Files and directories whose code the call may run or load. Most loaders name a file of the project alone.
    pub(crate) code: BTreeSet<String>,
    pub(crate) copying: Copying,
    /// The agent continues while the call runs.
    pub(crate) in_background: bool,
    /// Commands of the call may run after the agent's report.
    pub(crate) outlasts: bool,
    /// `None` if the begin is not known.
    pub(crate) start: Option<Start>,
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

/// Earlier writes of a session.
#[derive(Debug, Default)]
pub(super) struct Earlier {
    pub(super) written: Vec<String>,
    pub(super) origins: Origins,
    pub(super) has_tunnel: bool,
    pub(super) is_full: bool,
}

#[derive(Debug, Default)]
struct Session {
    /// Shared with readers, because there may be thousands of paths.
    written: Arc<BTreeSet<String>>,
    origins: Origins,
    has_tunnel: bool,
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
    code: BTreeSet<String>,
    copying: Copying,
    in_background: bool,
    outlasts: bool,
    start: Option<Start>,
    /// The agent has reported its end, or the call failed, and commands of it may run.
    is_reported: bool,
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

    /// Reports whether a file may be nobody's text: any session fetched it from the network by its name, made it by code
    /// that castellan did not read, or wrote it by an unknown path. What version control fetched in another session is
    /// the project's history.
    pub(crate) fn has_any_foreign(&self, file: &str) -> bool {
        self.sessions.values().any(|session| {
            let Origins { downloaded, unread_output, .. } = &session.origins;
            session.is_full
                || names(downloaded, file)
                || names(unread_output, file)
                || may_be_anywhere(&session.written, file)
        })
    }

    /// Returns the sessions with a call that may still run, but for the call with this number, and that may run or load a
    /// file in a workspace. With each: whether castellan looks for the commands of the call itself.
    pub(super) fn running_code_in(
        &self,
        workspace: &str,
        but: u64,
    ) -> impl Iterator<Item = (&SessionKey, bool)> {
        let workspace = Path::new(workspace);
        // A tool that loads a directory above loads the files of the workspace, too.
        let is_near = move |path: &String| {
            let path = Path::new(path);
            path.starts_with(workspace) || workspace.starts_with(path)
        };
        let runs = move |open: &&Open| open.call != but && open.code.iter().any(is_near);
        self.sessions.iter().flat_map(move |(root, session)| {
            session.open.iter().filter(runs).map(move |open| (root, open.is_looked_for()))
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

    pub(super) fn has_changed(&self, root: &SessionKey) -> bool {
        self.sessions.contains_key(root)
    }

    /// Adds earlier writes.
    pub(super) fn add(
        &mut self,
        root: SessionKey,
        Earlier { written, origins, has_tunnel, is_full }: Earlier,
    ) {
        let session = self.sessions.entry(root).or_default();
        let before = session.written.len();
        Arc::make_mut(&mut session.written).extend(written);
        session.has_tunnel |= has_tunnel;
        session.is_full |= !session.origins.add(origins) || is_full;
        self.paths += session.written.len().saturating_sub(before);
    }

    pub(super) fn merge(&mut self, from: &SessionKey, into: SessionKey) {
        let Some(Session { written, origins, has_tunnel, is_full, open }) = self.sessions.remove(from) else {
            return;
        };
        self.paths = self.paths.saturating_sub(written.len());
        let written = Arc::unwrap_or_clone(written).into_iter().collect();
        self.add(into, Earlier { written, origins, has_tunnel, is_full });
        self.sessions.entry(into).or_default().open.extend(open);
    }

    pub(super) fn forget(&mut self, root: &SessionKey) {
        let session = self.sessions.remove(root);
        self.paths = self.paths.saturating_sub(session.map_or(0, |session| session.written.len()));
    }

    /// Returns entries for everything except the hashes of running calls' scripts.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> {
        self.sessions.iter().flat_map(|(root, session)| session.entries(*root))
    }
}

impl Begun<'_> {
    pub(super) fn is_nothing(&self) -> bool {
        self.paths.is_empty()
            && self.origins.is_empty()
            && !self.opens_tunnel
            && self.scripts.is_empty()
            && self.code.is_empty()
            && self.copying.into.is_empty()
    }
}

impl Session {
    fn entries(&self, root: SessionKey) -> impl Iterator<Item = Entry> {
        let all = |paths: &BTreeSet<String>| paths.iter().cloned().collect();
        let written = Entry::Written {
            root,
            paths: all(&self.written),
            downloaded: all(&self.origins.downloaded),
            secret_copies: all(&self.origins.secret_copies),
            unread_output: all(&self.origins.unread_output),
            has_tunnel: self.has_tunnel,
            is_full: self.is_full,
        };
        let open =
            self.open.iter().map(move |open| Entry::Begun(Box::new(BegunEntry::of(root, &open.begun()))));
        let reported: Vec<u64> =
            self.open.iter().filter(|open| open.is_reported).map(|open| open.call).collect();
        let reported = (!reported.is_empty()).then_some(Entry::Ended { root, calls: reported });
        std::iter::once(written).chain(open).chain(reported)
    }
}

impl Open {
    fn rest(call: u64, first: &Open) -> Open {
        Open {
            call,
            id: NO_ID.to_owned(),
            paths: BTreeSet::new(),
            alone: BTreeSet::new(),
            scripts: Vec::new(),
            code: BTreeSet::new(),
            copying: Copying::none(),
            in_background: first.in_background,
            outlasts: first.outlasts,
            start: first.start.clone(),
            is_reported: first.is_reported,
        }
    }

    /// The call as it began, without its scripts and origins.
    fn begun(&self) -> Begun<'_> {
        Begun {
            call: self.call,
            id: &self.id,
            paths: self.paths.clone(),
            code: self.code.clone(),
            copying: self.copying.clone(),
            in_background: self.in_background,
            outlasts: self.outlasts,
            start: self.start.clone(),
            ..Begun::default()
        }
    }

    fn end(&mut self) -> Ended {
        Ended { call: self.call, id: self.id.clone(), scripts: std::mem::take(&mut self.scripts) }
    }
}

#[cfg(test)]
mod tests;
