//! [`Monitor`]: monitors the transcripts and settings of running agents, a few times a second and never while a call
//! waits for it. Compares them with castellan's decisions. A finding never loosens anything.

use std::collections::{HashMap, HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use castellan_agents::{TranscriptCall, TranscriptEntry, transcript_line};

use crate::judge::Judge;
use crate::limits::{BEGUN_CALLS_MAX, TRANSCRIPT_FOLDER_MAX, TRANSCRIPTS_PER_SESSION_MAX};
use crate::live::{Live, Tail, is_absent};
use crate::session_key::SessionKey;
use crate::sight;

/// The monitor.
#[derive(Debug)]
pub(crate) struct Monitor {
    judge: Arc<Judge>,
    sessions: HashMap<SessionKey, Transcripts>,
}

/// Transcripts of a session.
#[derive(Debug, Default)]
struct Transcripts {
    all: Vec<Transcript>,
    /// True if it is already reported that further transcripts are not read.
    reported: bool,
}

/// A transcript that is read while it grows.
#[derive(Debug)]
struct Transcript {
    tail: Tail,
    /// The sub-agent that writes it; empty for the main agent.
    subagent: String,
    /// Calls that have begun and not ended.
    begun: VecDeque<TranscriptCall>,
    /// True if it is already reported that a line cannot be read.
    reported: bool,
    /// True if it is already reported that a call was dropped before its end.
    is_cut: bool,
}

impl Monitor {
    pub(crate) fn new(judge: Arc<Judge>) -> Monitor {
        Monitor { judge, sessions: HashMap::new() }
    }

    /// Monitors as long as the daemon runs.
    pub(crate) fn run(mut self) {
        loop {
            let live = self.judge.live().wait();
            // Without the reader, files would seem to be missing. Calls are denied meanwhile.
            if sight::check().is_err() {
                continue;
            }
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
        let new = live.take_new().into_iter().map(|tail| Transcript::new(tail, String::new()));
        transcripts.all.extend(new);
        let known: HashSet<PathBuf> = transcripts.all.iter().map(|one| one.tail.path().to_owned()).collect();
        let mut is_cut = live.has_more_transcripts();
        for folder in live.subagent_folders() {
            let (found, is_more) = subagents(&folder);
            is_cut |= is_more;
            for (path, subagent) in found.into_iter().filter(|(path, _)| !known.contains(path)) {
                if transcripts.all.len() < TRANSCRIPTS_PER_SESSION_MAX {
                    transcripts.all.push(Transcript::new(Tail::at_start(path), subagent));
                } else {
                    is_cut = true;
                }
            }
        }
        if is_cut && !std::mem::replace(&mut transcripts.reported, true) {
            let what = "a session has more transcripts than are looked at: calls of others may be missing";
            self.judge.fail("transcript", &format!("{what}: session `{}`", live.agent.session_id));
        }
        for transcript in &mut transcripts.all {
            transcript.look(live, &self.judge);
        }
    }
}

impl Transcript {
    fn new(tail: Tail, subagent: String) -> Transcript {
        Transcript { tail, subagent, begun: VecDeque::new(), reported: false, is_cut: false }
    }

    fn look(&mut self, live: &Live, judge: &Judge) {
        let look = self.tail.look();
        if let Some(trouble) = look.trouble {
            self.record_trouble(judge, &trouble);
        }
        for line in &look.lines {
            match transcript_line(live.id, line) {
                // The textual order of this format is the order of time.
                Ok(line) if !line.time.is_empty() && line.time < live.since => {}
                Ok(line) => line.entries.into_iter().for_each(|entry| self.entry(entry, live, judge)),
                Err(why) if !std::mem::replace(&mut self.reported, true) => {
                    self.record_trouble(judge, &format!("a line is {why}"))
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
                    if !std::mem::replace(&mut self.is_cut, true) {
                        self.record_trouble(judge, &format!("more than {BEGUN_CALLS_MAX} calls have begun"));
                    }
                }
                self.begun.push_back(call);
            }
            TranscriptEntry::Ended { id, ran } => {
                let at = self.begun.iter().position(|call| call.id == id);
                let call = at.and_then(|at| self.begun.remove(at));
                judge.transcribed_over(live.session, &id, ran);
                if let Some(call) = call.filter(|_| ran) {
                    judge.transcribed(live, &self.subagent, &call, self.tail.path());
                }
            }
            TranscriptEntry::Ran(call) => judge.transcribed(live, &self.subagent, &call, self.tail.path()),
        }
    }

    /// Records trouble with the transcript: an unreadable part may hide a call.
    fn record_trouble(&self, judge: &Judge, what: &str) {
        let path = self.tail.path().display();
        judge.fail("transcript", &format!("calls may be missing from what was looked at: `{path}`: {what}"));
    }
}

/// Returns the transcripts of sub-agents in a folder, each with the sub-agent's id, and whether there may be more.
/// Files with other names do not count towards the limit.
fn subagents(folder: &Path) -> (Vec<(PathBuf, String)>, bool) {
    let mut entries = match sight::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return (Vec::new(), !is_absent(&error)),
    };
    let mut found = Vec::new();
    for entry in entries.by_ref().take(TRANSCRIPT_FOLDER_MAX) {
        let Ok(entry) = entry else { return (found, true) };
        // Agents give them ASCII names.
        let id = entry.name.to_str().and_then(|name| name.strip_prefix("agent-")?.strip_suffix(".jsonl"));
        let id = id.map(str::to_owned);
        found.extend(id.map(|id| (entry.path, id)));
    }
    (found, entries.next().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_file_takes_the_place_of_a_transcript() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str| std::fs::write(dir.path().join(name), "").unwrap();
        for number in 0..2 * TRANSCRIPTS_PER_SESSION_MAX {
            write(&format!("junk-{number}"));
        }
        write("agent-a1.jsonl");
        let (found, is_more) = subagents(dir.path());
        let expected = vec![(dir.path().join("agent-a1.jsonl"), "a1".to_owned())];
        assert_eq!((found, is_more), (expected, false));
        for number in 0..TRANSCRIPT_FOLDER_MAX {
            write(&format!("more-{number}"));
        }
        assert!(subagents(dir.path()).1);
        assert_eq!(subagents(&dir.path().join("not there yet")), (Vec::new(), false));
    }
}
