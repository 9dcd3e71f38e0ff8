//! Reads records back, filtered and merged over both streams by number. Takes no lock: a daemon may write meanwhile.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::SystemTime;

use crate::error::AuditError;
use crate::limits::{ANSWER_BYTES, ANSWER_SEGMENTS, LISTING_ATTEMPTS};
use crate::line;
use crate::record::{CallRecord, ControlRecord, Record, Stream};
use crate::segment::{self, Lines, closed_numbers, closed_path, file_name, live_path};

/// An error in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Name of the file in the log's directory.
    pub file: String,
    /// Line, from 1; 0 for the file as a whole.
    pub line: u64,
    /// Description of the error.
    pub what: String,
}

/// A record, read back.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Number over both streams.
    pub seq: u64,
    /// Time of writing.
    pub time: SystemTime,
    /// The record's stream.
    pub stream: Stream,
    /// The parsed record.
    pub record: Record,
    /// The line as it is in the file, without its newline: JSON.
    pub line: String,
}

/// A selection of entries. Each condition that is set must hold; a record without the property does not match. Texts
/// match in any letter case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// The verdict of a call (`deny`).
    pub verdict: Option<String>,
    /// The agent (`claude_code`).
    pub agent: Option<String>,
    /// The session's id.
    pub session: Option<String>,
    /// Part of the name of a rule that made a finding.
    pub rule: Option<String>,
    /// The tool, by its canonical or the agent's name.
    pub tool: Option<String>,
    /// The request of a call (`K7`).
    pub request: Option<String>,
    /// Not before this time.
    pub since: Option<SystemTime>,
    /// Before this time.
    pub until: Option<SystemTime>,
    /// Excludes the events in which an agent only reports its progress ([`crate::SessionRecord::is_event`]).
    pub without_events: bool,
    /// Only the last matches, at most this many.
    pub limit: Option<usize>,
}

/// Result of [`read`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reading {
    /// The matching entries, by number.
    pub entries: Vec<Entry>,
    /// Lines that could not be parsed. [`crate::verify()`] reports whether they were changed.
    pub unreadable: Vec<Broken>,
}

/// Reads the matching entries. With a limit, it reads only as many of the newest segments as it needs; with a verdict,
/// only the streams that can have it.
pub fn read(dir: &Path, filter: &Filter) -> Result<Reading, AuditError> {
    let mut reading = Reading::default();
    for stream in Stream::ALL.into_iter().filter(|stream| filter.may_be_in(*stream)) {
        read_stream(dir, stream, filter, &mut reading)?;
    }
    reading.entries.sort_by_key(|entry| entry.seq);
    let surplus = reading.entries.len().saturating_sub(filter.limit.unwrap_or(usize::MAX));
    reading.entries.drain(..surplus);
    Ok(reading)
}

/// Returns the hash of files ([`crate::ControlRecord::files`]) in the last control record that has one, else `None`.
pub fn last_files(dir: &Path) -> Result<Option<String>, AuditError> {
    let last = last_control(dir, |control| !control.files.is_empty())?;
    Ok(last.map(|control| control.files.into()))
}

/// Returns the last control record that `is_wanted` accepts.
pub fn last_control(
    dir: &Path,
    is_wanted: impl Fn(&ControlRecord) -> bool,
) -> Result<Option<ControlRecord>, AuditError> {
    for (name, file) in open_all(dir, Stream::Notable)?.into_iter().rev() {
        let mut last = None;
        let mut lines = Lines::new(file);
        loop {
            let line = match lines.next_line() {
                Ok(Some(line)) => line,
                Ok(None) => break,
                // Longer than any record, so the next piece of the line is no record either.
                Err(error) if error.kind() == io::ErrorKind::InvalidData => continue,
                Err(error) => return Err(AuditError::io("read", &dir.join(&name))(error)),
            };
            if line::is_of_type(line, "control")
                && let Ok(Some((_, _, Record::Control(control)))) = line::parse(line)
                && is_wanted(&control)
            {
                last = Some(control);
            }
        }
        if last.is_some() {
            return Ok(last);
        }
    }
    Ok(None)
}

