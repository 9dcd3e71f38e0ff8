//! Checks the chains of both streams and the sequence of numbers. Takes no lock: a daemon may write meanwhile.
//!
//! Finds a changed, moved or missing line, a missing segment without a retention record, and missing lines at the end.
//! Losses that the log itself recorded at a start are reported separately; they are no success either.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::Path;

use crate::copied::Copied;
use crate::error::AuditError;
use crate::head::Head;
use crate::limits::LISTING_ATTEMPTS;
use crate::line::{Frame, Hash, Link};
use crate::read::{Broken, open_all};
use crate::record::{Cut, RecoveryRecord, Stream};
use crate::segment::{Lines, closed_path, live_path};

/// Result of [`verify()`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// The routine stream.
    pub routine: StreamVerification,
    /// The notable stream.
    pub notable: StreamVerification,
    /// Numbers that are missing without an explanation.
    pub missing: Vec<Missing>,
    /// Numbers that are used more than once.
    pub repeated: Vec<u64>,
    /// Losses that castellan found and recorded at a start.
    pub losses: Vec<Loss>,
    /// Error in the file `head` with the last line numbers.
    pub head: Option<String>,
    /// Lines that the copy outside of the home names and that the log does not hold.
    pub outside: Vec<Differing>,
}

impl Verification {
    /// Reports whether every expected record is there, unchanged.
    pub fn ok(&self) -> bool {
        let streams = [&self.routine, &self.notable];
        streams.iter().all(|stream| stream.broken.is_none())
            && self.missing.is_empty()
            && self.repeated.is_empty()
            && self.losses.is_empty()
            && self.head.is_none()
            && self.outside.is_empty()
    }
}

/// A stream, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamVerification {
    /// The stream.
    pub stream: Stream,
    /// Segments on disk.
    pub segments: usize,
    /// Lines, anchors included.
    pub lines: u64,
    /// Number of the first record.
    pub first_seq: Option<u64>,
    /// Number of the last record.
    pub last_seq: Option<u64>,
    /// The first error.
    pub broken: Option<Broken>,
}

/// A range of numbers that are in no stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// First number.
    pub first: u64,
    /// Last number.
    pub last: u64,
}

/// Lines that castellan found missing or changed at a start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Number of the recovery record.
    pub recorded_seq: u64,
    /// The stream concerned.
    pub stream: Stream,
    /// Last number before the loss.
    pub after_seq: u64,
    /// Last number that may be lost.
    pub up_to_seq: u64,
    /// Description of the damage.
    pub message: String,
}

/// A line that the copy outside of the home names and that the log does not hold.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Differing {
    /// The stream.
    pub stream: Stream,
    /// Number of the last record up to that line.
    pub seq: u64,
    /// Time of the copy in UTC.
    pub time: String,
    /// True if the log has another line with this number, false if it has none.
    pub is_changed: bool,
}

/// Checks the log in `dir`.
pub fn verify(dir: &Path) -> Result<Verification, AuditError> {
    verify_copied(dir, &[])
}

/// Checks the log in `dir`, and compares it with copies of this log. The caller must read the copies first: each line
/// is in the log before it is copied.
pub fn verify_copied(dir: &Path, copies: &[Copied]) -> Result<Verification, AuditError> {
    // Read first: the lines noted in `head` are then in the files by the time the files are read.
    let noted = Head::load(dir)?;
    let (head, head_problem) = match noted {
        Some(Ok(head)) => (Some(head), None),
        Some(Err(error)) => {
            (None, Some(format!("the file `head` with the last line numbers is damaged: {error}")))
        }
        None => (None, Some("the file `head` with the last line numbers is missing".to_owned())),
    };
    let link = |stream| head.map(|head| head.link(stream));
    let scan = |stream| Scan::run(dir, stream, link(stream), wanted(copies, stream));
    let (mut routine, mut notable) = (scan(Stream::Routine)?, scan(Stream::Notable)?);
    let cuts: HashSet<_> = notable.cuts.drain(..).collect();
    routine.check_begin(&cuts);
    notable.check_begin(&cuts);

    // Records after the noted one may still be written to the stream that was read first.
    let up_to = head.map_or(u64::MAX, |head| head.last_seq());
    let (missing, repeated) = numbers(&routine, &notable, &notable.losses, up_to);
    let losses = notable.losses.iter().filter(|(_, loss)| loss.lost);
    let losses = losses.map(|(seq, loss)| Loss {
        recorded_seq: *seq,
        stream: loss.stream,
        after_seq: loss.after_seq,
        up_to_seq: loss.up_to_seq,
        message: loss.message.to_string(),
    });
    let losses = losses.collect();
    let outside = routine.differing().into_iter().chain(notable.differing()).collect();
    let (routine, notable) = (routine.result, notable.result);
    Ok(Verification { missing, repeated, losses, head: head_problem, outside, routine, notable })
}

