//! L3: the record of castellan's decisions. One JSON line for each call, in two append-only streams. Each stream has
//! its own hash chain; the sequence numbers run over both.
//!
//! The crate owns one directory of files and nothing else: the clock is an argument, and the crate knows no sockets,
//! agents or rules. Only the daemon that holds the home's lock may write (a `flock` on the directory's `lock` file
//! defends this). Any process of the user may read, follow and verify.
//!
//! The chain shows a crash, a bad disk, or a change by someone who does not know the format. It is no proof against a
//! program of the same user: such a program can recompute the whole chain.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod about;
mod address;
mod clean;
mod copied;
mod error;
mod follow;
mod head;
mod limits;
mod line;
mod log;
mod newer;
mod read;
mod record;
mod redact;
mod retain;
mod scan;
mod segment;
mod span;
mod text;
mod verify;
pub mod wide;
mod writer;

pub use copied::{Copied, Copier, log_name};
pub use error::AuditError;
pub use follow::Follower;
pub use log::{Config, Log, Status};
pub use newer::newer_format;
pub use read::{Broken, Entry, Filter, Reading, answer_to, calls_since, last_control, last_files, read};
pub use record::{
    CallRecord, ControlRecord, Cut, FailureRecord, FileRecord, FindingRecord, GapRecord, MarkRecord,
    ObligationRecord, Record, RecoveryRecord, RetentionRecord, ScriptRecord, SessionRecord, Stream,
    UngovernedRecord, WorldRecord,
};
pub use redact::prepare;
pub use scan::{Scanned, scan};
pub use text::{Input, Text};
pub use verify::{Differing, Loss, Missing, StreamVerification, Verification, verify, verify_copied};
