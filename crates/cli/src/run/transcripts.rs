//! [`Transcripts`]: finds the transcripts of a session and reads the usage in their new lines. Needed where the agent's
//! stream reports too little, or where there is no stream. It must not know how usage is summed.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{DirEntry, File};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use castellan_agents::{
    AgentId, StreamLine, StreamProblem, TranscriptPlace, UsageReport, transcript_places, transcript_usage,
    transcript_words,
};
use castellan_files::{Links, open_to_read};
use memchr::memmem::Finder;

use super::lines::{Line, Lines};
use crate::limits::{
    STREAM_CHUNK_BYTES, STREAM_LINE_BYTES_MAX, TRANSCRIPT_FILES_MAX, TRANSCRIPT_HEAD_BYTES_MAX,
};

/// A line of a transcript.
#[derive(Debug, PartialEq)]
pub(crate) struct Found {
    /// The session, or the file of another thread below it.
    pub(crate) thread: String,
    pub(crate) line: StreamLine,
    /// The line is older than the start of the agent.
    pub(crate) is_before: bool,
}

/// The transcripts of one start.
#[derive(Debug)]
pub(crate) struct Transcripts {
    agent: AgentId,
    /// The agent's own directory.
    dir: PathBuf,
    started: SystemTime,
    /// `started`, as transcripts write it.
    started_text: String,
    sessions: Vec<String>,
    tails: BTreeMap<PathBuf, Tail>,
    words: Vec<Finder<'static>>,
}

/// The part of a transcript that was read. `None`: the transcript belongs to another session.
#[derive(Debug)]
struct Tail {
    thread: Option<String>,
    offset: u64,
    /// The number of the file, once it was read.
    inode: Option<u64>,
    lines: Lines,
}

impl Transcripts {
    pub(crate) fn new(agent: AgentId, dir: PathBuf, started: SystemTime) -> anyhow::Result<Transcripts> {
        let started_text = jiff::Timestamp::try_from(started)?;
        let started_text = format!("{started_text:.3}");
        let words = transcript_words(agent).map(Finder::new).collect();
        let (sessions, tails) = (Vec::new(), BTreeMap::new());
        Ok(Transcripts { agent, dir, started, started_text, sessions, tails, words })
    }

    /// Adds a session of this start.
    pub(crate) fn add_session(&mut self, session: &str) {
        if !self.sessions.iter().any(|known| known == session) {
            self.sessions.push(session.to_owned());
            // A transcript of no known session may be one of this session.
            self.tails.retain(|_, tail| tail.thread.is_some());
        }
    }

    /// Returns the new lines with usage or calls.
    pub(crate) fn read(&mut self) -> Result<Vec<Found>, StreamProblem> {
        if self.sessions.is_empty() {
            return Ok(Vec::new());
        }
        let mut budget = TRANSCRIPT_FILES_MAX;
        for place in transcript_places(self.agent) {
            self.find(&self.dir.join(place.folder), place, place.levels, &mut budget)?;
        }
        let mut found = Vec::new();
        for (file, tail) in &mut self.tails {
            if let Some(thread) = tail.thread.clone() {
                tail.read((self.agent, &self.words), file, &thread, &self.started_text, &mut found)?;
            }
        }
        Ok(found)
    }

    /// Adds new transcripts below `dir`. Too many files are an error: the agent could hide its transcript among them.
    fn find(
        &mut self,
        dir: &Path,
        place: &TranscriptPlace,
        levels: usize,
        budget: &mut usize,
    ) -> Result<(), StreamProblem> {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            *budget = budget.checked_sub(1).ok_or(StreamProblem::Usage("there are too many transcripts"))?;
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let is_parent = levels == 2 && place.names_parent;
            if levels > 0 && is_dir && (!is_parent || self.is_session(&entry.file_name())) {
                self.find(&entry.path(), place, levels - 1, budget)?;
            } else if levels == 0 && !is_dir {
                self.add(&entry, place);
            }
        }
        Ok(())
    }

    fn is_session(&self, name: &OsStr) -> bool {
        self.sessions.iter().any(|session| name == session.as_str())
    }

    fn add(&mut self, entry: &DirEntry, place: &TranscriptPlace) {
        let (file, name) = (entry.path(), entry.file_name());
        let Some(name) = name.to_str().and_then(|name| name.strip_suffix(".jsonl")) else { return };
        if self.tails.contains_key(&file) {
            return;
        }
        let named = self.sessions.iter().find(|session| name.ends_with(session.as_str()));
        let is_new = entry.metadata().and_then(|meta| meta.modified()).is_ok_and(|time| time >= self.started);
        let thread = match named {
            Some(session) => Some(session.clone()),
            None if !is_new => return,
            None if place.names_parent => Some(name.to_owned()),
            None => match self.is_below(&file) {
                // Its first line is not written yet.
                None => return,
                Some(is_below) => is_below.then(|| name.to_owned()),
            },
        };
        let tail = Tail { thread, offset: 0, inode: None, lines: Lines::new(STREAM_LINE_BYTES_MAX) };
        self.tails.insert(file, tail);
    }

    /// Reports whether a transcript of another thread names one of the sessions in its first line; `None` if that line is
    /// not whole.
    fn is_below(&self, file: &Path) -> Option<bool> {
        let mut head = Vec::new();
        let opened = open_to_read(file, Links::Refused).ok()?;
        opened.take(TRANSCRIPT_HEAD_BYTES_MAX).read_to_end(&mut head).ok()?;
        let is_cut = head.len() as u64 == TRANSCRIPT_HEAD_BYTES_MAX;
        let end = memchr::memchr(b'\n', &head).or(is_cut.then_some(head.len()))?;
        let first = head.get(..end).unwrap_or_default();
        let names = |session: &String| memchr::memmem::find(first, session.as_bytes()).is_some();
        Some(self.sessions.iter().any(names))
    }
}