/// Returns the lines of a stream that the log must hold, with number and time.
fn wanted(copies: &[Copied], stream: Stream) -> HashMap<Hash, (u64, String)> {
    let mut wanted = HashMap::new();
    for (copied, link) in copies.iter().filter_map(|copied| Some((copied, copied.link(stream)?))) {
        wanted.entry(link.hash).or_insert_with(|| (link.seq, copied.time_text().to_owned()));
    }
    wanted
}

/// The lines of one stream, read once.
struct Scan {
    result: StreamVerification,
    /// Numbers of all records, ascending.
    seqs: Vec<u64>,
    /// The line before the oldest segment, according to its anchor.
    begin: Option<(String, Link)>,
    /// Last line so far; `last_hash` is `None` before the first.
    last_seq: u64,
    last_hash: Option<Hash>,
    /// The last line according to `head`, until it is found.
    awaited: Option<Link>,
    /// Ends of deleted segments, from retention records.
    cuts: Vec<(Stream, Cut)>,
    losses: Vec<(u64, RecoveryRecord)>,
    /// Lines that a copy names, until they are found.
    wanted: HashMap<Hash, (u64, String)>,
}

impl Scan {
    fn run(
        dir: &Path,
        stream: Stream,
        awaited: Option<Link>,
        wanted: HashMap<Hash, (u64, String)>,
    ) -> Result<Scan, AuditError> {
        let (first_seq, last_seq, broken) = (None, None, None);
        let result = StreamVerification { stream, segments: 0, lines: 0, first_seq, last_seq, broken };
        let awaited = awaited.filter(|link| link.hash != Hash::default());
        let mut scan = Scan {
            result,
            seqs: Vec::new(),
            begin: None,
            last_seq: 0,
            last_hash: None,
            awaited,
            cuts: Vec::new(),
            losses: Vec::new(),
            wanted,
        };
        let files = open_all(dir, stream)?;
        scan.result.segments = files.len();
        for (name, file) in files {
            scan.segment(&name, file).map_err(AuditError::io("read", &dir.join(&name)))?;
        }
        scan.check_end();
        Ok(scan)
    }

    fn segment(&mut self, name: &str, file: File) -> std::io::Result<()> {
        let mut lines = Lines::new(file);
        let mut number: u64 = 0;
        let mut attempts = 0;
        loop {
            if let Some(line) = lines.next_line()? {
                number = number.saturating_add(1);
                self.line(name, number, line);
            } else if lines.torn && attempts < LISTING_ATTEMPTS {
                // A daemon may be writing this line.
                attempts = attempts.saturating_add(1);
                std::thread::yield_now();
            } else {
                break;
            }
        }
        if lines.torn {
            self.broken(name, number.saturating_add(1), "the last line is incomplete");
        } else if number == 0 && Path::new(name) != live_path(Path::new(""), self.result.stream) {
            // The live segment is briefly empty when created. If another program emptied it, the last noted line is
            // missing.
            self.broken(name, 0, "the file is empty");
        }
        Ok(())
    }

    fn line(&mut self, name: &str, number: u64, line: &[u8]) {
        self.result.lines = self.result.lines.saturating_add(1);
        let hash = Hash::of(line);
        match Frame::parse(line) {
            Ok(frame) => self.frame(name, number, frame),
            Err(error) => self.broken(name, number, &format!("castellan cannot parse the line: {error}")),
        }
        if self.awaited.is_some_and(|awaited| awaited.hash == hash) {
            self.awaited = None;
        }
        self.wanted.remove(&hash);
        self.last_hash = Some(hash);
    }

    /// Returns the lines of copies that were not found, oldest first. Retention may have deleted the oldest.
    fn differing(&self) -> Vec<Differing> {
        let seqs: HashSet<u64> = self.seqs.iter().copied().collect();
        let deleted = self.deleted_up_to();
        let lost = self.wanted.values().filter(|(seq, _)| *seq > deleted || deleted == 0);
        let stream = self.result.stream;
        let mut all: Vec<Differing> = lost
            .map(|(seq, time)| Differing {
                stream,
                seq: *seq,
                time: time.clone(),
                is_changed: seqs.contains(seq),
            })
            .collect();
        all.sort();
        all
    }

