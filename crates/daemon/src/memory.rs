//! The daemon's state between calls: sessions with their marks and writes, grants, workspace trust, answers, the next
//! request id. Lasting state changes only through an [`Entry`], live or read from a journal.

mod answering;
mod changes;
mod consequence;
mod consequences;
mod contained;
mod containing;
mod decided;
mod entry;
mod granting;
mod halt;
mod halts;
mod lasting;
mod marks;
mod over;
mod pause;
mod plan;
mod plans;
mod probing;
mod running;
mod runs;
mod servers;
mod sessions;
mod trust;
mod workspace;

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use castellan_event::{AccessLevel, Session};
use castellan_policy::{RequestId, Tries, WorkspaceTrust};

use crate::clock::Moment;
use crate::journal::{Found, Journal};
use crate::peers::AgentProcess;
use crate::session_key::SessionKey;

pub(crate) use answering::{CallKey, Epoch, Given};
use changes::Copier;
pub(crate) use changes::{Begun, Changed, Changes, Copying, Ended, Origins};
pub(crate) use consequence::Consequence;
pub(crate) use contained::{CallFiles, Named, WiderMark};
pub(crate) use decided::{Decided, DecidedCalls};
pub(crate) use halt::{Halt, HaltPlace};
pub(crate) use marks::Marks;
pub use marks::NoRoom;
pub(crate) use pause::Pause;
pub(crate) use plan::{PlanInForce, PlanPlace};
pub(crate) use runs::{Run, RunsAbove};
pub(crate) use sessions::ReportState;
pub(crate) use trust::{Trust, WorkspaceDecision};
pub(crate) use workspace::Workspace;

use entry::Entry;
use lasting::{Lasting, Reading};
use probing::Denials;

#[derive(Debug)]
pub(crate) struct Memory {
    lasting: Lasting,
    journal: Journal,
    answers: HashMap<CallKey, Given>,
    answer_order: VecDeque<CallKey>,
    epoch: Epoch,
    /// Sessions that the monitor watches by their ids; set by [`Memory::watch`].
    watched: HashSet<SessionKey>,
    /// Decisions about calls that may run now.
    pub(crate) decided: DecidedCalls,
    denials: Denials,
    next_request: RequestId,
    /// Number of reserved request ids that are still unused. The journal already lists them as taken.
    reserved: u32,
}

/// Returns the format version of a journal that a newer castellan wrote.
pub(crate) fn newer_format(path: &Path) -> Option<u64> {
    let mut version = None;
    // The first line has the version; the rest is not read.
    let _ = Journal::read(path, |line| {
        version = lasting::version_of(line);
        Err(String::new())
    });
    version.filter(|version| *version > entry::VERSION.into())
}

/// The session of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entered {
    /// The session's own id. A grant applies to this id alone.
    pub(crate) id: SessionKey,
    /// The root of merged sessions, which share marks and written files.
    pub(crate) root: SessionKey,
}

impl Memory {
    /// Loads the state from the file `path`. `is_first`: no daemon has served this home before. `seed` makes request
    /// ids of different homes differ.
    ///
    /// An unreadable file is set aside and the reason returned. Then every session of an agent that ran before is
    /// suspect, and no grant or workspace trust remains. Returns an error when nothing can be stored here.
    pub(crate) fn open(path: PathBuf, is_first: bool, seed: u64) -> io::Result<(Memory, Option<String>)> {
        let now = Moment::read();
        let mut reading = Reading::new(&now);
        let (lasting, trouble) = match Journal::read(&path, |line| reading.line(line)) {
            Found::Nothing if is_first => (Lasting::new(&now), None),
            Found::Nothing => (Lasting::lost(&now), Some("it is gone".to_owned())),
            Found::Lines => (reading.end(), None),
            Found::Damaged(why) => (Lasting::lost(&now), Some(set_aside(&path, &why)?)),
        };
        let trouble = trouble.map(|why| {
            format!(
                "what sessions did, what was granted and who is trusted is not known any more: `{}`: {why}",
                path.display()
            )
        });
        let fresh = || RequestId::from_seed(seed);
        let next_request = lasting.next_request.map_or_else(fresh, RequestId::nth);
        let mut memory = Memory {
            lasting,
            journal: Journal::new(path),
            answers: HashMap::new(),
            answer_order: VecDeque::new(),
            epoch: Epoch::default(),
            watched: HashSet::new(),
            decided: DecidedCalls::default(),
            denials: Denials::default(),
            next_request,
            reserved: 0,
        };
        memory.save()?;
        Ok((memory, trouble))
    }

