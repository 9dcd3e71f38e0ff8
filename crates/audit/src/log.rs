//! [`Log`]: writes the whole log. One mutex, one buffer, one sequence of numbers over both streams.
//!
//! A record is in its file when [`Log::append`] returns. On any error it is not, and the caller denies the call.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use castellan_files::{Links, open_with};
use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::address::with_addresses;
use crate::copied::{Copied, Copier, log_name};
use crate::error::AuditError;
use crate::head::{Head, HeadFile};
use crate::line::{Body, Link};
use crate::record::{Record, RecoveryRecord, Stream};
use crate::redact;
use crate::writer::Writer;

/// Retention of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Bytes after which a routine segment is closed.
    pub routine_segment_bytes: u64,
    /// Number of closed routine segments to keep.
    pub routine_segments: u32,
    /// Bytes after which a notable segment is closed.
    pub notable_segment_bytes: u64,
    /// Number of days to keep notable records.
    pub notable_days: u32,
    /// Bytes of notable records from which [`Status::limit_reached`] is reported. Further records are still written and
    /// kept: a flood of denied calls must not displace young records. At twice this size the oldest segment is deleted
    /// before its days are over, so that the log cannot fill the disk. A retention record reports the deletion.
    pub notable_bytes: u64,
    /// True if every record is flushed to the disk. Without the flush, a crash of the machine (not of castellan) can
    /// lose the last records; the next start detects and records the loss.
    pub fsync: bool,
    /// True if prompts and e-mail addresses are kept. The log itself omits addresses, its user omits prompts.
    pub prompts: bool,
}

impl Default for Config {
    fn default() -> Config {
        const MIB: u64 = 1024 * 1024;
        Config {
            routine_segment_bytes: 50 * MIB,
            routine_segments: 3,
            notable_segment_bytes: 32 * MIB,
            notable_days: 90,
            notable_bytes: 512 * MIB,
            fsync: false,
            prompts: false,
        }
    }
}

/// The log, open for writing. Only one process can open it.
#[derive(Debug)]
pub struct Log {
    dir: PathBuf,
    config: Config,
    state: Mutex<State>,
    /// Holds the lock until the log is closed or dropped.
    lock: File,
}

/// State of the log, for `castellan status`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// True if the notable stream has reached its size limit before its days are over.
    pub limit_reached: bool,
    /// Number of the last record; 0 if there is none.
    pub last_seq: u64,
}

impl Log {
    /// Opens the log in `dir`. Creates missing files, repairs the traces of a crash and records the repair.
    pub fn open(dir: &Path, config: Config, now: SystemTime) -> Result<Log, AuditError> {
        Log::open_copied(dir, config, Copier::none(), now)
    }

    /// Opens the log. `copier` gets each notable record, each begin of a segment, and the last lines of the log as it
    /// was opened.
    pub fn open_copied(
        dir: &Path,
        config: Config,
        copier: Copier,
        now: SystemTime,
    ) -> Result<Log, AuditError> {
        redact::prepare();
        prepare_dir(dir)?;
        let lock = lock(dir)?;
        let noted = Head::load(dir)?;
        let head = noted.as_ref().and_then(|noted| noted.as_ref().ok());
        let open = |stream, bytes| {
            Writer::open(dir, stream, bytes, config.fsync, head.map(|head| head.link(stream)))
        };
        let (routine, routine_damage) = open(Stream::Routine, config.routine_segment_bytes)?;
        let (notable, notable_damage) = open(Stream::Notable, config.notable_segment_bytes)?;
        let noted_seq = head.map_or(0, Head::last_seq);
        let last_seq = routine.last().seq.max(notable.last().seq).max(noted_seq);
        let existed = last_seq > 0;
        let head = HeadFile::open(dir)?;
        let (name, buffer, is_closed) = (log_name(dir), Vec::new(), false);
        let mut state = State { routine, notable, last_seq, head, buffer, is_closed, name, copier };
        state.copier.copy(&Copied::open(&state.name, now, state.links()));
        for stream in Stream::ALL {
            state.begin(stream, now)?;
        }
        let head_damage = head_damage(noted, existed, &state);
        for damage in [routine_damage, notable_damage, head_damage].into_iter().flatten() {
            state.append(&Body::of(&Record::Recovery(damage))?, now)?;
        }
        state.note();
        Ok(Log { dir: dir.to_owned(), config, state: Mutex::new(state), lock })
    }

    /// Returns the directory of the log.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Reports whether prompts are kept.
    pub fn keeps_prompts(&self) -> bool {
        self.config.prompts
    }

    /// Writes a record and returns its sequence number.
    pub fn append(&self, record: &Record, now: SystemTime) -> Result<u64, AuditError> {
        // Before the lock: a record with slow redaction must not delay the calls of others.
        let body = with_addresses(self.config.prompts, || Body::of(record))?;
        let mut state = self.open_state()?;
        let (seq, rotated) = state.append(&body, now)?;
        if rotated {
            // The record is written, so a failed deletion of old segments is no reason to deny its call. The next
            // `maintain` tries again and reports the failure.
            let _ = state.retain(&self.config, now);
        }
        Ok(seq)
    }

    /// Deletes segments over their retention, and repairs live segments that another program touched. Runs about once a
    /// minute.
    pub fn maintain(&self, now: SystemTime) -> Result<(), AuditError> {
        let mut state = self.open_state()?;
        state.recover(now)?;
        state.retain(&self.config, now)
    }

    /// Returns the state of the log.
    pub fn status(&self) -> Status {
        let state = self.state();
        let notable_bytes: u64 = state.notable.segments().map(|segment| segment.bytes).sum();
        Status { limit_reached: notable_bytes >= self.config.notable_bytes, last_seq: state.last_seq }
    }

