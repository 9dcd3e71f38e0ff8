//! Files of a stream: their names, their lines, and facts about a segment that need no full read.
//!
//! The log appends to `routine.jsonl`. The files `routine.<number>.jsonl` are closed and never change. The number is
//! that of the segment's anchor: the first sequence number that the segment may hold.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use castellan_files::{Links, open_to_read};

use crate::error::AuditError;
use crate::limits::{LINE_BYTES_MAX, LINELESS_BYTES_MAX, TAIL_BYTES, TAIL_BYTES_MAX};
use crate::line::{Frame, Hash, Link};
use crate::record::Stream;

/// Returns the path of the live segment.
pub(crate) fn live_path(dir: &Path, stream: Stream) -> PathBuf {
    dir.join(format!("{stream}.jsonl"))
}

/// Returns the path of a closed segment.
pub(crate) fn closed_path(dir: &Path, stream: Stream, number: u64) -> PathBuf {
    dir.join(format!("{stream}.{number}.jsonl"))
}

/// Lists the numbers of the closed segments, oldest first.
pub(crate) fn closed_numbers(dir: &Path, stream: Stream) -> Result<Vec<u64>, AuditError> {
    let entries = fs::read_dir(dir).map_err(AuditError::io("list", dir))?;
    let mut numbers = Vec::new();
    for entry in entries {
        let name = entry.map_err(AuditError::io("list", dir))?.file_name();
        numbers.extend(name.to_str().and_then(|name| number(name, stream)));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

fn number(name: &str, stream: Stream) -> Option<u64> {
    let number = name.strip_prefix(stream.as_str())?.strip_prefix('.')?.strip_suffix(".jsonl")?;
    let canonical = number.bytes().all(|byte| byte.is_ascii_digit()) && !number.starts_with('0');
    number.parse().ok().filter(|_| canonical)
}

/// Returns the last part of a path, for records and reports.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Opens a segment for reading. A symbolic link is rejected: the log creates none.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    open_to_read(path, Links::Refused)
}

/// The writer's data about a segment.
#[derive(Debug, Clone)]
pub(crate) struct Segment {
    /// Sequence number of its anchor.
    pub(crate) number: u64,
    /// The stream's last line before it.
    pub(crate) before: Link,
    /// Its last line so far; `seq` is that of the last record in it or before it.
    pub(crate) last: Link,
    pub(crate) bytes: u64,
    /// Sequence number of its first record.
    pub(crate) first_seq: Option<u64>,
    /// Time of its last line.
    pub(crate) newest: SystemTime,
    /// True if its retention record is written. The file is then still to be removed.
    pub(crate) deletion_recorded: bool,
}

impl Segment {
    /// Reads the first two lines and the end of a segment. Returns `None` if it has no finished line.
    pub(crate) fn load(file: &File, number: u64) -> io::Result<Option<(Segment, Tail)>> {
        let bytes = file.metadata()?.len();
        let tail = Tail::load(file, bytes)?;
        let mut lines = Lines::new(file.try_clone()?);
        lines.rewind()?;
        let Some(first) = lines.next_line()? else { return Ok(None) };
        let anchor = Frame::parse(first).ok().filter(Frame::is_anchor);
        let before = anchor
            .as_ref()
            .map_or(Link::default(), |anchor| Link { seq: anchor.prev_seq.unwrap_or(0), hash: anchor.prev });
        let second = lines.next_line()?.and_then(|line| Frame::parse(line).ok());
        let segment = Segment {
            number: anchor.as_ref().map_or(number, |anchor| anchor.seq),
            before,
            last: Link { seq: tail.seq.unwrap_or(before.seq), hash: tail.hash },
            bytes: tail.end,
            first_seq: second.map(|frame| frame.seq),
            newest: tail.time.unwrap_or(SystemTime::UNIX_EPOCH),
            deletion_recorded: false,
        };
        Ok(Some((segment, tail)))
    }
}

/// The end of a segment.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tail {
    /// Bytes up to and including the last newline. The rest is an unfinished line.
    pub(crate) end: u64,
    /// Hash of the last finished line.
    pub(crate) hash: Hash,
    /// The previous line's hash in the last finished line.
    pub(crate) prev: Option<Hash>,
    /// Number of the last readable record.
    pub(crate) seq: Option<u64>,
    time: Option<SystemTime>,
    /// True if the last finished line itself can be read.
    pub(crate) readable: bool,
}

impl Tail {
    fn load(file: &File, bytes: u64) -> io::Result<Tail> {
        let mut window = TAIL_BYTES;
        loop {
            let start = bytes.saturating_sub(window);
            let mut block = vec![0; usize::try_from(bytes.saturating_sub(start)).unwrap_or(usize::MAX)];
            file.read_exact_at(&mut block, start)?;
            let tail = Tail::of(&block, start);
            if start == 0 || tail.seq.is_some() {
                return Ok(tail);
            }
            if window >= TAIL_BYTES_MAX {
                return Err(io::Error::other(format!(
                    "its last {TAIL_BYTES_MAX} bytes have no record: move it away"
                )));
            }
            window = window.saturating_mul(8).min(TAIL_BYTES_MAX);
        }
    }

