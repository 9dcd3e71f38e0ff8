//! Sessions by the agent's session id and by the agent's process. Ids that share a process, and processes that share an
//! id, are the same session and share their state. Independent of that state.

use std::collections::{HashMap, HashSet};

use castellan_event::AccessLevel;

use super::entry::Entry;
use super::workspace::Workspace;
use crate::limits::{PROCESSES_MAX, SESSION_IDLE_MS, SESSIONS_DROPPED, SESSIONS_MAX};
use crate::peers::AgentProcess;
use crate::session_key::SessionKey;

/// Record state of a session's workspace. A record reports once that a person should decide about the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum ReportState {
    /// Not yet checked.
    #[default]
    Unlooked,
    /// The last check found nothing to report.
    Nothing,
    /// Reported.
    Reported,
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
    /// Time of the last event.
    seen_ms: u64,
    report_state: ReportState,
    /// Highest access level that the main agent declared at its last event.
    ceiling: AccessLevel,
}

impl Sessions {
    pub(crate) fn root(&self, id: &SessionKey) -> Option<SessionKey> {
        self.known.get(id).map(|known| known.root)
    }

    pub(crate) fn workspace(&self, id: &SessionKey) -> Option<&Workspace> {
        self.known.get(id)?.workspace.as_ref()
    }

    /// Number of known session ids.
    pub(crate) fn count(&self) -> usize {
        self.known.len()
    }

    /// Registers an event of a session.
    pub(super) fn see(&mut self, id: &SessionKey, now_ms: u64) {
        if let Some(known) = self.known.get_mut(id) {
            known.seen_ms = now_ms;
        }
    }

    /// Highest access level that the main agent declared at its last event. It limits the sub-agents.
    pub(super) fn ceiling(&self, id: &SessionKey) -> AccessLevel {
        self.known.get(id).map_or(AccessLevel::FullAccess, |known| known.ceiling)
    }

    fn ceiling_of_root(&self, root: &SessionKey) -> AccessLevel {
        let ceilings = self.known.values().filter(|known| known.root == *root).map(|known| known.ceiling);
        ceilings.min().unwrap_or(AccessLevel::FullAccess)
    }

    /// Sets the access level that the main agent declares.
    pub(super) fn cap(&mut self, id: &SessionKey, ceiling: AccessLevel) {
        if let Some(known) = self.known.get_mut(id) {
            known.ceiling = ceiling;
        }
    }

    /// The record state of the session's workspace.
    pub(super) fn report_state(&mut self, id: &SessionKey) -> Option<&mut ReportState> {
        self.known.get_mut(id).map(|known| &mut known.report_state)
    }

    /// Returns the sessions of a process; none if the process cannot be identified.
    pub(super) fn of_process(&self, process: &AgentProcess) -> Vec<SessionKey> {
        let Some(root) = self.processes.get(process) else { return Vec::new() };
        self.known.iter().filter(|(_, known)| known.root == *root).map(|(id, _)| *id).collect()
    }

    /// Returns the processes of a session and of the sessions that are merged with it.
    pub(super) fn processes_of(&self, id: &SessionKey) -> Vec<AgentProcess> {
        let root = self.root(id).unwrap_or(*id);
        self.processes.iter().filter(|(_, of)| **of == root).map(|(process, _)| *process).collect()
    }

    pub(super) fn processes(&self) -> impl Iterator<Item = AgentProcess> {
        self.processes.keys().copied()
    }

    /// Returns the entries for an event of a session in a process. Ignores a process that cannot be identified.
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
        let report_state = ReportState::default();
        // Until the session's own main agent declares a level, the ceiling of the merged sessions limits it.
        let ceiling = match self.known.contains_key(&id) {
            true => AccessLevel::FullAccess,
            false => self.ceiling_of_root(&root),
        };
        let new = Known { root, workspace: None, seen_ms, report_state, ceiling };
        let known = self.known.entry(id).or_insert(new);
        (known.root, known.seen_ms) = (root, seen_ms);
        known.workspace = workspace.or(known.workspace.take());
    }

    /// Adds a process. Without room, removes ended ones, because a session may continue in any number of processes.
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

    /// Sessions that may be forgotten: their agent has ended, and they have no state or had no event for a long time.
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

    /// Returns the oldest ids whose removal loses no state. State is stored by root and remains while any id of the
    /// root remains.
    ///
    /// Of each root these ids stay:
    /// * the newest;
    /// * an id with the lowest ceiling, which still limits an id that returns later;
    /// * the newest in each workspace whose own files apply, according to `project_of`;
    /// * all `watched` ids, because the monitor reports its findings by id.
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

    /// Forgets sessions. Returns the roots without remaining ids.
    pub(super) fn forget(&mut self, ids: &[SessionKey]) -> HashSet<SessionKey> {
        let roots = ids.iter().filter_map(|id| self.known.remove(id)).map(|known| known.root);
        let mut gone: HashSet<_> = roots.collect();
        for known in self.known.values() {
            gone.remove(&known.root);
        }
        self.processes.retain(|_, root| !gone.contains(root));
        gone
    }

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
