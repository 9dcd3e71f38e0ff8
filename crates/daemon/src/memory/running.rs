//! Calls that may still run, and the paths that they write. It must not know decisions.

use std::collections::BTreeSet;
use std::path::Path;

use super::entry::{BegunEntry, Entry};
use super::lasting::Lasting;
use super::{Begun, Changed, Ended, Memory, lasting};
use crate::jobs::Jobs;
use crate::peers::AgentProcess;
use crate::session_key::SessionKey;

impl Memory {
    /// The session's writes so far; see [`changes::Changes::of`].
    pub(crate) fn changed(&self, root: &SessionKey, but: Option<u64>) -> Option<Changed> {
        let changed = self.lasting.changes.of(root, but);
        let changed = match self.is_suspect(root) {
            true => Some(Changed { has_tunnel: true, is_full: true, ..changed.unwrap_or_default() }),
            false => changed,
        };
        let contained = self.lasting.contained.files();
        match contained.is_empty() {
            true => changed,
            false => Some(Changed { contained, ..changed.unwrap_or_default() }),
        }
    }

    /// Reports whether any session has changed a file or may have. A suspect session may have changed any file.
    pub(crate) fn has_any_written(&self, file: &str) -> bool {
        self.lasting.has_suspects()
            || self.lasting.changes.has_any_written(file)
            || self.lasting.contained.has(file)
    }

    /// Reports whether a file may hold text of the network or of unread code; see [`changes::Changes::has_any_foreign`].
    pub(crate) fn has_any_foreign(&self, file: &str) -> bool {
        self.lasting.has_suspects()
            || self.lasting.changes.has_any_foreign(file)
            || self.lasting.contained.has(file)
    }

    /// Reports whether another call of a running agent runs code of a workspace.
    pub(crate) fn runs_code_in(&self, workspace: &str, but: u64) -> bool {
        let mut running = self.lasting.changes.running_code_in(workspace, but);
        running.any(|(root, is_looked_for)| is_looked_for || self.lives(root))
    }

    /// Returns files that calls may still write as copies of files of contained calls. After a restart, castellan does not look
    /// for the commands of some calls: then those files that are absent may come.
    pub(crate) fn open_copies(&self) -> BTreeSet<String> {
        let open = self.lasting.changes.open_copies();
        let may_come = |(root, is_looked_for, path): &(&SessionKey, bool, &String)| {
            *is_looked_for || self.lives(root) || Path::new(path).symlink_metadata().is_err()
        };
        open.filter(may_come).map(|(.., path)| path.clone()).collect()
    }

    /// Reports whether the commands of a call may run although the agent has reported it, or has ended.
    pub(crate) fn may_outlast(&self) -> bool {
        self.lasting.changes.may_outlast(|root| has_agent(&self.lasting.sessions.processes_of(root)))
    }

    /// Ends the calls of which no command runs any more.
    pub(crate) fn end_outlasting(&mut self, jobs: &Jobs) {
        let Lasting { changes, sessions, .. } = &mut self.lasting;
        let agents = |root: &SessionKey| sessions.processes_of(root);
        let is_open = |root: &SessionKey| has_agent(&agents(root));
        changes.end_outlasting(is_open, |root, start| jobs.may_run(&agents(root), start));
    }

    fn lives(&self, root: &SessionKey) -> bool {
        self.lasting.sessions.processes_of(root).iter().any(is_agent)
    }

    /// Registers a call that may run now; see [`changes::Changes::begin`].
    pub(crate) fn begin(&mut self, root: SessionKey, begun: Begun<'_>) -> Option<Ended> {
        if !begun.is_nothing() {
            let entry = Entry::Begun(Box::new(BegunEntry::of(root, &begun)));
            self.journal.note(&lasting::line(&entry));
        }
        self.lasting.changes.begin(root, begun)
    }

    /// Registers the agent's report that the call is done.
    pub(crate) fn end(&mut self, root: SessionKey, use_id: &str) -> Vec<Ended> {
        let ended = self.lasting.changes.end(&root, use_id);
        self.note_ended(root, ended)
    }

    /// Registers the end of the agent's turn.
    pub(crate) fn end_turn(&mut self, root: SessionKey) -> Vec<Ended> {
        let ended = self.lasting.changes.end_turn(&root);
        self.note_ended(root, ended)
    }

    fn note_ended(&mut self, root: SessionKey, ended: Vec<Ended>) -> Vec<Ended> {
        if !ended.is_empty() {
            let calls = ended.iter().map(|ended| ended.call).collect();
            self.journal.note(&lasting::line(&Entry::Ended { root, calls }));
        }
        ended
    }
}

/// Reports whether an agent of a session may run. An unknown one may.
fn has_agent(agents: &[AgentProcess]) -> bool {
    agents.is_empty() || agents.iter().any(is_agent)
}

/// Reports whether an agent may run. One that is not known may.
fn is_agent(process: &AgentProcess) -> bool {
    process.pid == 0 || process.lives()
}
