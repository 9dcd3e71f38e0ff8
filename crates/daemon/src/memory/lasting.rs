//! [`Lasting`]: the state that outlives the daemon, built from entries.

use std::collections::HashSet;
use std::io::{self, Write};
use std::sync::Arc;

use castellan_event::Mark;
use castellan_policy::RequestId;

use super::changes::{Changes, Earlier, Origins};
use super::consequence::Consequence;
use super::consequences::Consequences;
use super::contained::ContainedFiles;
use super::entry::{Entry, GrantEntry, Header, VERSION, VERSION_OLDEST};
use super::halt::Halt;
use super::halts::Halts;
use super::marks::Marks;
use super::pause::Pause;
use super::plan::PlanPlace;
use super::plans::Plans;
use super::runs::Runs;
use super::servers::Servers;
use super::sessions::Sessions;
use super::trust::Trust;
use crate::clock::{Clock, Moment};
use crate::peers::AgentProcess;
use crate::process::Process;
use crate::requests::Requests;
use crate::session_key::SessionKey;

#[derive(Debug)]
pub(super) struct Lasting {
    pub(super) clock: Clock,
    pub(super) sessions: Sessions,
    /// Marks outlive policies, because a rule of the next policy may check them.
    pub(super) marks: Marks,
    /// Writes of sessions outlive policies, too.
    pub(super) changes: Changes,
    pub(super) consequences: Consequences,
    /// Files that contained calls wrote. They outlive sessions: a person settles them.
    pub(super) contained: ContainedFiles,
    /// Pending calls and grants.
    pub(super) requests: Requests,
    pub(super) trust: Trust,
    pub(super) plans: Plans,
    pub(super) runs: Runs,
    pub(super) halts: Halts,
    pub(super) pause: Option<Pause>,
    /// MCP servers without a question.
    pub(super) servers: Servers,
    pub(super) next_request: Option<u32>,
    /// Roots of sessions with an unknown past.
    suspects: HashSet<SessionKey>,
    /// The past of agents started up to this clock tick of this boot is unknown.
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
            contained: ContainedFiles::default(),
            requests: Requests::default(),
            trust: Trust::default(),
            plans: Plans::default(),
            runs: Runs::default(),
            halts: Halts::default(),
            pause: None,
            servers: Servers::default(),
            next_request: None,
            suspects: HashSet::new(),
            lost_ticks: None,
        }
    }

    /// The state after an unreadable one.
    pub(super) fn lost(now: &Moment) -> Lasting {
        // Agents of earlier daemons are older. If this daemon cannot read its own process, any agent may be older.
        let ticks = Process::read(std::process::id()).map_or(u64::MAX, |own| own.started);
        let mut lasting = Lasting { lost_ticks: Some(ticks), ..Lasting::new(now) };
        // The servers that existed before castellan are no longer known, so castellan asks about each.
        lasting.servers.know([]);
        lasting
    }

    /// Writes the whole state as lines.
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
            .chain(self.contained.entries())
            .chain(suspects)
            .chain(granted)
            .chain(trust)
            .chain(self.plans.entries())
            .chain(self.runs.entries())
            .chain(self.halts.entries())
            .chain(self.pause.map(Pause::entry))
            .chain(servers);
        writeln!(file, "{}", line(&header))?;
        entries.try_for_each(|entry| writeln!(file, "{}", line(&entry)))
    }

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
            Entry::Begun(entry) => {
                let (root, begun) = entry.begun();
                self.changes.begin(root, begun);
            }
            Entry::Ended { root, calls } => {
                self.changes.end_calls(&root, &calls);
            }
            Entry::Written {
                root,
                paths: written,
                downloaded,
                secret_copies,
                unread_output,
                has_tunnel,
                is_full,
            } => {
                let origins = origins([downloaded, secret_copies, unread_output]);
                self.changes.add(root, Earlier { written, origins, has_tunnel, is_full });
            }
            Entry::Suspect { root } => _ = self.suspects.insert(root),
            Entry::Follows { root, consequence } => self.consequences.add(root, consequence),
            Entry::Lost { ticks } => self.lost_ticks = Some(ticks),
            Entry::Granted(granted) => self.requests.keep(granted.granted()),
            Entry::GrantOver { request } => self.requests.end(RequestId::nth(request)),
            Entry::Plan { place, plan } => self.plans.put(place, plan),
            Entry::PlanCall { place, departed, last } => self.plans.count(&place, departed, last),
            Entry::Run { process, profile, is_sandboxed, at_ms } => {
                self.runs.start(process, (profile.as_deref(), is_sandboxed), at_ms);
            }
            Entry::RunAgent { run, agent } => self.runs.join(run, agent),
            Entry::RunAgentsOver { run, agents } => self.runs.leave(run, &agents),
            Entry::RunOver { process } => self.runs.end(process),
            Entry::Halt { place, of, at_ms } => self.halts.put(Halt { place, of, at_ms }),
            Entry::HaltOver { place } => self.halts.end(&place),
            Entry::Pause { at_ms, until_ms } => self.pause = Some(Pause { at_ms, until_ms }),
            Entry::PauseOver {} => self.pause = None,
            Entry::Contained { call, workspace, process, beside } => {
                self.contained.begin(call, workspace, process, beside);
            }
            Entry::ContainedOver { call, workspace, written } => self.contained.end(call, workspace, written),
            Entry::ContainedCopied { call, workspace, paths } => self.contained.copy(call, &workspace, paths),
            Entry::ContainedSettled { call, workspace } => self.contained.settle(call, &workspace),
            Entry::Trust { workspace, decided } => self.trust.decide(workspace, decided),
            Entry::Servers { names } => self.servers.know(names),
            Entry::Requests { next } => self.next_request = Some(next),
        }
    }

    /// Reports whether the process ran before the state was lost, or may have.
    pub(super) fn was_before_loss(&self, process: &AgentProcess) -> bool {
        self.lost_ticks.is_some_and(|ticks| process.pid == 0 || process.started <= ticks)
    }

    /// Reports whether any session with an unknown past exists, or existed before the state was lost.
    pub(super) fn has_suspects(&self) -> bool {
        self.lost_ticks.is_some() || !self.suspects.is_empty()
    }

    pub(super) fn is_suspect(&self, root: &SessionKey) -> bool {
        self.suspects.contains(root)
    }

    pub(super) fn forgettable(&self, now_ms: u64, lives: impl Fn(&AgentProcess) -> bool) -> Vec<SessionKey> {
        let is_plain = |root: &SessionKey| {
            !self.marks.is_marked(root)
                && !self.changes.has_changed(root)
                && !self.plans.has_session(root)
                && !self.halts.has_session(root)
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
        self.plans.merge(&from, into);
        self.halts.merge(&from, into);
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
            self.plans.put(PlanPlace::Session(root), None);
            self.suspects.remove(&root);
        }
    }
}

