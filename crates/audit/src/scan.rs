//! [`scan`]: visits both streams of the whole log together, one entry at a time, because a log can be larger than
//! memory. Takes no lock: a daemon may write meanwhile.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::path::Path;

use crate::error::AuditError;
use crate::read::Broken;
use crate::read::{Entry, entry, open_all};
use crate::record::Stream;
use crate::segment::Lines;

/// An item that [`scan`] visits.
#[derive(Debug)]
pub enum Scanned {
    /// An entry.
    Entry(Box<Entry>),
    /// A line that could not be parsed. [`crate::verify()`] reports whether it was changed.
    Unreadable(Broken),
}

/// Visits every line of the log except anchors; entries in the order of their numbers. An unreadable line is visited
/// before the entry that follows it in its stream. Ends with the error of `visit` or of reading.
pub fn scan<E: From<AuditError>>(
    dir: &Path,
    mut visit: impl FnMut(Scanned) -> Result<(), E>,
) -> Result<(), E> {
    let [mut one, mut other] = [Entries::open(dir, Stream::Routine)?, Entries::open(dir, Stream::Notable)?];
    let (mut first, mut second) = (one.next(dir, &mut visit)?, other.next(dir, &mut visit)?);
    loop {
        let is_first = match (&first, &second) {
            (None, None) => return Ok(()),
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (Some(first), Some(second)) => first.seq <= second.seq,
        };
        let (entries, next) = if is_first { (&mut one, &mut first) } else { (&mut other, &mut second) };
        let following = entries.next(dir, &mut visit)?;
        if let Some(entry) = std::mem::replace(next, following) {
            visit(Scanned::Entry(entry))?;
        }
    }
}

/// The entries of one stream.
struct Entries {
    stream: Stream,
    /// Segments after the current one.
    segments: VecDeque<(String, File)>,
    /// The current segment.
    current: Option<Segment>,
}

/// A segment that is being read.
struct Segment {
    name: String,
    lines: Lines,
    /// Number of lines read.
    number: u64,
    /// The next piece is the rest of a line that was too long and is already reported.
    is_rest: bool,
}

impl Entries {
    fn open(dir: &Path, stream: Stream) -> Result<Entries, AuditError> {
        Ok(Entries { stream, segments: open_all(dir, stream)?.into(), current: None })
    }

    /// Returns the next entry. Visits the unreadable lines before it.
    fn next<E: From<AuditError>>(
        &mut self,
        dir: &Path,
        visit: &mut impl FnMut(Scanned) -> Result<(), E>,
    ) -> Result<Option<Box<Entry>>, E> {
        loop {
            let Some(segment) = &mut self.current else {
                let Some((name, file)) = self.segments.pop_front() else { return Ok(None) };
                self.current = Some(Segment { name, lines: Lines::new(file), number: 0, is_rest: false });
                continue;
            };
            let was_reported = segment.is_rest;
            segment.number = segment.number.saturating_add(u64::from(!was_reported));
            segment.is_rest = false;
            let read = match segment.lines.next_line() {
                Ok(Some(_)) if was_reported => continue,
                Ok(Some(line)) => entry(line, self.stream),
                Ok(None) => {
                    self.current = None;
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    segment.is_rest = true;
                    Err(error.to_string())
                }
                Err(error) => {
                    return Err(AuditError::io("read", &dir.join(&segment.name))(error).into());
                }
            };
            match read {
                Ok(Some(entry)) => return Ok(Some(Box::new(entry))),
                Ok(None) => {}
                Err(_) if was_reported => {}
                Err(what) => {
                    let (file, line) = (segment.name.clone(), segment.number);
                    visit(Scanned::Unreadable(Broken { file, line, what }))?;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::log::{Config, Log};
    use crate::record::{CallRecord, Record};

    fn seen(dir: &Path) -> Vec<String> {
        let mut seen = Vec::new();
        scan::<AuditError>(dir, |scanned| {
            seen.push(match scanned {
                Scanned::Entry(entry) => format!("{} {}", entry.seq, entry.stream),
                Scanned::Unreadable(broken) => format!("{}:{} {}", broken.file, broken.line, broken.what),
            });
            Ok(())
        })
        .unwrap();
        seen
    }

    #[test]
    fn both_streams_come_by_their_numbers() {
        let dir = tempfile::tempdir().unwrap();
        let log = Log::open(dir.path(), Config::default(), SystemTime::UNIX_EPOCH).unwrap();
        for (number, verdict) in ["deny", "defer", "defer", "ask"].into_iter().enumerate() {
            let call = CallRecord { verdict: verdict.into(), ..CallRecord::default() };
            log.append(&Record::Call(call), SystemTime::UNIX_EPOCH + Duration::from_secs(number as u64))
                .unwrap();
        }
        assert_eq!(seen(dir.path()), ["1 notable", "2 routine", "3 routine", "4 notable"]);
    }

    #[test]
    fn what_is_not_understood_is_told_with_its_place_and_the_rest_read() {
        let dir = tempfile::tempdir().unwrap();
        let log = Log::open(dir.path(), Config::default(), SystemTime::UNIX_EPOCH).unwrap();
        let call = CallRecord { verdict: "defer".into(), ..CallRecord::default() };
        for _ in 0..2 {
            log.append(&Record::Call(call.clone()), SystemTime::UNIX_EPOCH).unwrap();
        }
        drop(log);
        let file = dir.path().join("routine.jsonl");
        let text = fs::read_to_string(&file).unwrap();
        let [anchor, one, two] = text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
        let newer = one.replacen(r#"{"v":2"#, r#"{"v":3"#, 1);
        let long = "x".repeat(600 * 1024);
        fs::write(&file, [anchor, "{", &newer, &long, "[", two, "torn"].join("\n")).unwrap();
        let seen = seen(dir.path());
        let parts = [
            "routine.jsonl:2 EOF",
            "routine.jsonl:3 this castellan does not know format version 3",
            "routine.jsonl:4 a line is longer",
            "routine.jsonl:5 EOF",
        ];
        for (line, part) in seen.iter().zip(parts) {
            assert!(line.starts_with(part), "{line}: {part}");
        }
        assert_eq!(seen.get(parts.len()..), Some(&["2 routine".to_owned()][..]), "{seen:?}");
    }
}