    /// Writes all entries since the last call. The daemon answers nothing that depends on them before.
    pub(crate) fn save(&mut self) -> io::Result<()> {
        let lasting = &self.lasting;
        self.journal.write(|file| lasting.write(&Moment::read(), file))
    }

    /// Writes what is due, and leaves the file to another process. Nothing can be saved from then on.
    pub(crate) fn close(&mut self) -> io::Result<()> {
        let saved = self.save();
        self.journal.close();
        saved
    }

    /// Writes the whole journal again if the file differs from the written content. Returns false if it does not.
    pub(crate) fn mend(&mut self) -> io::Result<bool> {
        if self.journal.is_ours() {
            return Ok(false);
        }
        self.journal.distrust();
        self.save().map(|()| true)
    }

    /// Milliseconds on the clock of marks and sessions.
    pub(crate) fn now_ms(&self) -> u64 {
        self.lasting.clock.now_ms()
    }

    /// Reports whether a session needs the place of another one. The caller then calls [`Memory::watch`] first.
    pub(crate) fn needs_room(&self, id: &SessionKey) -> bool {
        self.lasting.sessions.is_full() && self.lasting.sessions.root(id).is_none()
    }

    /// Sets the sessions that the monitor watches by id; they keep their places.
    pub(crate) fn watch(&mut self, ids: HashSet<SessionKey>) {
        self.watched = ids;
    }

    /// Registers a session of an agent's process. Returns the reason as an error when there is no room for it.
    pub(crate) fn enter(&mut self, id: SessionKey, process: AgentProcess) -> Result<Entered, String> {
        let now_ms = self.now_ms();
        let is_new = self.lasting.sessions.root(&id).is_none();
        if self.needs_room(&id) {
            self.make_room(now_ms)?;
        }
        let sessions = &self.lasting.sessions;
        let may_be_older = match process.pid {
            0 => is_new,
            _ => !sessions.is_known_process(&process),
        };
        for entry in sessions.entering(id, process, now_ms) {
            self.put(entry);
        }
        self.lasting.sessions.see(&id, now_ms);
        let root = self.lasting.sessions.root(&id).unwrap_or(id);
        if may_be_older && self.lasting.was_before_loss(&process) && !self.lasting.is_suspect(&root) {
            self.put(Entry::Suspect { root });
        }
        Ok(Entered { id, root })
    }

    fn make_room(&mut self, now_ms: u64) -> Result<(), String> {
        let mut ids = self.lasting.forgettable(now_ms, AgentProcess::lives);
        if ids.is_empty() {
            ids = self.lasting.sessions.dispensable(&self.watched, |workspace| self.project(Some(workspace)));
        }
        if ids.is_empty() {
            return Err("there are too many sessions of the last week: end some agents".to_owned());
        }
        self.put(Entry::Forgotten { ids });
        Ok(())
    }

    /// The session's workspace, if fixed.
    pub(crate) fn workspace(&self, id: &SessionKey) -> Option<&Workspace> {
        self.lasting.sessions.workspace(id)
    }

    /// Fixes the workspace for all future calls of a session.
    pub(crate) fn fix_workspace(&mut self, Entered { id, root }: Entered, workspace: Workspace) {
        let seen_ms = self.now_ms();
        self.put(Entry::Session { id, root, seen_ms, workspace: Some(workspace) });
    }

    /// The access level of an agent that declares the level `own`. A sub-agent's level never exceeds the main agent's.
    pub(crate) fn ceiling(&mut self, id: &SessionKey, is_main: bool, own: AccessLevel) -> AccessLevel {
        if is_main && self.lasting.sessions.ceiling(id) != own {
            self.put(Entry::Ceiling { id: *id, ceiling: own });
        }
        own.min(self.lasting.sessions.ceiling(id))
    }

    /// The record state of the session's workspace.
    pub(crate) fn report_state(&mut self, id: &SessionKey) -> Option<&mut ReportState> {
        self.lasting.sessions.report_state(id)
    }

    /// The sessions of a process; empty if the process cannot be identified.
    pub(crate) fn sessions_in(&self, process: &AgentProcess) -> Vec<SessionKey> {
        self.lasting.sessions.of_process(process)
    }

    /// Every process that has made calls as an agent or in which a person has tried a hook. Some have ended.
    pub(crate) fn processes(&self) -> impl Iterator<Item = AgentProcess> {
        self.lasting.sessions.processes()
    }

    /// The session as a call sees it now.
    pub(crate) fn session(&self, root: &SessionKey) -> Session {
        self.lasting.marks.session(root, self.now_ms())
    }

    /// Reports whether the session's past is unknown.
    pub(crate) fn is_suspect(&self, root: &SessionKey) -> bool {
        self.lasting.is_suspect(root)
    }

