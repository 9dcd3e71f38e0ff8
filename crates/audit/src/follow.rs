//! [`Follower`]: the entries that are new since it last looked, for `castellan log -f`. Polled by its caller.
//!
//! It holds each live segment open: after a rotation the rest of the old file is read before the next one is begun, so
//! that no line is lost or repeated. Segments that retention deleted before they were read are gone.

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

    /// Returns what is new. After a long pause it comes in several steps: empty means that nothing is left. Lines that
    /// are not understood are passed over; `verify` reports them.
    pub fn next_entries(&mut self) -> Result<Vec<Entry>, AuditError> {
        let mut entries = Vec::new();
        for position in &mut self.positions {
            position.advance(&mut entries)?;
        }
        entries.sort_by_key(|entry| entry.seq);
        Ok(entries)
    }
}

/// Where in a stream the follower is.
#[derive(Debug)]
struct Position {
    dir: PathBuf,
    stream: Stream,
    /// Number of the segment it is in; 0 before the first.
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
                // Once more after it is known to be closed: lines may have come between the last read and that.
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

    /// Reports whether the segment it is in no longer grows: it is not the live one, or there is none yet.
    fn is_closed(&self) -> bool {
        let Some(lines) = &self.lines else { return true };
        let Ok(ours) = lines.file().metadata() else { return true };
        let live = std::fs::metadata(live_path(&self.dir, self.stream));
        !live.is_ok_and(|live| (live.dev(), live.ino()) == (ours.dev(), ours.ino()))
    }

    /// Goes to the start of the segment after this one. False where there is none yet.
    fn next_segment(&mut self) -> Result<bool, AuditError> {
        for _ in 0..LISTING_ATTEMPTS {
            // The live one is opened before the others are listed: one that is closed in between shows in the list.
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
                // Deleted by retention since it was listed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(AuditError::io("open", &path)(error)),
            }
        }
        Ok(false)
    }

    /// Opens the live segment, if there is one with a finished anchor. The lines stand after the anchor.
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
