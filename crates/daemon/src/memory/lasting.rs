//! [`Lasting`]: what outlives the daemon, as entries have made it.

use std::collections::HashSet;
use std::io::{self, Write};

use castellan_event::Mark;
use castellan_policy::RequestId;

use super::changes::{Begun, Changes};
use super::consequences::{Consequence, Consequences};
use super::entry::{Entry, GrantEntry, Header, VERSION, VERSION_BEFORE};
use super::marks::Marks;
use super::servers::Servers;
use super::sessions::{SessionKey, Sessions};
use super::trust::Trust;
use crate::clock::{Clock, Moment};
use crate::peers::AgentProcess;
use crate::process::Process;
use crate::requests::Requests;

#[derive(Debug)]
pub(super) struct Lasting {
    pub(super) clock: Clock,
    pub(super) sessions: Sessions,
    /// Marks outlive policies: a rule of the next one may ask for them.
    pub(super) marks: Marks,
    /// So does what sessions have written.
    pub(super) changes: Changes,
    pub(super) consequences: Consequences,
    /// Calls that wait for a person, and what persons have granted.
    pub(super) requests: Requests,
    pub(super) trust: Trust,
    /// MCP servers that need no asking.
    pub(super) servers: Servers,
    /// The number of the next request id.
    pub(super) next_request: Option<u32>,
    /// Roots of sessions of which it is not known what they did.
    suspects: HashSet<SessionKey>,
    /// Of agents that were started up to this clock tick of this boot, nothing is known.
    lost_ticks: Option<u64>,
}

impl Lasting {
    /// The state of a new home.
    pub(super) fn new(now: &Moment) -> Lasting {
        Lasting {
            clock: Clock::showing(0, now),
            sessions: Sessions::default(),
            marks: Marks::default(),
            changes: Changes::default(),
            consequences: Consequences::default(),
            requests: Requests::default(),
            trust: Trust::default(),
            servers: Servers::default(),
            next_request: None,
            suspects: HashSet::new(),
            lost_ticks: None,
        }
    }

    /// The state after one that cannot be read.
    pub(super) fn lost(now: &Moment) -> Lasting {
        // Agents that this daemon did not serve before are older than it. Where it cannot see itself, all may be.
        let ticks = Process::read(std::process::id()).map_or(u64::MAX, |own| own.started);
        let mut lasting = Lasting { lost_ticks: Some(ticks), ..Lasting::new(now) };
        // Which servers were there before castellan nobody can tell any more: each is asked about.
        lasting.servers.know([]);
        lasting
    }

    /// Writes everything that counts, as lines.
    pub(super) fn write(&self, now: &Moment, file: &mut dyn Write) -> io::Result<()> {
        let header = Header {
            castellan_journal: VERSION,
            boot: now.boot.clone(),
            clock_ms: self.clock.now_ms(),
            boot_ms: now.boot_ms,
            wall_ms: now.wall_ms,
        };
        let lost = self.lost_ticks.map(|ticks| Entry::Lost { ticks });
        let suspects = self.suspects.iter().map(|root| Entry::Suspect { root: *root });
        let granted = self.requests.kept().map(|granted| Entry::Granted(Box::new(GrantEntry::of(granted))));
        let trust = self.trust.all().map(|(workspace, decided)| Entry::Trust {
            workspace: workspace.to_owned(),
            decided: Some(decided.clone()),
        });
        let servers = self.servers.known().map(|names| Entry::Servers { names });
        let requests = self.next_request.map(|next| Entry::Requests { next });
        let mut entries = requests
            .into_iter()
            .chain(lost)
            .chain(self.sessions.entries())
            .chain(self.marks.entries())
            .chain(self.changes.entries())
            .chain(self.consequences.entries())
            .chain(suspects)
            .chain(granted)
            .chain(trust)
            .chain(servers);
        writeln!(file, "{}", line(&header))?;
        entries.try_for_each(|entry| writeln!(file, "{}", line(&entry)))
    }

    /// Takes something that has happened.
    pub(super) fn apply(&mut self, entry: Entry) {
        match entry {
            Entry::Session { id, root, seen_ms, workspace } => {
                self.sessions.add(id, root, seen_ms, workspace);
            }
            Entry::Process { pid, started, root } => {
                self.sessions.add_process(AgentProcess { pid, started }, root, AgentProcess::lives);
            }
            Entry::Ceiling { id, ceiling } => self.sessions.cap(&id, ceiling),
            Entry::Merged { from, into } => self.merge(from, into),
            Entry::Forgotten { ids } => self.forget(&ids),
            Entry::Marked { root, labels, at_ms } => self.marks.set(root, &labels, at_ms),
            Entry::Mark { root, label, count, at_ms } => self.marks.add(root, &label, Mark { count, at_ms }),
            Entry::Begun { root, call, use_id, paths, downloaded, in_background } => {
                let (paths, downloaded) = (paths.into_iter().collect(), downloaded.into_iter().collect());
                let scripts = Vec::new();
                self.changes
                    .begin(root, Begun { call, id: &use_id, paths, downloaded, scripts, in_background });
            }
            Entry::Ended { root, calls } => {
                self.changes.end_calls(&root, &calls);
            }
            Entry::Written { root, paths, downloaded, is_full } => {
                self.changes.add(root, paths, downloaded, is_full);
            }
            Entry::Suspect { root } => {
                self.suspects.insert(root);
            }
            Entry::Follows { root, consequence } => self.consequences.add(root, consequence),
            Entry::Lost { ticks } => self.lost_ticks = Some(ticks),
            Entry::Granted(granted) => self.requests.keep(granted.granted()),
            Entry::GrantOver { request } => self.requests.end(RequestId::nth(request)),
            Entry::Trust { workspace, decided } => self.trust.decide(workspace, decided),
            Entry::Servers { names } => self.servers.know(names),
            Entry::Requests { next } => self.next_request = Some(next),
        }
    }

