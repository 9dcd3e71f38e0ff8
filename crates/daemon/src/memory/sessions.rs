//! Who makes calls: sessions by the agent's id of them and by the agent's process. A process that goes on under another id is the
//! same session, and so is an id that goes on in another process: what is known of one is known of both. It must not know what is
//! known of them.

use std::collections::{HashMap, HashSet};

use castellan_event::AccessLevel;
use serde::{Deserialize, Serialize};

use super::entry::Entry;
use crate::limits::{PROCESSES_MAX, SESSION_IDLE_MS, SESSIONS_DROPPED, SESSIONS_MAX};
use crate::peers::AgentProcess;

/// Names a session of an agent, whose sub-agents share it: SHA-256 over agent and session id. The key of one of them names
/// sessions that are one: their *root*.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SessionKey(pub(crate) [u8; 32]);

/// Where a session works: fixed when it is first heard of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Workspace {
    /// The repository, else the directory, symlinks resolved; empty where that could not be looked at.
    pub(crate) path: String,
    /// Whether things can be inside: not of `/`, of a home, nor of what holds one.
    pub(crate) is_border: bool,
}

impl Workspace {
    /// That of a session whose first directory could not be looked at: none, for as long as it lasts.
    pub(crate) fn nowhere() -> Workspace {
        Workspace { path: String::new(), is_border: false }
    }

    /// The directory in which things count as the workspace's; empty where there is none.
    pub(crate) fn inside(&self) -> &str {
        if self.is_border { &self.path } else { "" }
    }
}

/// What a record has told of a session's workspace: it tells once that a person should decide about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Telling {
    /// Nobody has looked whether there is something to tell.
    #[default]
    Unlooked,
    /// There was nothing to tell at the last look.
    Nothing,
    /// It has told.
    Told,
}

#[derive(Debug, Default)]
pub(crate) struct Sessions {
    known: HashMap<SessionKey, Known>,
    processes: HashMap<AgentProcess, SessionKey>,
}

#[derive(Debug)]
struct Known {
    root: SessionKey,
    workspace: Option<Workspace>,
    /// When it was last heard of.
    seen_ms: u64,
    telling: Telling,
    /// The highest access level that the main agent gave itself when it was last heard of.
    ceiling: AccessLevel,
}

impl Sessions {
    /// The root of a session that is known.
    pub(crate) fn root(&self, id: &SessionKey) -> Option<SessionKey> {
        self.known.get(id).map(|known| known.root)
    }

    /// Where a session works, once that is known.
    pub(crate) fn workspace(&self, id: &SessionKey) -> Option<&Workspace> {
        self.known.get(id)?.workspace.as_ref()
    }

    /// Sessions that are known, by ids.
    pub(crate) fn count(&self) -> usize {
        self.known.len()
    }

    /// A session is heard of.
    pub(super) fn see(&mut self, id: &SessionKey, now_ms: u64) {
        if let Some(known) = self.known.get_mut(id) {
            known.seen_ms = now_ms;
        }
    }

    /// The highest access level that the main agent gave itself when it was last heard of: no sub-agent of it has more.
    pub(super) fn ceiling(&self, id: &SessionKey) -> AccessLevel {
        self.known.get(id).map_or(AccessLevel::FullAccess, |known| known.ceiling)
    }

    /// The lowest one of the sessions that are one.
    fn ceiling_of_root(&self, root: &SessionKey) -> AccessLevel {
        let ceilings = self.known.values().filter(|known| known.root == *root).map(|known| known.ceiling);
        ceilings.min().unwrap_or(AccessLevel::FullAccess)
    }

    /// The main agent gives itself this one.
    pub(super) fn cap(&mut self, id: &SessionKey, ceiling: AccessLevel) {
        if let Some(known) = self.known.get_mut(id) {
            known.ceiling = ceiling;
        }
    }

    /// What a record has told of the session's workspace.
    pub(super) fn telling(&mut self, id: &SessionKey) -> Option<&mut Telling> {
        self.known.get_mut(id).map(|known| &mut known.telling)
    }

    /// The sessions of a process; none of one that cannot be seen.
    pub(super) fn of_process(&self, process: &AgentProcess) -> Vec<SessionKey> {
        let Some(root) = self.processes.get(process) else { return Vec::new() };
        self.known.iter().filter(|(_, known)| known.root == *root).map(|(id, _)| *id).collect()
    }

    /// Every process that is known to be an agent's.
    pub(super) fn processes(&self) -> impl Iterator<Item = AgentProcess> {
        self.processes.keys().copied()
    }

    /// What there is to note when a session is heard of in a process. Processes that cannot be seen are none.
    pub(super) fn entering(&self, id: SessionKey, process: AgentProcess, now_ms: u64) -> Vec<Entry> {
        let session = |root| Entry::Session { id, root, seen_ms: now_ms, workspace: None };
        let in_process = |root| {
            let AgentProcess { pid, started } = process;
            (pid != 0).then_some(Entry::Process { pid, started, root })
        };
        match (self.root(&id), self.processes.get(&process).copied()) {
            (None, None) => [session(id)].into_iter().chain(in_process(id)).collect(),
            (None, Some(root)) => vec![session(root)],
            (Some(root), None) => in_process(root).into_iter().collect(),
            (Some(from), Some(into)) if from != into => vec![Entry::Merged { from, into }],
            (Some(_), Some(_)) => Vec::new(),
        }
    }

