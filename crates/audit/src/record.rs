//! The records of the log in format version 2. Version 1 has numbers where version 2 has strings of digits ([`wide`]).
//!
//! These structs are the file format and nothing else. Keys keep their order. A new version may add keys: readers take
//! absent keys as empty and skip unknown ones. Any other change needs a new version number. Strings are redacted and
//! cut while they are written, and long lists end early, so a record that is read back may be shorter than the appended
//! one.

mod call;
mod operation;
mod session;

use std::fmt;

use castellan_event::Verdict;
use serde::{Deserialize, Serialize};

pub use call::{CallRecord, FileRecord, FindingRecord, MarkRecord, ObligationRecord, WorldRecord};
pub use operation::{
    ControlRecord, Cut, FailureRecord, GapRecord, RecoveryRecord, RetentionRecord, UngovernedRecord,
};
pub use session::{ScriptRecord, SessionRecord};

/// The stream, with its own files, that a record goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// Allowed and deferred calls, and notices of sessions. These are many; their size limits how long they are kept.
    Routine,
    /// Everything that a person may ask about later; kept for a number of days.
    Notable,
}

impl Stream {
    /// Both streams.
    pub const ALL: [Stream; 2] = [Stream::Routine, Stream::Notable];

    /// Returns the word used in file names and records.
    pub fn as_str(self) -> &'static str {
        match self {
            Stream::Routine => "routine",
            Stream::Notable => "notable",
        }
    }
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The contents of one line. Serialized under the key [`Record::kind`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all records are calls, and they are not kept in memory"
)]
pub enum Record {
    /// A judged tool call.
    Call(CallRecord),
    /// A notice of an agent that precedes no call: a prompt, the start or end of a session, a completed call.
    Session(SessionRecord),
    /// A request on the control socket.
    Control(ControlRecord),
    /// A failure of castellan itself.
    Failure(FailureRecord),
    /// A call that ran without a matching decision, or a setting that makes such calls possible.
    Ungoverned(UngovernedRecord),
    /// Events that were not recorded while the daemon was not running.
    Gap(GapRecord),
    /// A segment that castellan deletes. The log itself writes this record.
    Retention(RetentionRecord),
    /// Damage that the log found in its own files. The log itself writes this record.
    Recovery(RecoveryRecord),
}

impl Record {
    /// Returns the word in the line's `type`, which is also the key of the record.
    pub fn kind(&self) -> &'static str {
        match self {
            Record::Call(_) => "call",
            Record::Session(_) => "session",
            Record::Control(_) => "control",
            Record::Failure(_) => "failure",
            Record::Ungoverned(_) => "ungoverned",
            Record::Gap(_) => "gap",
            Record::Retention(_) => "retention",
            Record::Recovery(_) => "recovery",
        }
    }

    /// Returns the record's stream. A call with an unknown verdict is notable.
    pub fn stream(&self) -> Stream {
        match self {
            Record::Call(call) => match call.verdict.parse() {
                Ok(Verdict::Allow | Verdict::Defer) => Stream::Routine,
                Ok(Verdict::Ask | Verdict::Deny) | Err(_) => Stream::Notable,
            },
            Record::Session(session) if session.scripts.is_empty() => Stream::Routine,
            Record::Session(_) => Stream::Notable,
            Record::Control(_)
            | Record::Failure(_)
            | Record::Ungoverned(_)
            | Record::Gap(_)
            | Record::Retention(_)
            | Record::Recovery(_) => Stream::Notable,
        }
    }
}
