//! What the daemon remembers between calls: sessions with their marks and what they wrote, what persons have granted and whom they
//! trust, answers given, and the next request id. What must outlive the daemon is one [`Entry`] after the other: what happens now and
//! what a journal tells of a daemon before go the same way.

mod changes;
mod consequences;
mod decided;
mod entry;
mod lasting;
mod marks;
mod over;
mod probing;
mod servers;
mod sessions;
mod trust;

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use castellan_event::{AccessLevel, Action, Code, Session, Verdict};
use castellan_policy::{Grant, GrantPart, RequestId, Standing, Tries};

use crate::clock::Moment;
use crate::journal::{Found, Journal};
use crate::limits::{REMEMBERED_ANSWERS_MAX, REQUESTS_RESERVED};
use crate::peers::AgentProcess;
use crate::requests::{Granted, Now, Requests, Scope, Taken, Ungrantable, is_called};

pub(crate) use changes::{Begun, Changed, Changes, Ended};
pub(crate) use consequences::Consequence;
pub(crate) use decided::{Decided, DecidedCalls};
pub(crate) use marks::Marks;
pub(crate) use sessions::{SessionKey, Telling, Workspace};
pub(crate) use trust::{Trust, WorkspaceDecision};

use entry::{Entry, GrantEntry};
use lasting::{Lasting, Reading};
use probing::Denials;

/// Names one call for the agent's second question about it, which carries no id: SHA-256 over agent, session, sub-agent,
/// directory, canonical tool name and input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CallKey(pub(crate) [u8; 32]);

/// What was answered to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) verdict: Verdict,
    pub(crate) reason: String,
    /// The session as the call saw it. To a second question it looks the same, or the call would meet its own marks.
    pub(crate) session: Arc<Session>,
    /// The number of the call's record. What it has written since does not count in a second question either.
    pub(crate) call: u64,
    /// What a person had granted of it.
    pub(crate) grant: Option<Taken>,
    /// Obligations that were met before the answer.
    pub(crate) met: Vec<Action>,
    /// In which it was judged: the answer answers a second question, too, as long as that is the one of now.
    pub(crate) epoch: Epoch,
}

/// The time between two things that answers can depend on: another policy or mode, a person's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Epoch(u64);

#[derive(Debug)]
pub(crate) struct Memory {
    lasting: Lasting,
    journal: Journal,
    answers: HashMap<CallKey, Given>,
    answer_order: VecDeque<CallKey>,
    epoch: Epoch,
    /// Sessions that are looked at by their ids, as far as there was need to know.
    watched: HashSet<SessionKey>,
    /// What was decided about calls that may run now.
    pub(crate) decided: DecidedCalls,
    denials: Denials,
    next_request: RequestId,
    /// How many more request ids the journal says are taken.
    reserved: u32,
}

/// A session that an event is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entered {
    /// The session by its own id: what persons grant is granted to it alone.
    pub(crate) id: SessionKey,
    /// The sessions that are one with it: marks and what was written are theirs together.
    pub(crate) root: SessionKey,
}

impl Memory {
    /// Goes on with what is kept in the file `path`. `is_first`: no daemon has served this home before; `seed` keeps request ids of
    /// different homes apart. What cannot be read is put aside, and why is returned: then every session of an agent that ran before
    /// counts as having done what it could, and nothing is granted or trusted. An error when nothing can be kept here.
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

    /// Writes what has happened since the last time. Nothing that follows from it may be answered before.
    pub(crate) fn save(&mut self) -> io::Result<()> {
        let lasting = &self.lasting;
        self.journal.write(|file| lasting.write(&Moment::read(), file))
    }

    /// Writes everything again where the file is not what was written. False when it was.
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

    /// Whether a session needs another one's place. Then it is to be told first which ones are [`Memory::watch`]ed.
    pub(crate) fn needs_room(&self, id: &SessionKey) -> bool {
        self.lasting.sessions.is_full() && self.lasting.sessions.root(id).is_none()
    }

    /// These sessions are looked at by their ids, and keep their places.
    pub(crate) fn watch(&mut self, ids: HashSet<SessionKey>) {
        self.watched = ids;
    }

    /// Something of a session is heard from a process of an agent. An error when there is no room for another one: why.
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