    /// Writes nothing any more and releases the lock, so that another process can open the log. Every record is in its
    /// file already. Every later [`Log::append`] is an error.
    pub fn close(&self) -> Result<(), AuditError> {
        self.state().is_closed = true;
        let released = rustix::fs::flock(&self.lock, FlockOperation::Unlock);
        released.map_err(|error| AuditError::io("unlock", &self.dir.join("lock"))(error.into()))
    }

    fn open_state(&self) -> Result<MutexGuard<'_, State>, AuditError> {
        let state = self.state();
        if state.is_closed { Err(AuditError::Closed { dir: self.dir.clone() }) } else { Ok(state) }
    }

    /// Ignores a poisoned lock: the state changes only after a line is written, so a panic leaves it usable.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Both streams and their shared parts.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) routine: Writer,
    pub(crate) notable: Writer,
    last_seq: u64,
    head: HeadFile,
    buffer: Vec<u8>,
    is_closed: bool,
    /// The log's name in copies.
    name: String,
    copier: Copier,
}

impl State {
    /// Writes a record under the next number. Returns the number and whether a new segment was begun.
    pub(crate) fn append(&mut self, body: &Body, now: SystemTime) -> Result<(u64, bool), AuditError> {
        if self.writer(body.stream).needs_recovery()? {
            self.recover(now)?;
        }
        self.write(body, now)
    }

    /// Recreates live segments that another program moved or removed, accepts its changes, and records the damage.
    fn recover(&mut self, now: SystemTime) -> Result<(), AuditError> {
        // Both streams before any record: the record about the routine stream must not go to a missing notable file.
        for stream in Stream::ALL {
            self.writer_mut(stream).check()?;
            self.begin(stream, now)?;
        }
        for stream in Stream::ALL {
            if let Some(damage) = self.writer(stream).damage.clone() {
                self.write(&Body::of(&Record::Recovery(damage))?, now)?;
                self.writer_mut(stream).damage = None;
            }
        }
        Ok(())
    }

    fn write(&mut self, body: &Body, now: SystemTime) -> Result<(u64, bool), AuditError> {
        let seq = self.last_seq.saturating_add(1);
        let (writer, buffer) = self.writer_and_buffer(body.stream);
        let rotated = writer.append(seq, body, now, buffer)?;
        self.last_seq = seq;
        self.note();
        self.copy_begun(body.stream, now);
        if body.stream == Stream::Notable {
            let copied = Copied::record(&self.name, body.kind, now, &body.about, self.links());
            self.copier.copy(&copied);
        }
        Ok((seq, rotated))
    }

    fn begin(&mut self, stream: Stream, now: SystemTime) -> Result<(), AuditError> {
        let seq = self.last_seq.saturating_add(1);
        let (writer, buffer) = self.writer_and_buffer(stream);
        writer.begin_if_none(seq, now, buffer)?;
        self.copy_begun(stream, now);
        Ok(())
    }

    /// Copies the begin of a segment. The copy has the last line, whose chain includes the segment's first one.
    fn copy_begun(&mut self, stream: Stream, now: SystemTime) {
        if self.writer_mut(stream).take_begun() {
            self.copier.copy(&Copied::segment(&self.name, now, self.links()));
        }
    }

    fn links(&self) -> [Link; 2] {
        [self.routine.last(), self.notable.last()]
    }

    /// Updates `head`. Errors are ignored: an old `head` only shows less, and the record itself is written.
    fn note(&mut self) {
        let _ = self.head.write(&Head::new(self.routine.last(), self.notable.last()));
    }

    pub(crate) fn writer(&self, stream: Stream) -> &Writer {
        match stream {
            Stream::Routine => &self.routine,
            Stream::Notable => &self.notable,
        }
    }

    pub(crate) fn writer_mut(&mut self, stream: Stream) -> &mut Writer {
        self.writer_and_buffer(stream).0
    }

    fn writer_and_buffer(&mut self, stream: Stream) -> (&mut Writer, &mut Vec<u8>) {
        match stream {
            Stream::Routine => (&mut self.routine, &mut self.buffer),
            Stream::Notable => (&mut self.notable, &mut self.buffer),
        }
    }
}

/// Reports damage if there are lines, but the file `head` is missing or damaged.
fn head_damage(noted: Option<Result<Head, String>>, existed: bool, state: &State) -> Option<RecoveryRecord> {
    let message = match noted {
        Some(Ok(_)) => return None,
        None if !existed => return None,
        None => "the file `head` with the last line numbers is missing".to_owned(),
        Some(Err(error)) => format!("the file `head` with the last line numbers is damaged: {error}"),
    };
    let (stream, file, seq) = (Stream::Notable, "head".to_owned(), state.notable.last().seq);
    Some(RecoveryRecord {
        stream,
        file: file.into(),
        cut_bytes: 0,
        lost: true,
        after_seq: seq,
        up_to_seq: seq,
        message: message.into(),
    })
}

fn prepare_dir(dir: &Path) -> Result<(), AuditError> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(AuditError::io("create", dir))?;
    let mode = fs::metadata(dir).map_err(AuditError::io("read", dir))?.permissions().mode();
    if mode & 0o777 != 0o700 {
        fs::set_permissions(dir, Permissions::from_mode(0o700)).map_err(AuditError::io("restrict", dir))?;
    }
    Ok(())
}

fn lock(dir: &Path) -> Result<File, AuditError> {
    let path = dir.join("lock");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    let file = open_with(&mut options, &path, Links::Refused).map_err(AuditError::io("open", &path))?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(Errno::WOULDBLOCK) => Err(AuditError::Locked { dir: dir.to_owned() }),
        Err(error) => Err(AuditError::io("lock", &path)(error.into())),
    }
}
