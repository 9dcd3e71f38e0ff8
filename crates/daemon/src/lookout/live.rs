//! [`LiveSessions`]: the sessions whose agents run, as their hooks have told of them. It must not know what is looked at.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use castellan_agents::{self as agents, AgentId};
use castellan_event::{Agent, Answer, Query, World};

use super::settings::{AgentStart, HookSettings, Own, SettingsChange};
use super::tail::Tail;
use crate::clock::wall;
use crate::limits::{LINGER, LIVE_SESSIONS_MAX, LOOK, STARTS_PER_SESSION_MAX, TRANSCRIPTS_PER_SESSION_MAX};
use crate::memory::SessionKey;
use crate::peers::AgentProcess;
use crate::process::{arguments_of, set_variable};
use crate::world::FileSystem;

/// The sessions that are looked at.
#[derive(Debug, Default)]
pub(crate) struct LiveSessions {
    sessions: Mutex<HashMap<SessionKey, Arc<Live>>>,
    /// Rung when there is one again.
    news: Condvar,
    /// One more found no room, and none has since.
    is_full: AtomicBool,
    /// What is castellan's.
    own: Own,
}

/// As many sessions are looked at as can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full {
    /// Nobody was told before.
    pub(crate) is_news: bool,
}

/// A session whose agent runs.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) session: SessionKey,
    pub(crate) id: AgentId,
    /// As it was heard of first.
    pub(crate) agent: Agent,
    /// When that was, as RFC 3339: what a transcript tells of before was not for castellan to judge.
    pub(crate) since: String,
    /// Each agent that runs it, the first one first: one that goes on in a second terminal was started with other settings.
    starts: Mutex<VecDeque<Started>>,
    own: Own,
    heard: Mutex<Heard>,
}

/// An agent's process, and what it was started with.
#[derive(Debug)]
pub(crate) struct Started {
    process: AgentProcess,
    pub(crate) settings: HookSettings,
    /// It was started so that no settings of its user or of a repository switch its hooks off.
    pub(crate) keeps_hooks: bool,
}

/// What changed in the settings of an agent.
#[derive(Debug)]
pub(crate) struct Changed {
    pub(crate) change: SettingsChange,
    /// castellan's hook is registered for the machine.
    pub(crate) is_managed: bool,
    /// The agent was started so that its hooks stay on.
    pub(crate) keeps_hooks: bool,
}

/// What was heard of a session.
#[derive(Debug)]
struct Heard {
    process: AgentProcess,
    /// When it was heard of last.
    at: Instant,
    /// Its transcripts, by their paths.
    transcripts: Vec<String>,
    /// Those of them that nobody looks at yet.
    new: Vec<Tail>,
    /// There was one more than are looked at.
    has_more: bool,
}

impl LiveSessions {
    /// No session yet. `own`: what is castellan's.
    pub(crate) fn new(own: Own) -> LiveSessions {
        LiveSessions { own, ..LiveSessions::default() }
    }

    /// A hook tells of a session. An error where there is no room to look at one more: one whose agent runs makes none, as what was seen
    /// of it would be forgotten.
    pub(crate) fn hear(
        &self,
        session: SessionKey,
        id: AgentId,
        agent: &Agent,
        process: AgentProcess,
    ) -> Result<(), Full> {
        if let Some(live) = self.of(&session) {
            live.hear(agent, process);
            return Ok(());
        }
        if self.lock().len() >= LIVE_SESSIONS_MAX {
            self.lock().retain(|_, live| !live.is_gone());
        }
        if self.lock().len() >= LIVE_SESSIONS_MAX {
            return Err(Full { is_news: !self.is_full.swap(true, Ordering::Relaxed) });
        }
        self.is_full.store(false, Ordering::Relaxed);
        // Its files are looked at while its first call waits: what that call changes is a change.
        let live = Arc::new(Live::new(session, id, agent, process, self.own.clone()));
        self.lock().entry(session).or_insert(live);
        self.news.notify_all();
        Ok(())
    }

    /// A session that is looked at.
    pub(crate) fn of(&self, session: &SessionKey) -> Option<Arc<Live>> {
        self.lock().get(session).map(Arc::clone)
    }