/// Visits the calls since a time, with the number and time of each, in no order. Reads only the newest `bytes` of each stream.
/// Returns false if these may not have all calls since then.
pub fn calls_since(
    dir: &Path,
    since: SystemTime,
    bytes: u64,
    mut visit: impl FnMut(u64, SystemTime, &CallRecord),
) -> Result<bool, AuditError> {
    let mut is_whole = true;
    for stream in Stream::ALL {
        let mut left = bytes;
        for (name, file) in open_all(dir, stream)?.into_iter().rev() {
            let size = file.metadata().map_err(AuditError::io("read", &dir.join(&name)))?.size();
            let mut is_older = false;
            let visited = calls_at_end(file, size.min(left), |seq, time, call| match time >= since {
                true => visit(seq, time, call),
                false => is_older = true,
            });
            visited.map_err(AuditError::io("read", &dir.join(&name)))?;
            if is_older {
                break;
            }
            if size > left {
                is_whole = false;
                break;
            }
            left = left.saturating_sub(size);
        }
    }
    Ok(is_whole)
}

/// Visits the calls in the last `bytes` of a segment.
fn calls_at_end(
    file: File,
    bytes: u64,
    mut visit: impl FnMut(u64, SystemTime, &CallRecord),
) -> io::Result<()> {
    let size = file.metadata()?.size();
    let mut lines = Lines::new(file);
    // This offset is most likely inside a line; the rest of that line is no record.
    lines.skip_to(size.saturating_sub(bytes))?;
    loop {
        let line = match lines.next_line() {
            Ok(Some(line)) => line,
            Ok(None) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => continue,
            Err(error) => return Err(error),
        };
        if line::is_of_type(line, "call")
            && let Ok(Some((seq, time, Record::Call(call)))) = line::parse(line)
        {
            visit(seq, time, &call);
        }
    }
}

/// Returns the answer to a session's call with the agent's id `use_id`, if the last records contain it.
pub fn answer_to(dir: &Path, agent: &str, session: &str, use_id: &str) -> Result<Option<String>, AuditError> {
    for stream in Stream::ALL {
        for (name, file) in open_all(dir, stream)?.into_iter().rev().take(ANSWER_SEGMENTS) {
            let is_meant = |call: &CallRecord| {
                call.agent == agent && call.session_id == session && call.use_id == use_id
            };
            let answer = answer_in(file, is_meant).map_err(AuditError::io("read", &dir.join(&name)))?;
            if answer.is_some() {
                return Ok(answer);
            }
        }
    }
    Ok(None)
}

/// Returns the last answer in a segment to a call that `is_meant` accepts.
fn answer_in(file: File, is_meant: impl Fn(&CallRecord) -> bool) -> io::Result<Option<String>> {
    let mut answer = None;
    calls_at_end(file, ANSWER_BYTES, |_, _, call| {
        if is_meant(call) {
            answer = Some(call.answer.as_str().to_owned());
        }
    })?;
    Ok(answer)
}

/// Reads from the newest segment backwards until the limit is reached.
fn read_stream(dir: &Path, stream: Stream, filter: &Filter, reading: &mut Reading) -> Result<(), AuditError> {
    let mut wanted = filter.limit.unwrap_or(usize::MAX);
    for (name, file) in open_all(dir, stream)?.into_iter().rev() {
        if wanted == 0 {
            break;
        }
        let mut found = VecDeque::new();
        let mut lines = Lines::new(file);
        let mut number: u64 = 0;
        while let Some(line) = lines.next_line().map_err(AuditError::io("read", &dir.join(&name)))? {
            number = number.saturating_add(1);
            match entry(line, stream) {
                Ok(Some(entry)) if filter.matches(&entry) => {
                    if found.len() >= wanted {
                        found.pop_front();
                    }
                    found.push_back(entry);
                }
                Ok(_) => {}
                Err(what) => reading.unreadable.push(Broken { file: name.clone(), line: number, what }),
            }
        }
        wanted = wanted.saturating_sub(found.len());
        reading.entries.extend(found);
    }
    Ok(())
}

/// Parses a line. Returns `None` for an anchor.
pub(crate) fn entry(line: &[u8], stream: Stream) -> Result<Option<Entry>, String> {
    let parsed = line::parse(line)?;
    let text = || String::from_utf8_lossy(line).into_owned();
    Ok(parsed.map(|(seq, time, record)| Entry { seq, time, stream, record, line: text() }))
}