    fn frame(&mut self, name: &str, number: u64, frame: Frame) {
        match self.last_hash {
            Some(last) if last != frame.prev => {
                self.broken(name, number, "the previous line was changed, moved or removed");
            }
            Some(_) => {}
            None => {
                let link = Link { seq: frame.prev_seq.unwrap_or(0), hash: frame.prev };
                self.begin = Some((name.to_owned(), link));
            }
        }
        if frame.is_anchor() != (number == 1) {
            self.broken(name, number, "the anchor is not at the start of the file");
        }
        if frame.is_anchor() {
            self.anchor(name, number, &frame);
            return;
        }
        if frame.seq <= self.last_seq {
            self.broken(name, number, "the number is not larger than the previous one");
        }
        self.last_seq = self.last_seq.max(frame.seq);
        self.seqs.push(frame.seq);
        self.result.first_seq.get_or_insert(frame.seq);
        self.result.last_seq = Some(frame.seq);
        if let Some(retention) = frame.retention {
            self.cuts.push((Stream::Routine, retention.routine_cut));
            self.cuts.push((Stream::Notable, retention.notable_cut));
        }
        self.losses.extend(frame.recovery.map(|recovery| (frame.seq, recovery)));
    }

    fn anchor(&mut self, name: &str, number: u64, frame: &Frame) {
        let stream = self.result.stream;
        let own = Path::new("");
        let own = [closed_path(own, stream, frame.seq), live_path(own, stream)];
        if frame.stream != Some(stream) || !own.iter().any(|own| own == Path::new(name)) {
            self.broken(name, number, "the anchor belongs to another file");
        }
        if self.last_hash.is_some() && frame.prev_seq != Some(self.last_seq) {
            self.broken(name, number, "the previous segment is missing or ends too early");
        }
        self.last_seq = self.last_seq.max(frame.prev_seq.unwrap_or(0));
    }

    fn check_end(&mut self) {
        let Some(awaited) = self.awaited else { return };
        if awaited.seq <= self.deleted_up_to() && self.deleted_up_to() > 0 {
            // Rotated and deleted after it was noted; `check_begin` checks the reason.
            return;
        }
        let what =
            format!("the last line that was written, number {}, is missing or was changed", awaited.seq);
        let name = format!("{}.jsonl", self.result.stream);
        self.broken(&name, 0, &what);
    }

    /// Checks that the oldest segment begins with the log or after a recorded deletion.
    fn check_begin(&mut self, cuts: &HashSet<(Stream, Cut)>) {
        let Some((name, begin)) = self.begin.clone() else { return };
        let explained = begin == Link::default() || cuts.contains(&(self.result.stream, begin.to_cut()));
        if !explained {
            let what = format!(
                "older segments, up to number {}, are missing, and no record gives the reason",
                begin.seq
            );
            self.result.broken = Some(Broken { file: name, line: 0, what });
        }
    }

    /// Stores the first error only: later errors are often its consequence.
    fn broken(&mut self, file: &str, line: u64, what: &str) {
        let broken = || Broken { file: file.to_owned(), line, what: what.to_owned() };
        self.result.broken.get_or_insert_with(broken);
    }

    /// Returns the number up to which records of the stream may have been deleted.
    fn deleted_up_to(&self) -> u64 {
        self.begin.as_ref().map_or(0, |(_, begin)| begin.seq)
    }
}

/// Finds numbers that are in no stream, and numbers that are used twice.
fn numbers(
    routine: &Scan,
    notable: &Scan,
    known: &[(u64, RecoveryRecord)],
    up_to: u64,
) -> (Vec<Missing>, Vec<u64>) {
    let mut seqs: Vec<u64> = routine.seqs.iter().chain(&notable.seqs).copied().collect();
    seqs.sort_unstable();
    let (mut missing, mut repeated) = (Vec::new(), Vec::new());
    let mut last = routine.deleted_up_to().max(notable.deleted_up_to());
    let mut previous = None;
    for seq in seqs {
        if previous == Some(seq) {
            repeated.push(seq);
        }
        previous = Some(seq);
        if seq > up_to {
            break;
        }
        let first = after_losses(last.saturating_add(1), known);
        if first < seq {
            missing.push(Missing { first, last: seq.saturating_sub(1) });
        }
        last = last.max(seq);
    }
    (missing, repeated)
}

/// Returns the first number, from `first` on, that no recorded loss covers.
fn after_losses(first: u64, known: &[(u64, RecoveryRecord)]) -> u64 {
    let covers = |loss: &RecoveryRecord| loss.lost && loss.after_seq < first && first <= loss.up_to_seq;
    match known.iter().find(|(_, loss)| covers(loss)) {
        Some((_, loss)) => after_losses(loss.up_to_seq.saturating_add(1), known),
        None => first,
    }
}