    /// Parses the last block of a file, which begins at `start`.
    fn of(block: &[u8], start: u64) -> Tail {
        let Some(newline) = block.iter().rposition(|byte| *byte == b'\n') else { return Tail::default() };
        let finished = block.get(..newline).unwrap_or_default();
        let mut lines: Vec<_> = finished.split(|byte| *byte == b'\n').collect();
        if start > 0 {
            // The block begins in the middle of this line.
            lines.remove(0);
        }
        let end = u64::try_from(newline).unwrap_or(u64::MAX).saturating_add(1).saturating_add(start);
        let mut tail = Tail { end, ..Tail::default() };
        let Some(last) = lines.last() else { return tail };
        tail.hash = Hash::of(last);
        let frame = Frame::parse(last).ok();
        tail.readable = frame.is_some();
        tail.prev = frame.map(|frame| frame.prev);
        if let Some(frame) = lines.iter().rev().find_map(|line| Frame::parse(line).ok()) {
            // An anchor has the number of the next record.
            tail.seq = if frame.is_anchor() { frame.prev_seq } else { Some(frame.seq) };
            tail.time = Some(frame.time);
        }
        tail
    }
}

/// Reads finished lines. An unfinished line at the end is read again when it has grown.
#[derive(Debug)]
pub(crate) struct Lines {
    reader: BufReader<File>,
    line: Vec<u8>,
    /// Start of the next line.
    offset: u64,
    /// True if the last read met an unfinished line at the end of the file.
    pub(crate) torn: bool,
    /// Bytes read since the last line with an end.
    lineless: usize,
}

impl Lines {
    pub(crate) fn new(file: File) -> Lines {
        let reader = BufReader::with_capacity(64 * 1024, file);
        Lines { reader, line: Vec::new(), offset: 0, torn: false, lineless: 0 }
    }

    /// Goes to the start of the file.
    fn rewind(&mut self) -> io::Result<()> {
        self.skip_to(0)
    }

    /// Goes to the start of a line.
    pub(crate) fn skip_to(&mut self, offset: u64) -> io::Result<()> {
        self.offset = offset;
        self.reader.seek(SeekFrom::Start(offset)).map(|_| ())
    }

    /// Returns the next line without its newline, or `None` if no finished line follows. Returns the error
    /// `InvalidData` for a piece of a line that is too long; the next call continues after this piece.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        let max = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX);
        let read = io::Read::take(&mut self.reader, max).read_until(b'\n', &mut self.line)?;
        self.torn = false;
        if self.line.pop_if(|byte| *byte == b'\n').is_some() {
            self.offset = self.offset.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
            self.lineless = 0;
            return Ok(Some(&self.line));
        }
        if read >= LINE_BYTES_MAX {
            self.lineless = self.lineless.saturating_add(read);
            if self.lineless >= LINELESS_BYTES_MAX {
                return Err(io::Error::other(format!(
                    "{LINELESS_BYTES_MAX} bytes have no end of a line, so it is not a log: move it away"
                )));
            }
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a line is longer than any that the log writes",
            ));
        }
        if read > 0 {
            self.torn = true;
            self.skip_to(self.offset)?;
        }
        Ok(None)
    }

    /// Returns the file.
    pub(crate) fn file(&self) -> &File {
        self.reader.get_ref()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn only_canonical_names_are_segments() {
        let check =
            |name: &str, expected: Option<u64>| assert_eq!(number(name, Stream::Routine), expected, "{name}");
        check("routine.1.jsonl", Some(1));
        check("routine.18446744073709551615.jsonl", Some(u64::MAX));
        for name in [
            "routine.jsonl",
            "routine.01.jsonl",
            "routine.+1.jsonl",
            "routine..jsonl",
            "routine.18446744073709551616.jsonl",
            "routine.1.jsonl.bak",
            "notable.1.jsonl",
        ] {
            check(name, None);
        }
    }

    #[test]
    fn an_unfinished_line_is_read_once_it_is_finished() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let mut file = File::create(&path).unwrap();
        let mut lines = Lines::new(open(&path).unwrap());
        assert_eq!(lines.next_line().unwrap(), None);
        assert!(!lines.torn);
        file.write_all(b"one\ntw").unwrap();
        assert_eq!(lines.next_line().unwrap(), Some(&b"one"[..]));
        assert_eq!(lines.next_line().unwrap(), None);
        assert!(lines.torn);
        file.write_all(b"o\n").unwrap();
        assert_eq!(lines.next_line().unwrap(), Some(&b"two"[..]));
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        File::create(&path).unwrap().set_len(u64::try_from(LINE_BYTES_MAX).unwrap()).unwrap();
        let error = Lines::new(open(&path).unwrap()).next_line().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