/// Opens all segments of a stream, oldest first, with the names from the listing. Starts again when a segment was
/// rotated or deleted between listing and opening.
pub(crate) fn open_all(dir: &Path, stream: Stream) -> Result<Vec<(String, File)>, AuditError> {
    let mut result = try_open_all(dir, stream);
    for _ in 1..LISTING_ATTEMPTS {
        if let Ok(Some(files)) = result {
            return Ok(files);
        }
        result = try_open_all(dir, stream);
    }
    let path = live_path(dir, stream);
    result?.ok_or_else(|| AuditError::io("open", &path)(io::ErrorKind::ResourceBusy.into()))
}

fn try_open_all(dir: &Path, stream: Stream) -> Result<Option<Vec<(String, File)>>, AuditError> {
    // The live segment first: if it is closed meanwhile, the listing has the same file under another name.
    let live_path = live_path(dir, stream);
    let live = match segment::open(&live_path) {
        Ok(file) => Some((file_name(&live_path), file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(AuditError::io("open", &live_path)(error)),
    };
    let numbers = closed_numbers(dir, stream)?;
    let mut files = Vec::new();
    for number in &numbers {
        let path = closed_path(dir, stream, *number);
        match segment::open(&path) {
            Ok(file) => files.push((file_name(&path), file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(AuditError::io("open", &path)(error)),
        }
    }
    let identity = |file: &File| file.metadata().ok().map(|meta| (meta.dev(), meta.ino()));
    let listed = |live: &File| files.iter().any(|(_, file)| identity(file) == identity(live));
    let deleted = |live: &File| live.metadata().is_ok_and(|meta| meta.nlink() == 0);
    let live = live.filter(|(_, file)| !listed(file) && !deleted(file));
    files.extend(live);
    Ok((closed_numbers(dir, stream)? == numbers).then_some(files))
}

impl Filter {
    /// Reports whether a stream can have a matching record.
    fn may_be_in(&self, stream: Stream) -> bool {
        let verdict = self.verdict.as_deref().map(|verdict| {
            Record::Call(CallRecord { verdict: verdict.to_lowercase().into(), ..CallRecord::default() })
        });
        stream == Stream::Notable || verdict.is_none_or(|call| call.stream() == stream)
    }

    /// Reports whether an entry matches; ignores the limit.
    pub fn matches(&self, entry: &Entry) -> bool {
        let view = View::of(&entry.record);
        let call = view.call;
        let equal = |wanted: &Option<String>, value: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted.to_lowercase() == value.to_lowercase())
        };
        let tool = equal(&self.tool, view.tool) || call.is_some_and(|call| equal(&self.tool, &call.tool_raw));
        self.since.is_none_or(|since| entry.time >= since)
            && self.until.is_none_or(|until| entry.time < until)
            && equal(&self.verdict, call.map_or("", |call| &call.verdict))
            && equal(&self.request, call.map_or("", |call| &call.request))
            && equal(&self.agent, view.agent)
            && equal(&self.session, view.session)
            && tool
            && !(self.without_events && is_event(&entry.record))
            && self.rule.as_deref().is_none_or(|rule| call.is_some_and(|call| names_rule(call, rule)))
    }
}

fn is_event(record: &Record) -> bool {
    matches!(record, Record::Session(session) if session.is_event())
}

fn names_rule(call: &CallRecord, part: &str) -> bool {
    let part = part.to_lowercase();
    call.findings.iter().any(|finding| finding.rule.to_lowercase().contains(&part))
}

/// Properties that several kinds of record share; empty if a kind has none.
#[derive(Default)]
struct View<'a> {
    call: Option<&'a CallRecord>,
    agent: &'a str,
    session: &'a str,
    tool: &'a str,
}

impl View<'_> {
    fn of(record: &Record) -> View<'_> {
        match record {
            Record::Call(call) => {
                View { call: Some(call), agent: &call.agent, session: &call.session_id, tool: &call.tool }
            }
            Record::Session(notice) => {
                View { call: None, agent: &notice.agent, session: &notice.session_id, tool: &notice.tool }
            }
            Record::Failure(failure) => View { agent: &failure.agent, ..View::default() },
            Record::Ungoverned(call) => {
                View { call: None, agent: &call.agent, session: &call.session_id, tool: &call.tool }
            }
            Record::Gap(gap) => View { agent: &gap.agent, ..View::default() },
            Record::Control(_) | Record::Retention(_) | Record::Recovery(_) => View::default(),
        }
    }
}
