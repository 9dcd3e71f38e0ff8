//! The hook's own deadline, well below the agent's timeout: agents let a call through when a hook is late.
//!
//! It is an alarm signal whose handler writes a reply prepared beforehand, so it holds whatever the hook is stuck in:
//! reading standard input, connecting to a daemon whose queue is full, waiting for the answer.

use std::ffi::{CString, c_int};
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;

use castellan_wire::{HOLD_MS_MAX, Hold, Reply};

use crate::args::Args;
use crate::failure::{self, Failure};
use crate::gap;
use crate::limits::{CALL_SECONDS, MENTION_SECONDS, SESSION_END_SECONDS};
use crate::sys;

#[derive(Debug)]
struct Prepared {
    reply: Reply,
    gaps: CString,
    gap_line: String,
}

static PREPARED: OnceLock<Prepared> = OnceLock::new();

/// Starts the deadline.
pub(crate) fn arm(args: &Args) {
    let seconds = match args.event.as_str() {
        "SessionEnd" => SESSION_END_SECONDS,
        event if failure::precedes_no_call(&args.agent, event) => MENTION_SECONDS,
        _ => CALL_SECONDS,
    };
    let prepared = Prepared {
        reply: failure::reply_for(&args.agent, &args.event, Failure::Deadline),
        gaps: CString::new(args.home.gaps().as_os_str().as_bytes()).unwrap_or_default(),
        gap_line: gap::line(args, Failure::Deadline),
    };
    if PREPARED.set(prepared).is_ok() {
        sys::call_after(seconds, on_alarm);
    }
}

/// Moves the deadline: the daemon asked to hold.
pub(crate) fn hold(hold: Hold) {
    sys::call_after(hold.ms.min(HOLD_MS_MAX).div_ceil(1000).max(1), on_alarm);
}

/// Runs inside a signal handler: no allocation, no lock, nothing but prepared bytes.
extern "C" fn on_alarm(_signal: c_int) {
    if let Some(prepared) = PREPARED.get() {
        sys::write_raw(1, &prepared.reply.stdout);
        sys::write_raw(2, &prepared.reply.stderr);
        sys::append_raw(&prepared.gaps, prepared.gap_line.as_bytes());
        sys::exit_now(prepared.reply.exit);
    }
    sys::exit_now(2);
}