/// A state that is being read: the lines of [`Lasting::write`] and the lines after them.
#[derive(Debug)]
pub(super) struct Reading<'n> {
    now: &'n Moment,
    lasting: Lasting,
    head: Option<Head>,
}

/// The parsed first line.
#[derive(Debug)]
struct Head {
    written: Moment,
    clock_ms: u64,
    is_same_boot: bool,
    /// Latest time in any line.
    latest_ms: u64,
}

impl<'n> Reading<'n> {
    pub(super) fn new(now: &'n Moment) -> Reading<'n> {
        Reading { now, lasting: Lasting::new(now), head: None }
    }

    /// Parses the next line, or returns the reason why it is invalid.
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

    /// Returns the state after all lines.
    pub(super) fn end(self) -> Lasting {
        let Reading { now, mut lasting, head } = self;
        let Some(Head { written, clock_ms, is_same_boot, latest_ms }) = head else { return lasting };
        if !is_same_boot {
            lasting.requests.end_timed();
        }
        let going_on = Clock::going_on(clock_ms, &written, now);
        // For a wall clock that was set back meanwhile.
        lasting.clock = going_on.no_earlier(Clock::showing(latest_ms, now));
        lasting
    }
}

/// Returns the format version in the first line of a journal of any version.
pub(super) fn version_of(line: &str) -> Option<u64> {
    let header: serde_json::Value = serde_json::from_str(line).ok()?;
    header.get("castellan_journal").and_then(serde_json::Value::as_u64)
}

/// Builds origins from their lists in an entry, in the order of [`Origins`].
fn origins(lists: [Vec<String>; 3]) -> Origins {
    let [downloaded, secret_copies, unread_output] = lists.map(|paths| Arc::new(paths.into_iter().collect()));
    Origins { downloaded, secret_copies, unread_output }
}

impl Head {
    fn read(line: &str, now: &Moment) -> Result<Head, String> {
        // Checks the version first, because the rest of a newer header may be unreadable.
        let version: serde_json::Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        match version.get("castellan_journal").and_then(serde_json::Value::as_u64) {
            Some(version) if (VERSION_OLDEST.into()..=VERSION.into()).contains(&version) => {}
            Some(version) => {
                let known = format!("this castellan reads {VERSION_OLDEST} to {VERSION}");
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
    /// Reports whether the entry is invalid after a reboot: process ids change then, and clocks restart.
    fn is_of_one_boot(&self) -> bool {
        matches!(
            self,
            Entry::Process { .. }
                | Entry::Lost { .. }
                | Entry::Run { .. }
                | Entry::RunAgent { .. }
                | Entry::RunAgentsOver { .. }
                | Entry::RunOver { .. }
                | Entry::Pause { .. }
                | Entry::PauseOver {}
        )
    }

    /// A time that the clock had reached at this entry; 0 if the entry has none.
    fn at_ms(&self) -> u64 {
        match self {
            Entry::Session { seen_ms: at_ms, .. }
            | Entry::Marked { at_ms, .. }
            | Entry::Run { at_ms, .. }
            | Entry::Halt { at_ms, .. }
            | Entry::Pause { at_ms, .. }
            | Entry::Mark { at_ms, .. } => *at_ms,
            Entry::Process { .. }
            | Entry::Ceiling { .. }
            | Entry::Merged { .. }
            | Entry::Forgotten { .. }
            | Entry::Begun(_)
            | Entry::Ended { .. }
            | Entry::Written { .. }
            | Entry::Suspect { .. }
            | Entry::Follows { .. }
            | Entry::Lost { .. }
            | Entry::Granted(_)
            | Entry::GrantOver { .. }
            | Entry::Plan { .. }
            | Entry::PlanCall { .. }
            | Entry::RunAgent { .. }
            | Entry::RunAgentsOver { .. }
            | Entry::RunOver { .. }
            | Entry::HaltOver { .. }
            | Entry::PauseOver {}
            | Entry::Contained { .. }
            | Entry::ContainedOver { .. }
            | Entry::ContainedCopied { .. }
            | Entry::ContainedSettled { .. }
            | Entry::Trust { .. }
            | Entry::Servers { .. }
            | Entry::Requests { .. } => 0,
        }
    }
}

/// Serializes an entry as a line without its end. Serialization of these types never fails.
pub(super) fn line(entry: &impl serde::Serialize) -> String {
    serde_json::to_string(entry).unwrap_or_default()
}
