//! [`LiveSessions`]: sessions with running agents, as reported by their hooks. It must not know the monitored data.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use castellan_agents::{self as agents, AgentId};
use castellan_event::{Agent, Answer, Query, World};

use super::agent_start::AgentStart;
use super::settings::{HookSettings, Own, SettingsChange};
use super::tail::Tail;
use crate::clock::wall;
use crate::limits::{LINGER, LIVE_SESSIONS_MAX, LOOK, STARTS_PER_SESSION_MAX, TRANSCRIPTS_PER_SESSION_MAX};
use crate::peers::AgentProcess;
use crate::process::{arguments_of, set_variable};
use crate::session_key::SessionKey;
use crate::world::FileSystem;

/// The monitored sessions.
#[derive(Debug, Default)]
pub(crate) struct LiveSessions {
    sessions: Mutex<HashMap<SessionKey, Arc<Live>>>,
    /// Signalled when a session is added.
    news: Condvar,
    /// True after a session found no room, until there is room again.
    is_full: AtomicBool,
    /// castellan's own hook and paths.
    own: Own,
}

/// The error when the limit of monitored sessions is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full {
    /// True if it is not yet reported.
    pub(crate) is_news: bool,
}

/// A session with a running agent.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) session: SessionKey,
    pub(crate) id: AgentId,
    /// The agent in the first event.
    pub(crate) agent: Agent,
    /// Time of the first event, as RFC 3339: castellan did not judge earlier calls in a transcript.
    pub(crate) since: String,
    /// Each agent process of the session, the first one first. A session resumed in a second terminal has other
    /// settings.
    starts: Mutex<VecDeque<Started>>,
    own: Own,
    heard: Mutex<Heard>,
}

/// An agent's process with its start settings.
#[derive(Debug)]
pub(crate) struct Started {
    process: AgentProcess,
    pub(crate) settings: HookSettings,
    /// True if the start options prevent user and repository settings from switching the hooks off.
    pub(crate) keeps_hooks: bool,
}

/// A change in the settings of an agent.
#[derive(Debug)]
pub(crate) struct Changed {
    pub(crate) change: SettingsChange,
    /// True if castellan's hook is registered for the machine.
    pub(crate) is_managed: bool,
    /// True if the agent was started so that its hooks stay on.
    pub(crate) keeps_hooks: bool,
}

/// Data from the hooks of a session.
#[derive(Debug)]
struct Heard {
    process: AgentProcess,
    /// Time of the last event.
    at: Instant,
    /// Paths of its transcripts.
    transcripts: Vec<String>,
    /// Transcripts that are not monitored yet.
    new: Vec<Tail>,
    /// True if there were more transcripts than the limit.
    has_more: bool,
}

impl LiveSessions {
    /// Returns an empty set. `own` is castellan's own hook and paths.
    pub(crate) fn new(own: Own) -> LiveSessions {
        LiveSessions { own, ..LiveSessions::default() }
    }

