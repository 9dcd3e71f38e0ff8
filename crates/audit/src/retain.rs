//! Selects and deletes old segments. A record of the deletion is written before the file is removed. So the chains
//! still verify, and a deletion by another program is visible.

use std::time::{Duration, SystemTime};

use crate::error::AuditError;
use crate::line::{Body, Link};
use crate::log::{Config, State};
use crate::record::{Record, RetentionRecord, Stream};
use crate::segment::{Segment, closed_path, file_name};
use crate::writer::Writer;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The reason of a deletion.
enum Reason {
    Segments(u32),
    Days(u32),
    Bytes(u64),
}

impl State {
    /// Deletes every segment that is over its retention.
    pub(crate) fn retain(&mut self, config: &Config, now: SystemTime) -> Result<(), AuditError> {
        while let Some((stream, reason)) = self.expired(config, now) {
            self.delete_oldest(stream, &reason, now)?;
        }
        Ok(())
    }

    fn expired(&self, config: &Config, now: SystemTime) -> Option<(Stream, Reason)> {
        let routine_max = usize::try_from(config.routine_segments).unwrap_or(usize::MAX);
        if self.routine.closed.len() > routine_max {
            return Some((Stream::Routine, Reason::Segments(config.routine_segments)));
        }
        let oldest = self.notable.closed.front()?;
        // No record becomes old when the clock is set back.
        let age = now.duration_since(oldest.newest).unwrap_or_default();
        if age > DAY.saturating_mul(config.notable_days) {
            return Some((Stream::Notable, Reason::Days(config.notable_days)));
        }
        let bytes: u64 = self.notable.segments().map(|segment| segment.bytes).sum();
        let hard_limit = config.notable_bytes.saturating_mul(2);
        (bytes > hard_limit).then_some((Stream::Notable, Reason::Bytes(hard_limit)))
    }

    fn delete_oldest(&mut self, stream: Stream, reason: &Reason, now: SystemTime) -> Result<(), AuditError> {
        let Some(segment) = self.writer(stream).closed.front() else { return Ok(()) };
        if !segment.deletion_recorded {
            let record = self.retention(stream, segment, reason);
            self.append(&Body::of(&Record::Retention(record))?, now)?;
        }
        let oldest = self.writer_mut(stream).closed.front_mut();
        if let Some(segment) = oldest {
            segment.deletion_recorded = true;
        }
        self.writer_mut(stream).remove_oldest()
    }

    fn retention(&self, stream: Stream, segment: &Segment, reason: &Reason) -> RetentionRecord {
        let cut = |of: Stream| {
            if of == stream { segment.last.to_cut() } else { begin(self.writer(of)).to_cut() }
        };
        RetentionRecord {
            stream,
            file: file_name(&closed_path(self.writer(stream).dir(), stream, segment.number)).into(),
            first_seq: segment.first_seq.unwrap_or(segment.last.seq),
            last_seq: segment.last.seq,
            last_hash: segment.last.hash.to_string().into(),
            reason: match reason {
                Reason::Segments(max) => format!("more than {max} closed segments").into(),
                Reason::Days(max) => format!("older than {max} days").into(),
                Reason::Bytes(max) => format!("more than {max} bytes, twice the limit of the stream").into(),
            },
            routine_cut: cut(Stream::Routine),
            notable_cut: cut(Stream::Notable),
        }
    }
}

/// Returns the line before the oldest segment on disk.
fn begin(writer: &Writer) -> Link {
    writer.segments().next().map_or(Link::default(), |segment| segment.before)
}
