//! [`Follower`]: returns the entries that are new since its last step, for `castellan log -f`. The caller polls it.
//!
//! The follower keeps each live segment open. After a rotation it reads the rest of the old file before the next
//! segment, so that no line is lost or repeated. A segment that retention deletes before the follower reads it is lost.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::error::AuditError;
use crate::limits::{FOLLOW_BYTES_MAX, LISTING_ATTEMPTS};
use crate::line::Frame;
use crate::read::{Entry, entry};
use crate::record::Stream;
use crate::segment::{self, Lines, closed_numbers, closed_path, live_path};

/// Follows the log. Entries of one step are sorted by number.
#[derive(Debug)]
pub struct Follower {
    positions: Vec<Position>,
}

impl Follower {
    /// Starts at the end of the log, or with `from_now` false at its oldest entry.
    pub fn new(dir: &Path, from_now: bool) -> Result<Follower, AuditError> {
        let mut positions = Vec::new();
        for stream in Stream::ALL {
            let mut position = Position { dir: dir.to_owned(), stream, number: 0, lines: None };
            if from_now {
                position.go_to_end()?;
            }
            positions.push(position);
        }
        Ok(Follower { positions })
    }

    /// Returns the new entries. After a long pause they take several steps: an empty list means that nothing is left.
    /// The follower skips lines that it cannot parse; `verify` reports them.
    pub fn next_entries(&mut self) -> Result<Vec<Entry>, AuditError> {
        let mut entries = Vec::new();
        for position in &mut self.positions {
            position.advance(&mut entries)?;
        }
        entries.sort_by_key(|entry| entry.seq);
        Ok(entries)
    }
}

/// The follower's position in a stream.
#[derive(Debug)]
struct Position {
    dir: PathBuf,
    stream: Stream,
    /// Number of the current segment; 0 before the first.
    number: u64,
    lines: Option<Lines>,
}

impl Position {
    fn go_to_end(&mut self) -> Result<(), AuditError> {
        while self.next_segment()? {}
        let Some(lines) = &mut self.lines else { return Ok(()) };
        while lines.next_line().map_err(AuditError::io("read", &self.dir))?.is_some() {}
        Ok(())
    }

    fn advance(&mut self, entries: &mut Vec<Entry>) -> Result<(), AuditError> {
        let stream = self.stream;
        let mut bytes: usize = 0;
        let mut closed = false;
        while bytes < FOLLOW_BYTES_MAX {
            if let Some(line) = self.next_line()? {
                bytes = bytes.saturating_add(line.len());
                entries.extend(entry(line, stream).ok().flatten());
            } else if closed {
                if !self.next_segment()? {
                    return Ok(());
                }
                closed = false;
            } else {
                // Read once more after the check that it is closed: lines may have arrived after the last read.
                closed = self.is_closed();
                if !closed {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn next_line(&mut self) -> Result<Option<&[u8]>, AuditError> {
        let path = || live_path(&self.dir, self.stream);
        let Some(lines) = &mut self.lines else { return Ok(None) };
        lines.next_line().map_err(|error| AuditError::io("read", &path())(error))
    }

    /// Reports whether the current segment no longer grows: it is not the live one, or there is none yet.
    fn is_closed(&self) -> bool {
        let Some(lines) = &self.lines else { return true };
        let Ok(ours) = lines.file().metadata() else { return true };
        let live = std::fs::metadata(live_path(&self.dir, self.stream));
        !live.is_ok_and(|live| (live.dev(), live.ino()) == (ours.dev(), ours.ino()))
    }

    /// Goes to the start of the next segment. Returns false if there is none yet.
    fn next_segment(&mut self) -> Result<bool, AuditError> {
        for _ in 0..LISTING_ATTEMPTS {
            // The live segment is opened before the listing: if it is closed in between, the listing shows it.
            let live = self.open_live()?;
            let closed = closed_numbers(&self.dir, self.stream)?;
            let Some(number) = closed.into_iter().find(|number| *number > self.number) else {
                let Some((number, lines)) = live.filter(|(number, _)| *number > self.number) else {
                    return Ok(false);
                };
                (self.number, self.lines) = (number, Some(lines));
                return Ok(true);
            };
            let path = closed_path(&self.dir, self.stream, number);
            match segment::open(&path) {
                Ok(file) => {
                    (self.number, self.lines) = (number, Some(Lines::new(file)));
                    return Ok(true);
                }
                // Retention deleted it after the listing.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(AuditError::io("open", &path)(error)),
            }
        }
        Ok(false)
    }

    /// Opens the live segment if it exists and its anchor is complete. The returned lines begin after the anchor.
    fn open_live(&self) -> Result<Option<(u64, Lines)>, AuditError> {
        let path = live_path(&self.dir, self.stream);
        let file = match segment::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(AuditError::io("open", &path)(error)),
        };
        let mut lines = Lines::new(file);
        let first = lines.next_line().map_err(AuditError::io("read", &path))?;
        let anchor = first.and_then(|line| Frame::parse(line).ok());
        Ok(anchor.map(|anchor| (anchor.seq, lines)))
    }
}
