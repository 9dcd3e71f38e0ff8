//! [`Writer`]: appends lines to one stream, rotates its segments, and repairs the traces of a crash or a full disk.
//!
//! A line is written whole or not at all. The writer knows neither the other stream nor the retention of segments.

use std::collections::VecDeque;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use castellan_files::{Links, open_with};

use crate::error::AuditError;
use crate::limits::LINE_BYTES_MAX;
use crate::line::{self, Body, Hash, Link};
use crate::record::{RecoveryRecord, Stream};
use crate::segment::{self, Segment};

/// Writes one stream.
#[derive(Debug)]
pub(crate) struct Writer {
    dir: PathBuf,
    stream: Stream,
    segment_bytes: u64,
    fsync: bool,
    /// Closed segments, oldest first.
    pub(crate) closed: VecDeque<Segment>,
    /// `None` between closing a segment and creating the next. A full disk can separate these steps.
    live: Option<Live>,
    /// The stream's last line.
    last: Link,
    /// Damage found by [`Writer::check`], until it is recorded: the disk may be full at first.
    pub(crate) damage: Option<RecoveryRecord>,
    /// True if a segment was begun and [`Writer::take_begun`] was not called since.
    begun: bool,
}

#[derive(Debug)]
struct Live {
    file: File,
    segment: Segment,
    /// True if the file may hold a part of a line after `segment.bytes`, because truncating it failed too.
    torn: bool,
}

impl Writer {
    /// Opens the stream, cuts off an unfinished line, and returns the damage. `head` is the noted last line. Creates no
    /// segment: the number of the next record is known only when both streams are open.
    pub(crate) fn open(
        dir: &Path,
        stream: Stream,
        segment_bytes: u64,
        fsync: bool,
        head: Option<Link>,
    ) -> Result<(Writer, Option<RecoveryRecord>), AuditError> {
        let mut closed = VecDeque::new();
        for number in segment::closed_numbers(dir, stream)? {
            let path = segment::closed_path(dir, stream, number);
            let file = segment::open(&path).map_err(AuditError::io("open", &path))?;
            let loaded = Segment::load(&file, number).map_err(AuditError::io("read", &path))?;
            // An empty file with a segment's name is not ours: `verify` reports it.
            closed.extend(loaded.map(|(segment, _)| Segment { number, ..segment }));
        }
        let last = closed.back().map_or(Link::default(), |segment| segment.last);
        let dir = dir.to_owned();
        let mut writer = Writer {
            dir,
            stream,
            segment_bytes,
            fsync,
            closed,
            live: None,
            last,
            damage: None,
            begun: false,
        };
        let found = writer.open_live()?;
        let recovery = writer.recovery(found, head);
        Ok((writer, recovery))
    }