    /// Where a session works, once that is known.
    pub(crate) fn workspace(&self, id: &SessionKey) -> Option<&Workspace> {
        self.lasting.sessions.workspace(id)
    }

    /// Fixes where a session works, for all its calls to come.
    pub(crate) fn fix_workspace(&mut self, Entered { id, root }: Entered, workspace: Workspace) {
        let seen_ms = self.now_ms();
        self.put(Entry::Session { id, root, seen_ms, workspace: Some(workspace) });
    }

    /// The access level that an agent of the session may have which gives itself this one: a sub-agent's is no higher than that of the
    /// main agent.
    pub(crate) fn ceiling(&mut self, id: &SessionKey, is_main: bool, own: AccessLevel) -> AccessLevel {
        if is_main && self.lasting.sessions.ceiling(id) != own {
            self.put(Entry::Ceiling { id: *id, ceiling: own });
        }
        own.min(self.lasting.sessions.ceiling(id))
    }

    /// What a record has told of the session's workspace.
    pub(crate) fn telling(&mut self, id: &SessionKey) -> Option<&mut Telling> {
        self.lasting.sessions.telling(id)
    }

    /// The sessions of a process; none of one that cannot be seen.
    pub(crate) fn sessions_in(&self, process: &AgentProcess) -> Vec<SessionKey> {
        self.lasting.sessions.of_process(process)
    }

    /// Every process that has made calls as an agent, or in which a person has tried a hook. Some have ended.
    pub(crate) fn processes(&self) -> impl Iterator<Item = AgentProcess> {
        self.lasting.sessions.processes()
    }

    /// A session as a call sees it that comes now.
    pub(crate) fn session(&self, root: &SessionKey) -> Session {
        self.lasting.marks.session(root, self.now_ms())
    }

    /// Whether what the session has done is not known.
    pub(crate) fn is_suspect(&self, root: &SessionKey) -> bool {
        self.lasting.is_suspect(root)
    }

    /// Whether there is room for a call's marks; if not, why.
    pub(crate) fn check_room(&self, root: &SessionKey, labels: &[String]) -> Result<(), String> {
        self.lasting.marks.check_room(root, labels)
    }

    /// Counts a call's marks. There must be room for them.
    pub(crate) fn mark(&mut self, root: SessionKey, labels: &[String]) {
        if !labels.is_empty() {
            let at_ms = self.now_ms();
            self.put(Entry::Marked { root, labels: labels.to_vec(), at_ms });
        }
    }

    /// What was denied in a session so far.
    pub(crate) fn tries(&self, root: &SessionKey) -> Arc<Tries> {
        self.denials.of(root)
    }

    /// Counts what a call of a session was about that was denied.
    pub(crate) fn count_denial(&mut self, root: SessionKey, purposes: &[String]) {
        self.denials.count(root, purposes);
    }

    /// Whether nobody has looked yet which MCP servers were there before castellan.
    pub(crate) fn wants_servers(&self) -> bool {
        self.lasting.servers.is_open()
    }

    /// These need no asking, in any session.
    pub(crate) fn know_servers(&mut self, names: Vec<String>) {
        self.put(Entry::Servers { names });
    }

    /// Whether a session may use an MCP server without being asked.
    pub(crate) fn knows_server(&self, root: &SessionKey, name: &str) -> bool {
        self.lasting.servers.knows(root, name)
    }

    /// A person lets a session use one, as long as this daemon runs.
    pub(crate) fn use_server(&mut self, root: SessionKey, name: &str) {
        self.lasting.servers.use_in(root, name);
    }

    /// Who grants a call of a new server for long agrees to the server.
    fn agree_to_server(&mut self, granted: &Granted) {
        let is_new = |part: &GrantPart| part.lifts.iter().any(|lift| lift.code == Code::NewServer.as_str());
        let server = granted.subject.tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
        let Some((server, _)) = server.filter(|_| granted.grant.parts.iter().any(is_new)) else { return };
        let server = server.to_owned();
        match (granted.scope, granted.session) {
            (Scope::Always, _) => self.know_servers(vec![server]),
            (Scope::Session | Scope::For(_), Some(session)) => {
                let root = self.lasting.sessions.root(&session).unwrap_or(session);
                self.use_server(root, &server);
            }
            // That it has run once tells the same, when it is done.
            (Scope::Once, _) | (Scope::Session | Scope::For(_), None) => {}
        }
    }