    pub(super) fn is_known_process(&self, process: &AgentProcess) -> bool {
        self.processes.contains_key(process)
    }

    pub(super) fn is_full(&self) -> bool {
        self.known.len() >= SESSIONS_MAX
    }

    pub(super) fn add(
        &mut self,
        id: SessionKey,
        root: SessionKey,
        seen_ms: u64,
        workspace: Option<Workspace>,
    ) {
        let telling = Telling::default();
        // Until its own main agent is heard of, it may do no more than those that it is one with.
        let ceiling = match self.known.contains_key(&id) {
            true => AccessLevel::FullAccess,
            false => self.ceiling_of_root(&root),
        };
        let new = Known { root, workspace: None, seen_ms, telling, ceiling };
        let known = self.known.entry(id).or_insert(new);
        (known.root, known.seen_ms) = (root, seen_ms);
        known.workspace = workspace.or(known.workspace.take());
    }

    /// Processes that have ended make room: one session may go on in any number.
    pub(super) fn add_process(
        &mut self,
        process: AgentProcess,
        root: SessionKey,
        lives: impl Fn(&AgentProcess) -> bool,
    ) {
        if self.processes.len() >= PROCESSES_MAX {
            self.processes.retain(|process, _| lives(process));
        }
        self.processes.insert(process, root);
    }

    pub(super) fn merge(&mut self, from: SessionKey, into: SessionKey) {
        let roots = self.known.values_mut().map(|known| &mut known.root).chain(self.processes.values_mut());
        for root in roots.filter(|root| **root == from) {
            *root = into;
        }
    }

    /// Sessions that may be forgotten: of no agent that still runs, and of which nothing is known, or that were not heard of
    /// for long.
    pub(super) fn forgettable(
        &self,
        now_ms: u64,
        lives: impl Fn(&AgentProcess) -> bool,
        is_plain: impl Fn(&SessionKey) -> bool,
    ) -> Vec<SessionKey> {
        let alive: HashSet<_> =
            self.processes.iter().filter(|(process, _)| lives(process)).map(|(_, root)| *root).collect();
        let is_over = |known: &Known| {
            let is_idle = now_ms.saturating_sub(known.seen_ms) > SESSION_IDLE_MS;
            !alive.contains(&known.root) && (is_idle || is_plain(&known.root))
        };
        self.known.iter().filter(|(_, known)| is_over(known)).map(|(id, _)| *id).collect()
    }

    /// The ids, the oldest ones first, that can be forgotten with nothing else: what is known of sessions that are one is known by their
    /// root, and stays as long as any of their ids does. Of these the newest stays, one of the lowest ceiling, below which an id that
    /// comes again stays too, and the newest in each workspace whose own files count, as `project_of` says. So do those that are
    /// `watched`: what is found of them later is found by their ids.
    pub(super) fn dispensable(
        &self,
        watched: &HashSet<SessionKey>,
        project_of: impl Fn(&Workspace) -> Option<String>,
    ) -> Vec<SessionKey> {
        let mut newest: HashMap<(SessionKey, Option<String>), (u64, SessionKey)> = HashMap::new();
        let mut lowest: HashMap<SessionKey, (AccessLevel, SessionKey)> = HashMap::new();
        for (id, known) in &self.known {
            let project = known.workspace.as_ref().and_then(&project_of);
            for of in [None, project] {
                let seen = (known.seen_ms, *id);
                let newest = newest.entry((known.root, of)).or_insert(seen);
                *newest = seen.max(*newest);
            }
            let capped = (known.ceiling, *id);
            let lowest = lowest.entry(known.root).or_insert(capped);
            *lowest = capped.min(*lowest);
        }
        let mut kept: HashSet<SessionKey> = newest.into_values().map(|(_, id)| id).collect();
        kept.extend(lowest.into_values().map(|(_, id)| id));
        let others = self.known.iter().filter(|(id, _)| !kept.contains(id) && !watched.contains(id));
        let mut others: Vec<(u64, SessionKey)> = others.map(|(id, known)| (known.seen_ms, *id)).collect();
        others.sort_unstable();
        others.into_iter().take(SESSIONS_DROPPED).map(|(_, id)| id).collect()
    }

    /// Forgets sessions. Returns the roots of which nothing is left.
    pub(super) fn forget(&mut self, ids: &[SessionKey]) -> HashSet<SessionKey> {
        let roots = ids.iter().filter_map(|id| self.known.remove(id)).map(|known| known.root);
        let mut gone: HashSet<_> = roots.collect();
        for known in self.known.values() {
            gone.remove(&known.root);
        }
        self.processes.retain(|_, root| !gone.contains(root));
        gone
    }

    /// Everything, as entries.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> {
        let sessions = self.known.iter().map(|(id, Known { root, seen_ms, workspace, .. })| Entry::Session {
            id: *id,
            root: *root,
            seen_ms: *seen_ms,
            workspace: workspace.clone(),
        });
        let processes = self.processes.iter().map(|(AgentProcess { pid, started }, root)| Entry::Process {
            pid: *pid,
            started: *started,
            root: *root,
        });
        let is_capped = |(_, known): &(&SessionKey, &Known)| known.ceiling != AccessLevel::FullAccess;
        let capped = self.known.iter().filter(is_capped);
        let ceilings = capped.map(|(id, known)| Entry::Ceiling { id: *id, ceiling: known.ceiling });
        sessions.chain(processes).chain(ceilings)
    }
}
