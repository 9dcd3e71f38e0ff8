//! [`Lookout`]: looks at the transcripts and settings of the agents that run, a few times a second and never while a call waits for
//! it. What is found there is held against what was decided. Nothing that is found loosens anything.

mod live;
mod processes;
mod settings;
mod sources;
mod tail;
mod watched;

use std::collections::{HashMap, HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use castellan_agents::{TranscriptCall, TranscriptEntry, transcript_line};

use crate::judge::Judge;
use crate::limits::{BEGUN_CALLS_MAX, TRANSCRIPTS_PER_SESSION_MAX};
use crate::memory::SessionKey;

pub(crate) use live::{Changed, Live, LiveSessions};
pub(crate) use processes::unguarded;
pub use settings::{AgentStart, HookSettings};
pub(crate) use settings::{Own, SettingsChange};
use tail::Tail;

/// What looks.
#[derive(Debug)]
pub(crate) struct Lookout {
    judge: Arc<Judge>,
    sessions: HashMap<SessionKey, Vec<Transcript>>,
}

/// A transcript that is read while it grows.
#[derive(Debug)]
struct Transcript {
    tail: Tail,
    /// The sub-agent whose it is; empty for the main agent.
    subagent: String,
    /// Calls that have begun and are not over.
    begun: VecDeque<TranscriptCall>,
    /// That a line of it cannot be read was told.
    told: bool,
}

impl Lookout {
    pub(crate) fn new(judge: Arc<Judge>) -> Lookout {
        Lookout { judge, sessions: HashMap::new() }
    }

    /// Looks, for as long as the daemon runs.
    pub(crate) fn run(mut self) {
        loop {
            let live = self.judge.live().wait();
            self.sessions.retain(|session, _| live.iter().any(|live| live.session == *session));
            for live in &live {
                if catch_unwind(AssertUnwindSafe(|| self.look(live))).is_err() {
                    self.sessions.remove(&live.session);
                    self.judge.fail("panic", "a panic while an agent's transcript was looked at");
                }
            }
            self.judge.live().forget_ended();
        }
    }

    fn look(&mut self, live: &Live) {
        self.judge.look_at_settings(live);
        let transcripts = self.sessions.entry(live.session).or_default();
        transcripts.extend(live.take_new().into_iter().map(|tail| Transcript::new(tail, String::new())));
        let known: HashSet<PathBuf> = transcripts.iter().map(|one| one.tail.path().to_owned()).collect();
        for (path, subagent) in live.subagent_folders().iter().flat_map(|folder| subagents(folder)) {
            if transcripts.len() < TRANSCRIPTS_PER_SESSION_MAX && !known.contains(&path) {
                transcripts.push(Transcript::new(Tail::at_start(path), subagent));
            }
        }
        for transcript in transcripts {
            transcript.look(live, &self.judge);
        }
    }
}

impl Transcript {
    fn new(tail: Tail, subagent: String) -> Transcript {
        Transcript { tail, subagent, begun: VecDeque::new(), told: false }
    }

    fn look(&mut self, live: &Live, judge: &Judge) {
        let look = self.tail.look();
        if let Some(trouble) = look.trouble {
            self.tell(judge, &trouble);
        }
        for line in &look.lines {
            match transcript_line(live.id, line) {
                // Texts of this form are in the order of their times.
                Ok(line) if !line.time.is_empty() && line.time < live.since => {}
                Ok(line) => line.entries.into_iter().for_each(|entry| self.entry(entry, live, judge)),
                Err(why) if !std::mem::replace(&mut self.told, true) => {
                    self.tell(judge, &format!("a line is {why}"))
                }
                Err(_) => {}
            }
        }
    }

    fn entry(&mut self, entry: TranscriptEntry, live: &Live, judge: &Judge) {
        match entry {
            TranscriptEntry::Begun(call) => {
                if self.begun.len() >= BEGUN_CALLS_MAX {
                    self.begun.pop_front();
                }
                self.begun.push_back(call);
            }
            TranscriptEntry::Ended { id, ran } => {
                let at = self.begun.iter().position(|call| call.id == id);
                let call = at.and_then(|at| self.begun.remove(at));
                if let Some(call) = call.filter(|_| ran) {
                    judge.transcribed(live, &self.subagent, &call, self.tail.path());
                }
            }
            TranscriptEntry::Ran(call) => judge.transcribed(live, &self.subagent, &call, self.tail.path()),
        }
    }

    /// What cannot be read may hide a call.
    fn tell(&self, judge: &Judge, what: &str) {
        let path = self.tail.path().display();
        judge.fail("transcript", &format!("calls may be missing from what was looked at: `{path}`: {what}"));
    }
}

/// Transcripts of sub-agents in a folder, each with the sub-agent's id.
fn subagents(folder: &Path) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(TRANSCRIPTS_PER_SESSION_MAX);
    let named = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let id = name.strip_prefix("agent-")?.strip_suffix(".jsonl")?.to_owned();
        Some((entry.path(), id))
    });
    named.collect()
}
