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
mod tests;