    /// Opens the live segment if it has a finished line, and cuts off the rest after the last one.
    fn open_live(&mut self) -> Result<Found, AuditError> {
        let path = segment::live_path(&self.dir, self.stream);
        let mut options = OpenOptions::new();
        options.read(true).append(true);
        let file = match open_with(&mut options, &path, Links::Refused) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::default()),
            Err(error) => return Err(AuditError::io("open", &path)(error)),
        };
        file.set_permissions(Permissions::from_mode(0o600)).map_err(AuditError::io("restrict", &path))?;
        let bytes = file.metadata().map_err(AuditError::io("read", &path))?.len();
        let loaded = Segment::load(&file, 0).map_err(AuditError::io("read", &path))?;
        let Some((segment, tail)) = loaded else {
            // Even its anchor is unfinished: the segment is created again.
            fs::remove_file(&path).map_err(AuditError::io("remove", &path))?;
            return Ok(Found { cut_bytes: bytes, ..Found::default() });
        };
        let cut_bytes = bytes.saturating_sub(segment.bytes);
        if cut_bytes > 0 {
            file.set_len(segment.bytes).map_err(AuditError::io("mend", &path))?;
        }
        self.last = segment.last;
        self.live = Some(Live { file, segment, torn: false });
        Ok(Found { cut_bytes, unreadable: !tail.readable, prev: tail.prev })
    }

    /// Compares the end of the live segment with `head`.
    fn recovery(&self, found: Found, head: Option<Link>) -> Option<RecoveryRecord> {
        let head = head.unwrap_or(self.last);
        let missing = head.seq > self.last.seq;
        // A segment created right before the crash ends in an anchor that `head` does not contain.
        let known =
            head.hash == self.last.hash || found.prev == Some(head.hash) || head.hash == Hash::default();
        let changed = !missing && head.seq == self.last.seq && !known;
        let message = match (missing, changed || found.unreadable, found.cut_bytes > 0) {
            (true, _, _) => "complete lines at the end are missing",
            (false, true, _) => "the last line differs from the written one",
            (false, false, true) => "castellan removed an incomplete last line",
            (false, false, false) => return None,
        };
        Some(RecoveryRecord {
            stream: self.stream,
            file: segment::file_name(&segment::live_path(&self.dir, self.stream)).into(),
            cut_bytes: found.cut_bytes,
            lost: missing || changed || found.unreadable,
            after_seq: self.last.seq,
            up_to_seq: head.seq.max(self.last.seq),
            message: message.into(),
        })
    }

    /// Writes a record under the number `seq`. On an error no part of it remains, and the next append works once the
    /// cause is gone. Returns whether a new segment was begun.
    pub(crate) fn append(
        &mut self,
        seq: u64,
        body: &Body,
        now: SystemTime,
        buffer: &mut Vec<u8>,
    ) -> Result<bool, AuditError> {
        let mut rotated = self.begin_if_none(seq, now, buffer)?;
        line::encode(buffer, seq, now, self.last.hash, body);
        if buffer.len() > LINE_BYTES_MAX {
            return Err(AuditError::TooLong { bytes: buffer.len(), max: LINE_BYTES_MAX });
        }
        if self.is_full(buffer.len()) {
            self.close()?;
            rotated = self.begin_if_none(seq, now, buffer)?;
            line::encode(buffer, seq, now, self.last.hash, body);
        }
        self.write(buffer)?;
        let hash = Hash::of(without_newline(buffer));
        self.last = Link { seq, hash };
        if let Some(live) = &mut self.live {
            live.segment.bytes = live.segment.bytes.saturating_add(length(buffer));
            live.segment.last = self.last;
            live.segment.first_seq.get_or_insert(seq);
            live.segment.newest = now;
        }
        Ok(rotated)
    }

    fn is_full(&self, more: usize) -> bool {
        let more = u64::try_from(more).unwrap_or(u64::MAX);
        self.live.as_ref().is_some_and(|live| {
            live.segment.first_seq.is_some() && live.segment.bytes.saturating_add(more) > self.segment_bytes
        })
    }

    /// Renames the live segment to its closed name. The next append begins a new one.
    fn close(&mut self) -> Result<(), AuditError> {
        let Some(live) = &mut self.live else { return Ok(()) };
        live.mend().map_err(AuditError::io("mend", &segment::live_path(&self.dir, self.stream)))?;
        let from = segment::live_path(&self.dir, self.stream);
        let to = segment::closed_path(&self.dir, self.stream, live.segment.number);
        fs::rename(&from, &to).map_err(AuditError::io("rename", &from))?;
        self.closed.extend(self.live.take().map(|live| live.segment));
        Ok(())
    }

    /// Creates the live segment with its anchor, if there is none. Returns whether it did.
    pub(crate) fn begin_if_none(
        &mut self,
        seq: u64,
        now: SystemTime,
        buffer: &mut Vec<u8>,
    ) -> Result<bool, AuditError> {
        if self.live.is_some() {
            return Ok(false);
        }
        line::encode_anchor(buffer, self.stream, seq, now, self.last)?;
        let path = segment::live_path(&self.dir, self.stream);
        let mut options = OpenOptions::new();
        options.read(true).append(true).create_new(true).mode(0o600);
        let mut file =
            open_with(&mut options, &path, Links::Refused).map_err(AuditError::io("create", &path))?;
        if let Err(error) = file.write_all(buffer) {
            // Best effort: if this fails too, `open` creates the segment again, and `create_new` fails until then.
            let _ = fs::remove_file(&path);
            return Err(AuditError::io("write", &path)(error));
        }
        let before = self.last;
        self.last.hash = Hash::of(without_newline(buffer));
        let bytes = length(buffer);
        let segment = Segment {
            number: seq,
            before,
            last: self.last,
            bytes,
            first_seq: None,
            newest: now,
            deletion_recorded: false,
        };
        self.live = Some(Live { file, segment, torn: false });
        self.begun = true;
        Ok(true)
    }

    fn write(&mut self, buffer: &[u8]) -> Result<(), AuditError> {
        let path = || segment::live_path(&self.dir, self.stream);
        let Some(live) = &mut self.live else {
            return Err(AuditError::io("write", &path())(io::ErrorKind::NotFound.into()));
        };
        live.mend().map_err(|error| AuditError::io("mend", &path())(error))?;
        live.torn = true;
        let written = live.file.write_all(buffer);
        let written = written.and_then(|()| if self.fsync { live.file.sync_data() } else { Ok(()) });
        match written {
            Ok(()) => {
                live.torn = false;
                Ok(())
            }
            Err(error) => {
                // A failure leaves `torn` set, and the next append tries again.
                let _ = live.mend();
                Err(AuditError::io("write", &path())(error))
            }
        }
    }

    /// Reports whether there is damage to record, or the live file has no name, so that the next line would be lost
    /// with it. One system call, because it runs before every record; [`Writer::check`] finds the rest.
    pub(crate) fn needs_recovery(&self) -> Result<bool, AuditError> {
        let Some(live) = &self.live else { return Ok(self.damage.is_some()) };
        let path = || segment::live_path(&self.dir, self.stream);
        let ours = rustix::fs::fstat(&live.file);
        let ours = ours.map_err(|error| AuditError::io("read", &path())(error.into()))?;
        Ok(ours.st_nlink == 0 || self.damage.is_some())
    }

    /// Checks whether another program moved, removed or changed the live segment, accepts its state and stores the
    /// damage.
    pub(crate) fn check(&mut self) -> Result<(), AuditError> {
        let Some(live) = &mut self.live else { return Ok(()) };
        let path = segment::live_path(&self.dir, self.stream);
        let ours = live.file.metadata().map_err(AuditError::io("read", &path))?;
        let there = fs::symlink_metadata(&path).ok();
        let identity = |file: &Metadata| (file.dev(), file.ino());
        let in_place = there.as_ref().is_some_and(|there| identity(there) == identity(&ours));
        let message = if !in_place {
            "another program moved or removed the file"
        } else if ours.len() != live.segment.bytes && !live.torn {
            "another program changed the file"
        } else {
            return Ok(());
        };
        let after_seq = live.segment.before.seq;
        if in_place {
            live.segment.bytes = ours.len();
        } else {
            if there.is_some() {
                // Editors replace files like this. Moved aside, it blocks no record, and a person can still inspect it.
                let aside = path.with_added_extension("replaced");
                fs::rename(&path, aside).map_err(AuditError::io("rename", &path))?;
            }
            self.live = None;
        }
        let (stream, file) = (self.stream, segment::file_name(&path));
        let (lost, up_to_seq, message) = (true, self.last.seq, message.to_owned());
        let damage = RecoveryRecord {
            stream,
            file: file.into(),
            cut_bytes: 0,
            lost,
            after_seq,
            up_to_seq,
            message: message.into(),
        };
        // Earlier damage that is not yet recorded begins before this one.
        self.damage.get_or_insert(damage).up_to_seq = up_to_seq;
        Ok(())
    }

    /// Removes the oldest closed segment.
    pub(crate) fn remove_oldest(&mut self) -> Result<(), AuditError> {
        let Some(oldest) = self.closed.front() else { return Ok(()) };
        let path = segment::closed_path(&self.dir, self.stream, oldest.number);
        match fs::remove_file(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(AuditError::io("remove", &path)(error)),
        }
        self.closed.pop_front();
        Ok(())
    }

    /// Reports whether a segment was begun since the last call.
    pub(crate) fn take_begun(&mut self) -> bool {
        std::mem::take(&mut self.begun)
    }

    /// Returns the log's directory.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the stream's last line.
    pub(crate) fn last(&self) -> Link {
        self.last
    }

    /// Returns all segments, oldest first.
    pub(crate) fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.closed.iter().chain(self.live.iter().map(|live| &live.segment))
    }
}