    /// Checks that there is room for a call's marks, or returns the reason.
    pub(crate) fn check_room(&self, root: &SessionKey, labels: &[String]) -> Result<(), NoRoom> {
        self.lasting.marks.check_room(root, labels)
    }

    /// Counts a call's marks. There must be room for them.
    pub(crate) fn mark(&mut self, root: SessionKey, labels: &[String]) {
        if !labels.is_empty() {
            let at_ms = self.now_ms();
            self.put(Entry::Marked { root, labels: labels.to_vec(), at_ms });
        }
    }

    /// Denials in a session so far.
    pub(crate) fn tries(&self, root: &SessionKey) -> Arc<Tries> {
        self.denials.of(root)
    }

    pub(crate) fn count_denial(&mut self, root: SessionKey, denial_keys: &[String]) {
        self.denials.count(root, denial_keys);
    }

    /// Reports whether the MCP servers configured before castellan are still to be read.
    pub(crate) fn wants_servers(&self) -> bool {
        self.lasting.servers.is_open()
    }

    /// Exempts servers from the question in every session.
    pub(crate) fn know_servers(&mut self, names: Vec<String>) {
        self.put(Entry::Servers { names });
    }

    /// Reports whether a session may use an MCP server without a question.
    pub(crate) fn knows_server(&self, root: &SessionKey, name: &str) -> bool {
        self.lasting.servers.knows(root, name)
    }

    /// Exempts a server in one session while this daemon runs.
    pub(crate) fn use_server(&mut self, root: SessionKey, name: &str) {
        self.lasting.servers.use_in(root, name);
    }

    /// Consequence for a session of calls that ran against the decision.
    pub(crate) fn consequence(&self, id: &SessionKey) -> Consequence {
        let root = self.lasting.sessions.root(id).unwrap_or(*id);
        self.lasting.consequences.of(&root)
    }

    pub(crate) fn follow(&mut self, id: &SessionKey, consequence: Consequence) {
        let root = self.lasting.sessions.root(id).unwrap_or(*id);
        if consequence != Consequence::default() && self.lasting.consequences.of(&root) != consequence {
            self.put(Entry::Follows { root, consequence });
        }
    }

    /// Decisions of persons about workspaces.
    pub(crate) fn trust(&self) -> &Trust {
        &self.lasting.trust
    }

    /// Reads the workspace decisions from a journal. Changes nothing, because the daemon may be writing the journal.
    pub(crate) fn read_trust(journal: &Path) -> (Found, Trust) {
        let now = Moment::read();
        let mut reading = Reading::new(&now);
        let found = Journal::read(journal, |line| reading.line(line));
        (found, reading.end().trust)
    }

    /// The workspace trust of a session's workspace. Without a workspace there is no decision.
    pub(crate) fn workspace_trust(&self, workspace: Option<&Workspace>) -> WorkspaceTrust {
        self.lasting.trust.workspace_trust(workspace)
    }

    /// The hash of a trusted workspace's own files at the decision, if it had any.
    pub(crate) fn project(&self, workspace: Option<&Workspace>) -> Option<String> {
        self.lasting.trust.project(workspace).map(str::to_owned)
    }

    /// Stores a decision about a workspace; `None` removes it. Returns an error when the decision cannot be stored. A
    /// denial then still applies while this daemon runs.
    pub(crate) fn decide(&mut self, workspace: &str, decided: Option<WorkspaceDecision>) -> io::Result<()> {
        if !self.lasting.trust.has_room(workspace) {
            return Err(io::Error::other("there are too many decided workspaces: forget some"));
        }
        let before = self.lasting.trust.get(workspace).cloned();
        let tightens = decided == Some(WorkspaceDecision::Denied);
        self.put(Entry::Trust { workspace: workspace.to_owned(), decided });
        self.save().inspect_err(|_| {
            if !tightens {
                self.put(Entry::Trust { workspace: workspace.to_owned(), decided: before });
            }
        })
    }

    /// Number of known sessions.
    pub(crate) fn sessions(&self) -> usize {
        self.lasting.sessions.count()
    }

    /// Number of grants, including those that expired but were not yet removed.
    pub(crate) fn grants(&self) -> usize {
        self.lasting.requests.kept().count()
    }

    /// Writes an entry to the journal and applies it.
    fn put(&mut self, entry: Entry) {
        self.journal.note(&lasting::line(&entry));
        self.lasting.apply(entry);
    }
}

/// Sets an unreadable file aside and returns the reason with the new path.
fn set_aside(path: &Path, why: &str) -> io::Result<String> {
    let aside = Journal::set_aside(path)?;
    Ok(format!("{why}; it is kept as `{}`", aside.display()))
}

#[cfg(test)]
mod tests;