    /// Whether nothing is known of what the process did: it ran before the state was lost, or may have.
    pub(super) fn was_before_loss(&self, process: &AgentProcess) -> bool {
        self.lost_ticks.is_some_and(|ticks| process.pid == 0 || process.started <= ticks)
    }

    /// Whether there is, or was before the state was lost, any session of which it is not known what it did.
    pub(super) fn has_suspects(&self) -> bool {
        self.lost_ticks.is_some() || !self.suspects.is_empty()
    }

    pub(super) fn is_suspect(&self, root: &SessionKey) -> bool {
        self.suspects.contains(root)
    }

    /// Sessions that may be forgotten.
    pub(super) fn forgettable(&self, now_ms: u64, lives: impl Fn(&AgentProcess) -> bool) -> Vec<SessionKey> {
        let is_plain = |root: &SessionKey| {
            !self.marks.is_marked(root)
                && !self.changes.has_changed(root)
                && !self.is_suspect(root)
                && self.consequences.of(root) == Consequence::default()
        };
        self.sessions.forgettable(now_ms, lives, is_plain)
    }

    fn merge(&mut self, from: SessionKey, into: SessionKey) {
        self.sessions.merge(from, into);
        self.marks.merge(&from, into);
        self.changes.merge(&from, into);
        self.consequences.merge(&from, into);
        self.servers.merge(&from, into);
        if self.suspects.remove(&from) {
            self.suspects.insert(into);
        }
    }

    fn forget(&mut self, ids: &[SessionKey]) {
        for root in self.sessions.forget(ids) {
            self.marks.forget(&root);
            self.changes.forget(&root);
            self.consequences.forget(&root);
            self.servers.forget(&root);
            self.suspects.remove(&root);
        }
    }
}

/// A state that is being read: what [`Lasting::write`] and lines after it say.
#[derive(Debug)]
pub(super) struct Reading<'n> {
    now: &'n Moment,
    lasting: Lasting,
    head: Option<Head>,
}

/// What the first line says.
#[derive(Debug)]
struct Head {
    written: Moment,
    clock_ms: u64,
    is_same_boot: bool,
    /// The latest time that any line names.
    latest_ms: u64,
}

impl<'n> Reading<'n> {
    pub(super) fn new(now: &'n Moment) -> Reading<'n> {
        Reading { now, lasting: Lasting::new(now), head: None }
    }

    /// Takes the next line; else says what is wrong with it.
    pub(super) fn line(&mut self, line: &str) -> Result<(), String> {
        let Some(head) = &mut self.head else {
            self.head = Some(Head::read(line, self.now)?);
            return Ok(());
        };
        let entry: Entry = serde_json::from_str(line).map_err(|error| error.to_string())?;
        head.latest_ms = head.latest_ms.max(entry.at_ms());
        if head.is_same_boot || !entry.is_of_one_boot() {
            self.lasting.apply(entry);
        }
        Ok(())
    }

    /// What all lines together say.
    pub(super) fn end(self) -> Lasting {
        let Reading { now, mut lasting, head } = self;
        let Some(Head { written, clock_ms, is_same_boot, latest_ms }) = head else { return lasting };
        if !is_same_boot {
            lasting.requests.end_timed();
        }
        let going_on = Clock::going_on(clock_ms, &written, now);
        // Where people's clock was set back meanwhile.
        lasting.clock = going_on.no_earlier(Clock::showing(latest_ms, now));
        lasting
    }
}

impl Head {
    fn read(line: &str, now: &Moment) -> Result<Head, String> {
        // Of a newer version nothing else need be readable.
        let version: serde_json::Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        match version.get("castellan_journal").and_then(serde_json::Value::as_u64) {
            Some(version) if [VERSION, VERSION_BEFORE].map(u64::from).contains(&version) => {}
            Some(version) => {
                let known = format!("this castellan reads {VERSION_BEFORE} and {VERSION}");
                return Err(format!("its version is {version}, {known}"));
            }
            None => return Err("it is no journal of castellan".to_owned()),
        }
        let header: Header = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let written = Moment { boot: header.boot, boot_ms: header.boot_ms, wall_ms: header.wall_ms };
        let is_same_boot = now.is_of_boot(&written.boot);
        Ok(Head { written, clock_ms: header.clock_ms, is_same_boot, latest_ms: header.clock_ms })
    }
}

impl Entry {
    /// Whether it means nothing after the machine was booted again: processes have other ids then, and clocks start anew.
    fn is_of_one_boot(&self) -> bool {
        matches!(self, Entry::Process { .. } | Entry::Lost { .. })
    }

    /// A time at which the clock has been by then; 0 where it says none.
    fn at_ms(&self) -> u64 {
        match self {
            Entry::Session { seen_ms: at_ms, .. }
            | Entry::Marked { at_ms, .. }
            | Entry::Mark { at_ms, .. } => *at_ms,
            Entry::Process { .. }
            | Entry::Ceiling { .. }
            | Entry::Merged { .. }
            | Entry::Forgotten { .. }
            | Entry::Begun { .. }
            | Entry::Ended { .. }
            | Entry::Written { .. }
            | Entry::Suspect { .. }
            | Entry::Follows { .. }
            | Entry::Lost { .. }
            | Entry::Granted(_)
            | Entry::GrantOver { .. }
            | Entry::Trust { .. }
            | Entry::Servers { .. }
            | Entry::Requests { .. } => 0,
        }
    }
}

/// An entry as a line, without its end. Texts of ours always have one.
pub(super) fn line(entry: &impl serde::Serialize) -> String {
    serde_json::to_string(entry).unwrap_or_default()
}