impl Live {
    /// Cuts off the partial line of an earlier append.
    fn mend(&mut self) -> io::Result<()> {
        if self.torn {
            self.file.set_len(self.segment.bytes)?;
            self.torn = false;
        }
        Ok(())
    }
}

/// Result of `open_live`: the end of the live segment.
#[derive(Debug, Default, Clone, Copy)]
struct Found {
    cut_bytes: u64,
    unreadable: bool,
    prev: Option<Hash>,
}

fn without_newline(buffer: &[u8]) -> &[u8] {
    buffer.strip_suffix(b"\n").unwrap_or(buffer)
}

fn length(buffer: &[u8]) -> u64 {
    u64::try_from(buffer.len()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Record, SessionRecord};

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;

    fn record(message: &str) -> Body {
        let session = SessionRecord { message: message.into(), ..SessionRecord::default() };
        Body::of(&Record::Session(session)).unwrap()
    }

    fn writer(dir: &Path) -> Writer {
        Writer::open(dir, Stream::Routine, 1 << 20, false, None).unwrap().0
    }

    /// Swaps the live file for one on which every write fails: `/dev/full` answers "no space left on device", and
    /// cannot be cut, as on a disk that is broken as well as full.
    #[test]
    fn a_failed_append_leaves_the_chain_and_the_next_one_works() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = writer(dir.path());
        let mut buffer = Vec::new();
        writer.append(1, &record("one"), NOW, &mut buffer).unwrap();
        let path = segment::live_path(dir.path(), Stream::Routine);
        let before = (fs::read(&path).unwrap(), writer.last());

        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let file = std::mem::replace(&mut writer.live.as_mut().unwrap().file, full);
        let error = writer.append(2, &record("two"), NOW, &mut buffer).unwrap_err();
        assert!(
            error.to_string().starts_with("the disk with castellan's log is full: free some space ("),
            "{error}"
        );
        assert_eq!((fs::read(&path).unwrap(), writer.last()), before);

        // The part of a line that a full disk takes before it fails.
        (&file).write_all(b"{\"v\":1,\"ty").unwrap();
        writer.live.as_mut().unwrap().file = file;
        writer.append(2, &record("two"), NOW, &mut buffer).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with(std::str::from_utf8(&before.0).unwrap()));
        assert_eq!(text.lines().count(), 3);
        assert!(text.lines().all(|line| line::parse(line.as_bytes()).is_ok()));
    }

    #[test]
    fn a_segment_that_could_not_be_begun_is_begun_by_the_next_append() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = writer(dir.path());
        let mut buffer = Vec::new();
        writer.append(1, &record("one"), NOW, &mut buffer).unwrap();
        writer.segment_bytes = 1;
        let live = segment::live_path(dir.path(), Stream::Routine);
        writer.close().unwrap();
        fs::create_dir(&live).unwrap();
        writer.append(2, &record("two"), NOW, &mut buffer).unwrap_err();
        fs::remove_dir(&live).unwrap();
        assert!(writer.append(2, &record("two"), NOW, &mut buffer).unwrap());
        assert_eq!(writer.segments().map(|segment| segment.last.seq).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn a_record_over_the_limit_of_a_line_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = writer(dir.path());
        let mut long = record("one");
        long.json.resize(LINE_BYTES_MAX, b' ');
        let error = writer.append(1, &long, NOW, &mut Vec::new()).unwrap_err();
        assert!(matches!(error, AuditError::TooLong { .. }), "{error}");
        writer.append(1, &record("one"), NOW, &mut Vec::new()).unwrap();
    }
}