impl Tail {
    /// Adds the lines since the last call. A transcript that was read before must stay in its place and only grow: the
    /// agent's own processes can move, cut or replace the file.
    fn read(
        &mut self,
        (agent, words): (AgentId, &[Finder<'_>]),
        file: &Path,
        thread: &str,
        started: &str,
        found: &mut Vec<Found>,
    ) -> Result<(), StreamProblem> {
        let is_first = self.inode.is_none();
        let mut outcome = Ok(());
        let mut open = self.open(file)?;
        let mut chunk = vec![0; STREAM_CHUNK_BYTES];
        while let Ok(count @ 1..) = open.read(&mut chunk) {
            self.offset += count as u64;
            self.lines.feed(chunk.get(..count).unwrap_or_default(), |line| {
                let Line::Whole(line) = line else {
                    outcome = Err(StreamProblem::Usage("a line of a transcript is too long"));
                    return;
                };
                if !words.iter().any(|word| word.find(line).is_some()) {
                    return;
                }
                match transcript_usage(agent, line) {
                    Ok(read) => {
                        let is_old = !read.time.is_empty() && read.time.as_str() < started;
                        let is_before = is_old && (is_first || !is_of_thread(&read));
                        if !read.usage.is_empty() || !read.calls.is_empty() {
                            found.push(Found { thread: thread.to_owned(), line: read, is_before });
                        }
                    }
                    Err(problem) => outcome = Err(problem),
                }
            });
        }
        outcome
    }

    fn open(&mut self, file: &Path) -> Result<File, StreamProblem> {
        let unreadable = |_| StreamProblem::Usage("a transcript cannot be opened");
        let mut open = open_to_read(file, Links::Refused).map_err(unreadable)?;
        let meta = open.metadata().map_err(unreadable)?;
        let is_same = self.inode.is_none_or(|inode| inode == meta.ino());
        if !is_same || meta.len() < self.offset {
            return Err(StreamProblem::Usage("a transcript was replaced or cut"));
        }
        self.inode = Some(meta.ino());
        open.seek(SeekFrom::Start(self.offset)).map_err(unreadable)?;
        Ok(open)
    }
}

/// Reports whether a line has the usage of a whole thread. Such a line of an earlier start is in the file at the first
/// look. Later, the agent's own processes could add one to hide what is spent.
fn is_of_thread(line: &StreamLine) -> bool {
    line.usage.iter().any(|report| matches!(report, UsageReport::Thread(_)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn write(dir: &Path, file: &str, text: &str) {
        let file = dir.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    fn claude(id: &str, time: &str) -> String {
        let usage = r#""usage":{"input_tokens":1,"output_tokens":1}"#;
        format!(r#"{{"type":"assistant","timestamp":"{time}","message":{{"id":"{id}",{usage}}}}}"#) + "\n"
    }

    fn codex(tokens: u64, time: &str) -> String {
        let usage = format!(r#""total_token_usage":{{"input_tokens":{tokens},"output_tokens":0}}"#);
        let payload = format!(r#"{{"type":"token_count","info":{{{usage}}}}}"#);
        format!(r#"{{"timestamp":"{time}","type":"event_msg","payload":{payload}}}"#) + "\n"
    }

    const OLD: &str = "2020-01-01T00:00:00.000Z";
    const NEW: &str = "2099-01-01T00:00:00.000Z";

    fn reader(agent: AgentId, dir: &Path) -> Transcripts {
        let started = SystemTime::now() - Duration::from_secs(60);
        Transcripts::new(agent, dir.to_owned(), started).unwrap()
    }

    fn read(from: &mut Transcripts) -> Vec<(String, bool)> {
        from.read().unwrap().into_iter().map(|found| (found.thread, found.is_before)).collect()
    }

    #[test]
    fn claudes_transcripts_are_those_of_the_session_and_its_subagents() {
        let dir = tempfile::tempdir().unwrap();
        let mut reader = reader(AgentId::CLAUDE, dir.path());
        write(dir.path(), "projects/p/s-1.jsonl", &claude("a", OLD));
        write(dir.path(), "projects/p/s-2.jsonl", &claude("b", NEW));
        write(dir.path(), "projects/p/s-2/subagents/agent-x.jsonl", &claude("b", NEW));
        write(dir.path(), "projects/p/s-1/subagents/agent-y.jsonl", &claude("c", NEW));
        write(dir.path(), "projects/p/s-1/notes.txt", &claude("d", NEW));
        assert_eq!(read(&mut reader), []);
        reader.add_session("s-1");
        assert_eq!(read(&mut reader), [("agent-y".to_owned(), false), ("s-1".to_owned(), true)]);
        assert_eq!(read(&mut reader), []);
        // A line that is not whole yet waits for its end.
        let (begin, end) = (claude("e", NEW), claude("f", NEW));
        let half = begin.len() / 2;
        write(
            dir.path(),
            "projects/p/s-1.jsonl",
            &format!("{}{}", claude("a", OLD), begin.get(..half).unwrap()),
        );
        assert_eq!(read(&mut reader), []);
        write(dir.path(), "projects/p/s-1.jsonl", &format!("{}{begin}{end}", claude("a", OLD)));
        assert_eq!(read(&mut reader).len(), 2);
        write(dir.path(), "projects/q/s-1.jsonl", "{\"usage\": \n");
        assert!(reader.read().is_err());
    }

    #[test]
    fn codexs_transcripts_are_those_of_the_thread_and_the_threads_below_it() {
        let dir = tempfile::tempdir().unwrap();
        let mut reader = reader(AgentId::CODEX, dir.path());
        let day = |name: &str| format!("sessions/2026/11/29/rollout-x-{name}.jsonl");
        write(dir.path(), &day("t-1"), &(codex(5, OLD) + &codex(9, NEW)));
        write(dir.path(), &day("t-2"), &format!("{{\"parent\":\"t-1\"}}\n{}", codex(3, NEW)));
        write(dir.path(), &day("t-3"), &format!("{{\"parent\":\"t-0\"}}\n{}", codex(3, NEW)));
        reader.add_session("t-1");
        let expected =
            [("t-1".to_owned(), true), ("t-1".to_owned(), false), ("rollout-x-t-2".to_owned(), false)];
        assert_eq!(read(&mut reader), expected);
    }

    #[test]
    fn a_transcript_that_moves_shrinks_or_becomes_a_link_is_an_error() {
        let file = "projects/p/s-1.jsonl";
        let check = |change: &dyn Fn(&Path), expected: &str| {
            let dir = tempfile::tempdir().unwrap();
            let mut reader = reader(AgentId::CLAUDE, dir.path());
            write(dir.path(), file, &claude("a", NEW));
            reader.add_session("s-1");
            assert_eq!(read(&mut reader).len(), 1);
            change(dir.path());
            let error = reader.read().unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check(&|dir| std::fs::rename(dir.join(file), dir.join("away")).unwrap(), "cannot be opened");
        check(&|dir| write(dir, file, ""), "replaced or cut");
        let replace = |dir: &Path| {
            write(dir, "new", &[claude("b", NEW), claude("c", NEW)].concat());
            std::fs::rename(dir.join("new"), dir.join(file)).unwrap();
        };
        check(&replace, "replaced or cut");
        let link = |dir: &Path| {
            std::fs::rename(dir.join(file), dir.join("away")).unwrap();
            std::os::unix::fs::symlink(dir.join("away"), dir.join(file)).unwrap();
        };
        check(&link, "cannot be opened");
    }

    /// Subtracted as usage of earlier starts, such a line would hide all tokens of a thread.
    #[test]
    fn an_old_sum_that_appears_later_hides_no_tokens() {
        let dir = tempfile::tempdir().unwrap();
        let mut reader = reader(AgentId::CODEX, dir.path());
        let file = "sessions/2026/11/29/rollout-x-t-1.jsonl";
        write(dir.path(), file, &codex(5, OLD));
        reader.add_session("t-1");
        assert_eq!(read(&mut reader), [("t-1".to_owned(), true)]);
        write(dir.path(), file, &(codex(5, OLD) + &codex(999_999, OLD)));
        assert_eq!(read(&mut reader), [("t-1".to_owned(), false)]);
    }

    #[test]
    fn a_thread_below_is_found_when_its_first_line_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let mut reader = reader(AgentId::CODEX, dir.path());
        let file = "sessions/2026/11/29/rollout-x-t-2.jsonl";
        reader.add_session("t-1");
        for head in ["", "{\"parent\":"] {
            write(dir.path(), file, head);
            assert_eq!(read(&mut reader), []);
        }
        write(dir.path(), file, &format!("{{\"parent\":\"t-1\"}}\n{}", codex(3, NEW)));
        assert_eq!(read(&mut reader), [("rollout-x-t-2".to_owned(), false)]);
    }

    #[test]
    fn more_files_than_are_searched_are_an_error() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "projects/p/s-1.jsonl", "");
        let mut reader = reader(AgentId::CLAUDE, dir.path());
        let place = transcript_places(AgentId::CLAUDE).first().unwrap();
        for (budget, is_enough) in [(2, true), (1, false)] {
            let mut budget = budget;
            let found = reader.find(&dir.path().join(place.folder), place, place.levels, &mut budget);
            assert_eq!(found.is_ok(), is_enough, "{budget}");
        }
    }
}