    /// What follows for a session from calls that ran as nobody decided.
    pub(crate) fn consequence(&self, id: &SessionKey) -> Consequence {
        let root = self.lasting.sessions.root(id).unwrap_or(*id);
        self.lasting.consequences.of(&root)
    }

    /// Something more follows for a session.
    pub(crate) fn follow(&mut self, id: &SessionKey, consequence: Consequence) {
        let root = self.lasting.sessions.root(id).unwrap_or(*id);
        if consequence != Consequence::default() && self.lasting.consequences.of(&root) != consequence {
            self.put(Entry::Follows { root, consequence });
        }
    }

    /// What the session has written so far; see [`changes::Changes::of`].
    pub(crate) fn changed(&self, root: &SessionKey, but: Option<u64>) -> Option<Changed> {
        let changed = self.lasting.changes.of(root, but);
        match self.is_suspect(root) {
            true => Some(Changed { is_full: true, ..changed.unwrap_or_default() }),
            false => changed,
        }
    }

    /// Whether any session has changed a file, or may have: one of which nothing is known may have changed any.
    pub(crate) fn has_any_written(&self, file: &str) -> bool {
        self.lasting.has_suspects() || self.lasting.changes.has_any_written(file)
    }

    /// A call may run now; see [`changes::Changes::begin`].
    pub(crate) fn begin(&mut self, root: SessionKey, begun: Begun<'_>) -> Option<Ended> {
        if !begun.paths.is_empty() {
            self.journal.note(&lasting::line(&Entry::Begun {
                root,
                call: begun.call,
                use_id: begun.id.to_owned(),
                paths: begun.paths.iter().cloned().collect(),
                downloaded: begun.downloaded.iter().cloned().collect(),
                in_background: begun.in_background,
            }));
        }
        self.lasting.changes.begin(root, begun)
    }

    /// The agent says that the call is done.
    pub(crate) fn end(&mut self, root: SessionKey, use_id: &str) -> Vec<Ended> {
        let ended = self.lasting.changes.end(&root, use_id);
        self.note_ended(root, ended)
    }

    /// The agent's turn is over.
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

    /// What persons have decided about workspaces.
    pub(crate) fn trust(&self) -> &Trust {
        &self.lasting.trust
    }

    /// What a journal says that persons have decided about workspaces. Nothing is changed: the daemon may be writing it.
    pub(crate) fn read_trust(journal: &Path) -> (Found, Trust) {
        let now = Moment::read();
        let mut reading = Reading::new(&now);
        let found = Journal::read(journal, |line| reading.line(line));
        (found, reading.end().trust)
    }

    /// How sessions of a workspace stand. Without one, nobody can have said anything.
    pub(crate) fn standing(&self, workspace: Option<&Workspace>) -> Standing {
        self.lasting.trust.standing(workspace)
    }

    /// The hash of a trusted workspace's own files as they were trusted, where there were any.
    pub(crate) fn project(&self, workspace: Option<&Workspace>) -> Option<String> {
        self.lasting.trust.project(workspace).map(str::to_owned)
    }

    /// Decides about a workspace; `None` forgets what was decided. An error when it could not be kept: what tightens counts all the
    /// same as long as this daemon runs.
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

    /// How many sessions are known.
    pub(crate) fn sessions(&self) -> usize {
        self.lasting.sessions.count()
    }

    /// How many grants hold, as far as nobody has looked at the time.
    pub(crate) fn grants(&self) -> usize {
        self.lasting.requests.kept().count()
    }

    /// Calls that wait for a person, and what persons have granted.
    pub(crate) fn requests(&self) -> &Requests {
        &self.lasting.requests
    }

    /// The same, for what does not outlive the daemon: that a call waits, and that what was granted of one is taken for now.
    pub(crate) fn requests_mut(&mut self) -> &mut Requests {
        &mut self.lasting.requests
    }

