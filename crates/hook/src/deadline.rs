//! The hook's own deadline, well below the agent's timeout. Agents run a call when its hook is late, or when a signal
//! ends or stops the hook.
//!
//! One signal handler covers both: it writes a prepared reply. So the deadline holds wherever the hook is stuck:
//! reading standard input, connecting to a daemon whose queue is full, or waiting for the answer.

use std::ffi::{CString, c_int};
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use castellan_wire::{HOLD_MS_MAX, Hold, Reply};

use crate::args::Args;
use crate::failure::{self, Failure};
use crate::gap;
use crate::sys;

#[derive(Debug)]
struct Prepared {
    started: Instant,
    reply: Reply,
    gaps: CString,
    gap_line: String,
}

static PREPARED: OnceLock<Prepared> = OnceLock::new();

/// Set while the hook writes its answer: no second answer may follow.
static ANSWERING: AtomicBool = AtomicBool::new(false);

pub(crate) fn arm(args: &Args) {
    let prepared = Prepared {
        started: Instant::now(),
        reply: failure::reply_for(&args.agent, &args.event, Failure::Deadline),
        gaps: CString::new(args.home.gaps().as_os_str().as_bytes()).unwrap_or_default(),
        gap_line: gap::line(args, Failure::Deadline),
    };
    if PREPARED.set(prepared).is_ok() {
        sys::call_on_ending_signals(on_signal);
        sys::alarm_after(failure::deadline_seconds(&args.agent, &args.event));
    }
}

/// Moves the deadline, because the daemon asked to hold. All holds together end before the agent's timeout.
pub(crate) fn hold(hold: Hold) {
    let elapsed = PREPARED.get().map_or(0, |prepared| prepared.started.elapsed().as_millis());
    let left = HOLD_MS_MAX.saturating_sub(u32::try_from(elapsed).unwrap_or(u32::MAX));
    sys::alarm_after(hold.ms.min(left).div_ceil(1000).max(1));
}

/// Marks that the hook writes its answer from now on.
pub(crate) fn answering() {
    ANSWERING.store(true, Ordering::SeqCst);
}

/// Runs inside a signal handler: no allocation, no lock, nothing but prepared bytes.
extern "C" fn on_signal(_number: c_int) -> ! {
    if ANSWERING.load(Ordering::SeqCst) {
        // Half an answer is on standard output. Exit 2 with a line on standard error blocks a call in spite of it.
        sys::write_raw(2, failure::OUTPUT_FAILED);
        sys::exit_now(2);
    }
    if let Some(prepared) = PREPARED.get() {
        sys::write_raw(1, &prepared.reply.stdout);
        sys::write_raw(2, &prepared.reply.stderr);
        gap::append(&prepared.gaps, prepared.gap_line.as_bytes());
        sys::exit_now(prepared.reply.exit);
    }
    sys::exit_now(2);
}