    /// Stores a hook's event. Returns an error if the limit is reached. A session with a running agent is never dropped
    /// for a new one, because its findings would be lost.
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
        // Its files are read while its first call waits, so that a change by this call is detected as a change.
        let live = Arc::new(Live::new(session, id, agent, process, self.own.clone()));
        self.lock().entry(session).or_insert(live);
        self.news.notify_all();
        Ok(())
    }

    /// Returns a monitored session.
    pub(crate) fn of(&self, session: &SessionKey) -> Option<Arc<Live>> {
        self.lock().get(session).map(Arc::clone)
    }

    /// Waits for the time of the next check and for a session. Returns all sessions.
    pub(crate) fn wait(&self) -> Vec<Arc<Live>> {
        let waited = self.news.wait_timeout_while(self.lock(), LOOK, |_| true);
        let (sessions, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let some = self.news.wait_while(sessions, |sessions| sessions.is_empty());
        some.unwrap_or_else(PoisonError::into_inner).values().map(Arc::clone).collect()
    }

    /// Returns the keys of all sessions.
    pub(crate) fn ids(&self) -> HashSet<SessionKey> {
        self.lock().keys().copied().collect()
    }

    /// Drops sessions whose agents have ended, after their last check.
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

    /// Adds the requesting process with its start settings. A difference from the previous process is a change.
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
        // The data of a running process is never dropped for another: any process can claim to belong to this session.
        if starts.len() >= STARTS_PER_SESSION_MAX {
            return;
        }
        starts.push_back(started);
    }

    /// Checks the settings of its agents again.
    pub(crate) fn look_at_settings(&self) -> Vec<Changed> {
        let mut all = Vec::new();
        for started in self.starts().iter_mut() {
            let changes = started.settings.look();
            let (is_managed, keeps_hooks) = (started.settings.is_managed(), started.keeps_hooks);
            all.extend(changes.into_iter().map(|change| Changed { change, is_managed, keeps_hooks }));
        }
        all
    }

    /// Returns a value from the settings of one of its agents; `None` if this agent was over the limit.
    pub(crate) fn with_settings<T>(
        &self,
        process: AgentProcess,
        ask: impl FnOnce(&HookSettings) -> T,
    ) -> Option<T> {
        let starts = self.starts();
        let started = starts.iter().find(|started| started.process == process)?;
        Some(ask(&started.settings))
    }

    /// Monitors a transcript from its present end.
    fn add_transcript(&self, path: &str) {
        let mut heard = self.lock();
        if heard.transcripts.len() >= TRANSCRIPTS_PER_SESSION_MAX {
            heard.has_more = true;
        } else if Path::new(path).is_absolute() {
            heard.transcripts.push(path.to_owned());
            heard.new.push(Tail::at_end(PathBuf::from(path)));
        }
    }

    /// Returns the transcripts that are not monitored yet.
    pub(crate) fn take_new(&self) -> Vec<Tail> {
        std::mem::take(&mut self.lock().new)
    }

    /// Reports whether it has more transcripts than the limit.
    pub(crate) fn has_more_transcripts(&self) -> bool {
        self.lock().has_more
    }

    /// Returns the folders with transcripts of its sub-agents.
    pub(crate) fn subagent_folders(&self) -> Vec<PathBuf> {
        let heard = self.lock();
        let folders = heard.transcripts.iter().filter_map(|path| agents::subagent_transcripts(self.id, path));
        folders.map(PathBuf::from).collect()
    }

    pub(crate) fn process(&self) -> AgentProcess {
        self.lock().process
    }

    /// Reports whether its agent is known to have ended.
    fn is_gone(&self) -> bool {
        let is_seen = self.process().pid != 0;
        self.is_over() || (is_seen && !self.runs())
    }

    fn is_over(&self) -> bool {
        let is_old = self.lock().at.elapsed() > LINGER;
        is_old && !self.runs()
    }

    /// Reports whether any of its agents still runs. The last one is not enough: any process can claim to be it.
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
        let is_rendered = |file: &str| own.has_rendered(id, file, process);
        let keeps_hooks =
            arguments.as_ref().is_some_and(|arguments| agents::keeps_hooks_on(id, arguments, is_rendered));
        let start = start_of(id, process.pid, PathBuf::from(cwd), arguments);
        Started { process, settings: HookSettings::new(id, start, own), keeps_hooks }
    }
}

/// Returns the start data of an agent's process.
pub(crate) fn start_of(id: AgentId, pid: u32, cwd: PathBuf, arguments: Option<Vec<Vec<u8>>>) -> AgentStart {
    let off_variable = set_variable(pid, agents::off_variables(id));
    AgentStart { dir: agent_directory(id, pid), cwd, arguments, off_variable }
}

/// Returns the directory of an agent's own files, from the process's environment.
pub(crate) fn agent_directory(id: AgentId, pid: u32) -> Option<PathBuf> {
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