    /// Waits for the time of the next look, and for a session to look at. Returns all of them.
    pub(crate) fn wait(&self) -> Vec<Arc<Live>> {
        let waited = self.news.wait_timeout_while(self.lock(), LOOK, |_| true);
        let (sessions, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let some = self.news.wait_while(sessions, |sessions| sessions.is_empty());
        some.unwrap_or_else(PoisonError::into_inner).values().map(Arc::clone).collect()
    }

    /// Which sessions they are.
    pub(crate) fn ids(&self) -> HashSet<SessionKey> {
        self.lock().keys().copied().collect()
    }

    /// Forgets those whose agents are gone, after their last look.
    pub(crate) fn forget_ended(&self) {
        self.lock().retain(|_, live| !live.is_over());
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionKey, Arc<Live>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Live {
    fn new(session: SessionKey, id: AgentId, agent: &Agent, process: AgentProcess, own: Own) -> Live {
        let heard =
            Heard { process, at: Instant::now(), transcripts: Vec::new(), new: Vec::new(), has_more: false };
        let since = humantime::format_rfc3339_millis(wall()).to_string();
        let started = Started::of(id, process, &agent.cwd, &own);
        let live = Live {
            session,
            id,
            agent: agent.clone(),
            since,
            starts: Mutex::new(VecDeque::from([started])),
            own,
            heard: Mutex::new(heard),
        };
        live.add_transcript(&agent.transcript_path);
        live
    }

    fn hear(&self, agent: &Agent, process: AgentProcess) {
        let mut heard = self.lock();
        heard.at = Instant::now();
        heard.process = process;
        let is_known = heard.transcripts.contains(&agent.transcript_path);
        drop(heard);
        self.start(agent, process);
        if !is_known {
            self.add_transcript(&agent.transcript_path);
        }
    }

    /// The process that asks, with what it was started with. What the one before it was not is a change.
    fn start(&self, agent: &Agent, process: AgentProcess) {
        let mut starts = self.starts();
        if starts.iter().any(|started| started.process == process) {
            return;
        }
        let mut started = Started::of(self.id, process, &agent.cwd, &self.own);
        if let Some(before) = starts.back() {
            started.settings.follow(&before.settings);
        }
        starts.retain(|started| started.process.lives());
        // What is seen of one that runs is not forgotten for another: anybody can say that it is of this session.
        if starts.len() >= STARTS_PER_SESSION_MAX {
            return;
        }
        starts.push_back(started);
    }

    /// Looks at the settings of its agents again.
    pub(crate) fn look_at_settings(&self) -> Vec<Changed> {
        let mut all = Vec::new();
        for started in self.starts().iter_mut() {
            let changes = started.settings.look();
            let (is_managed, keeps_hooks) = (started.settings.is_managed(), started.keeps_hooks);
            all.extend(changes.into_iter().map(|change| Changed { change, is_managed, keeps_hooks }));
        }
        all
    }

    /// What the settings of one of its agents say; `None` where it has more agents than are looked at.
    pub(crate) fn with_settings<T>(
        &self,
        process: AgentProcess,
        ask: impl FnOnce(&HookSettings) -> T,
    ) -> Option<T> {
        let starts = self.starts();
        let started = starts.iter().find(|started| started.process == process)?;
        Some(ask(&started.settings))
    }

    /// What stands in it already was before.
    fn add_transcript(&self, path: &str) {
        let mut heard = self.lock();
        if heard.transcripts.len() >= TRANSCRIPTS_PER_SESSION_MAX {
            heard.has_more = true;
        } else if Path::new(path).is_absolute() {
            heard.transcripts.push(path.to_owned());
            heard.new.push(Tail::at_end(PathBuf::from(path)));
        }
    }

    /// The transcripts that nobody looks at yet.
    pub(crate) fn take_new(&self) -> Vec<Tail> {
        std::mem::take(&mut self.lock().new)
    }

    /// Whether it has more transcripts than are looked at.
    pub(crate) fn has_more_transcripts(&self) -> bool {
        self.lock().has_more
    }

    /// The folders in which transcripts of its sub-agents lie.
    pub(crate) fn subagent_folders(&self) -> Vec<PathBuf> {
        let heard = self.lock();
        let folders = heard.transcripts.iter().filter_map(|path| agents::subagent_transcripts(self.id, path));
        folders.map(PathBuf::from).collect()
    }

    pub(crate) fn process(&self) -> AgentProcess {
        self.lock().process
    }

    /// Whether its agent is known to run no more.
    fn is_gone(&self) -> bool {
        let is_seen = self.process().pid != 0;
        self.is_over() || (is_seen && !self.runs())
    }

    fn is_over(&self) -> bool {
        let is_old = self.lock().at.elapsed() > LINGER;
        is_old && !self.runs()
    }

    /// Whether one of its agents runs still. Anybody can say that they are the latest.
    fn runs(&self) -> bool {
        let process = self.process();
        let starts = self.starts();
        process.lives() || starts.iter().any(|started| started.process.lives())
    }

    fn starts(&self) -> MutexGuard<'_, VecDeque<Started>> {
        self.starts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Started {
    fn of(id: AgentId, process: AgentProcess, cwd: &str, own: &Own) -> Started {
        let arguments = arguments_of(process.pid);
        let keeps_hooks = arguments.as_ref().is_some_and(|arguments| agents::keeps_hooks_on(id, arguments));
        let start = start_of(id, process.pid, PathBuf::from(cwd), arguments);
        Started { process, settings: HookSettings::new(id, start, own), keeps_hooks }
    }
}

/// How an agent's process was started.
pub(crate) fn start_of(id: AgentId, pid: u32, cwd: PathBuf, arguments: Option<Vec<Vec<u8>>>) -> AgentStart {
    let off_variable = set_variable(pid, agents::off_variables(id));
    AgentStart { dir: directory(id, pid), cwd, arguments, off_variable }
}

/// Where an agent's process keeps the agent's own files: as its environment says.
fn directory(id: AgentId, pid: u32) -> Option<PathBuf> {
    let Some(Answer::Process(Some(process))) = FileSystem::default().answer(&Query::Process { pid }) else {
        return None;
    };
    let var = |name: &str| process.env.iter().find(|(var, _)| var == name).map(|(_, value)| value.as_str());
    let moved = var(agents::settings_variable(id)).filter(|dir| !dir.is_empty()).map(Path::new);
    let moved = moved.map(|value| agents::moved_settings_directory(id, value));
    let home = var("HOME").filter(|home| !home.is_empty()).unwrap_or(&process.home);
    moved.or_else(|| Some(Path::new(home).join(agents::settings_path(id)).parent()?.to_owned()))
}

#[cfg(test)]
pub(crate) mod tests;
