//! A note for the next daemon about a call or event that was answered without one, so that the record shows the gap.

use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::time::{SystemTime, UNIX_EPOCH};

use castellan_wire::{GAPS_BYTES_MAX, Gap};

use crate::args::Args;
use crate::failure::Failure;
use crate::sys;

/// Writes a note. A failure is ignored, because the hook has answered already.
pub(crate) fn note(args: &Args, failure: Failure) {
    if let Ok(path) = CString::new(args.home.gaps().as_os_str().as_bytes()) {
        append(&path, line(args, failure).as_bytes());
    }
}

/// Appends a line to the notes, unless the file is full. Safe in a signal handler.
pub(crate) fn append(gaps: &CStr, line: &[u8]) {
    sys::append_raw(gaps, line, GAPS_BYTES_MAX);
}

pub(crate) fn line(args: &Args, failure: Failure) -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let gap = Gap {
        unix_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
        agent: args.agent.clone(),
        event: args.event.clone(),
        parent_pid: std::os::unix::process::parent_id(),
        failure: failure.word().to_owned(),
    };
    gap.to_string()
}