    /// Grants the call that waits under `id`; see [`Requests::approve`]. What cannot be kept is not granted.
    pub(crate) fn approve(&mut self, id: &str, shown: &str, scope: Scope) -> Result<Granted, Ungrantable> {
        let waiting = self.lasting.requests.waiting_as(id);
        let not_run = waiting.map(|request| (request.session, request.not_run()));
        let granted = self.lasting.requests.approve(id, shown, scope, Now::read())?;
        // What it would have written is not being written.
        if let Some((session, use_ids)) = not_run {
            let root = self.lasting.sessions.root(&session).unwrap_or(session);
            use_ids.iter().for_each(|id| drop(self.end(root, id)));
        }
        self.journal.note(&lasting::line(&Entry::Granted(Box::new(GrantEntry::of(&granted)))));
        if self.save().is_err() {
            self.end_grant(granted.id);
            return Err(Ungrantable::NotKept);
        }
        self.agree_to_server(&granted);
        // Where this is not written, the server is asked about again after the next start.
        let _ = self.save();
        Ok(granted)
    }

    /// Refuses a call; see [`Requests::refuse`]. It is to be saved, and counts all the same when it cannot be.
    pub(crate) fn refuse(&mut self, id: &str) -> Option<RequestId> {
        // What is used up may still answer a second question about its call.
        let answered =
            self.answers.values().filter_map(|given| given.grant.as_ref()).flat_map(|taken| &taken.of);
        let answered = answered.copied().find(|known| is_called(*known, id));
        let refused = self.lasting.requests.refuse(id).or(answered)?;
        self.end_grant(refused);
        self.take_back(refused);
        Some(refused)
    }

    /// The call that took what was granted of it has been judged; see [`Requests::settle`].
    pub(crate) fn settle_grants(&mut self, taken: &Taken, is_used: impl Fn(&Grant) -> bool) {
        for id in self.lasting.requests.settle(taken, is_used) {
            self.end_grant(id);
        }
    }

    fn end_grant(&mut self, id: RequestId) {
        self.put(Entry::GrantOver { request: id.number() });
    }

    /// Hands out a request id that no other call has: none that waits, none that was granted, none of a daemon before until all have
    /// been used. An id that a decision does not use is simply skipped.
    pub(crate) fn take_request(&mut self) -> RequestId {
        loop {
            let id = self.next_request;
            self.next_request = self.after(id);
            match self.reserved.checked_sub(1) {
                Some(left) => self.reserved = left,
                None => {
                    self.reserved = REQUESTS_RESERVED;
                    let next = (0..=REQUESTS_RESERVED).fold(id, |id, _| self.after(id));
                    self.put(Entry::Requests { next: next.number() });
                }
            }
            if !self.lasting.requests.knows(id) {
                return id;
            }
        }
    }

    /// Short ids as long as there are enough of them: never are all of the long ones in use.
    fn after(&self, id: RequestId) -> RequestId {
        if self.lasting.requests.is_crowded() { id.next_of_all() } else { id.next() }
    }

    /// Remembers an answer for a second question. What was granted of a call that was judged in an epoch that is over may have been taken
    /// back since, and is asked about again.
    pub(crate) fn remember(&mut self, key: CallKey, mut given: Given) {
        given.grant = given.grant.filter(|_| given.epoch == self.epoch);
        if self.answers.insert(key, given).is_none() {
            self.answer_order.push_back(key);
        }
        if self.answer_order.len() > REMEMBERED_ANSWERS_MAX
            && let Some(oldest) = self.answer_order.pop_front()
        {
            self.answers.remove(&oldest);
        }
    }

    /// No answer given so far answers a second question any more: policy or mode are others now, or a person has spoken. That the call
    /// was asked about is not forgotten.
    pub(crate) fn outdate(&mut self) {
        self.epoch = Epoch(self.epoch.0.wrapping_add(1));
    }

    /// The one of now.
    pub(crate) fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// What was granted under this id lets no call run any more that is asked about again.
    fn take_back(&mut self, id: RequestId) {
        for given in self.answers.values_mut() {
            if given.grant.as_ref().is_some_and(|taken| taken.of.contains(&id)) {
                given.grant = None;
            }
        }
    }

    pub(crate) fn given(&self, key: &CallKey) -> Option<&Given> {
        self.answers.get(key)
    }

    /// What happens now, for this daemon and the next.
    fn put(&mut self, entry: Entry) {
        self.journal.note(&lasting::line(&entry));
        self.lasting.apply(entry);
    }
}

/// Puts aside what cannot be read; says why, and where it is.
fn set_aside(path: &Path, why: &str) -> io::Result<String> {
    let aside = Journal::set_aside(path)?;
    Ok(format!("{why}; it is kept as `{}`", aside.display()))
}

#[cfg(test)]
mod tests;
