//! Waits for the end: of the sandbox in the launcher, of every process in the first process of the namespace.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use castellan_sandbox::{Message, Plan, limits};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, wait, waitpid};

use crate::linux::control::Control;
use crate::linux::error::{Result, failed};
use crate::linux::sys;

/// Exit code at the end of the time, as that of `timeout`.
const OUT_OF_TIME: u8 = 124;

/// Bytes of `struct signalfd_siginfo`.
const SIGNAL_BYTES: usize = 128;

/// Bytes of a list of children that are read at once; the rest of a longer list is read at the next look. A number that is cut
/// names no child of the launcher, or another one.
const CHILDREN_BYTES: usize = 64 * 1024;

/// Milliseconds between two looks for processes that are left.
const LOOK_MS: u64 = 2;

/// The end of a sandbox.
pub(crate) struct End {
    pub(crate) code: u8,
    out_of_time: bool,
    left: bool,
}

impl End {
    pub(crate) fn message(&self) -> Message {
        Message::Ended { code: self.code, out_of_time: self.out_of_time, left: self.left }
    }
}

/// Waits until the child has ended, its time is over, or the caller is gone. `None` if the caller is gone.
pub(crate) fn until_end(control: &Control, plan: &Plan, child: Pid) -> Result<Option<End>> {
    let signals = sys::signals().map_err(|errno| failed("read signals", "", errno))?;
    let deadline = plan.wall_ms.and_then(|ms| Instant::now().checked_add(Duration::from_millis(ms)));
    let mut code = None;
    let mut out_of_time = false;
    let mut gone = false;
    while code.is_none() {
        let mut watched = [
            PollFd::new(&signals, PollFlags::IN),
            PollFd::from_borrowed_fd(control.as_fd(), PollFlags::empty()),
        ];
        let rest = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let rest = rest.and_then(|rest| Timespec::try_from(rest).ok());
        match poll(&mut watched, rest.as_ref()) {
            Ok(0) => out_of_time = true,
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(failed("wait", "", errno)),
        }
        let [of_signals, of_caller] = &watched;
        gone = !of_caller.revents().is_empty();
        if out_of_time || gone {
            let _ = kill_process(child, Signal::KILL);
            code = Some(reap(child));
        } else if !of_signals.revents().is_empty() {
            code = on_signal(&signals, child, plan.terminal, plan.namespaces.is_none());
        }
    }
    let left = plan.namespaces.is_none() && !end_leftover();
    let code = if out_of_time { OUT_OF_TIME } else { code.unwrap_or(125) };
    Ok((!gone).then_some(End { code, out_of_time, left }))
}

/// Handles one signal. Returns the exit code if the child has ended.
fn on_signal(signals: &OwnedFd, child: Pid, terminal: bool, adopts: bool) -> Option<u8> {
    let (number, code) = read_signal(signals)?;
    if number != libc::SIGCHLD {
        // A key of the terminal has reached the command already: it is in the same foreground group.
        let from_terminal = code > 0 && terminal;
        if !from_terminal {
            sys::kill(child, number);
        }
        return None;
    }
    loop {
        let found =
            if adopts { wait(WaitOptions::NOHANG) } else { waitpid(Some(child), WaitOptions::NOHANG) };
        match found {
            Ok(Some((process, status))) if process == child => return Some(exit_code(status)),
            Ok(Some(_)) => {}
            Ok(None) => return None,
            Err(_) => return Some(125),
        }
    }
}

/// Returns the number of a signal and its cause (`si_code`).
fn read_signal(signals: &OwnedFd) -> Option<(i32, i32)> {
    let mut info = [0_u8; SIGNAL_BYTES];
    let read = rustix::io::read(signals, &mut info).ok()?;
    let (number, rest) = info.get(..read)?.split_first_chunk::<4>()?;
    let code = rest.get(4..)?.first_chunk::<4>()?;
    Some((i32::from_ne_bytes(*number), i32::from_ne_bytes(*code)))
}

fn reap(child: Pid) -> u8 {
    loop {
        match waitpid(Some(child), WaitOptions::empty()) {
            Ok(Some((_, status))) => return exit_code(status),
            Err(Errno::INTR) | Ok(None) => {}
            Err(_) => return 125,
        }
    }
}

fn exit_code(status: WaitStatus) -> u8 {
    let code = status.exit_status().or_else(|| status.terminating_signal().map(|signal| signal + 128));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(125)
}

/// The first process of the namespace: reaps, passes signals on, and ends with the command. The kernel then ends the rest.
pub(crate) fn as_first(command: Pid) -> u8 {
    let Ok(signals) = sys::signals() else { return 125 };
    loop {
        let Some((number, cause)) = read_signal(&signals) else { continue };
        if number != libc::SIGCHLD {
            // The kernel sends a key of the terminal to the command, too: both are in the foreground group.
            if cause <= 0 {
                sys::kill(command, number);
            }
            continue;
        }
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((process, status))) if process == command => return exit_code(status),
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => break,
            }
        }
    }
}

/// Ends the processes that the command left: the launcher has adopted them. Returns whether all have ended.
fn end_leftover() -> bool {
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(limits::LEFTOVER_MS) {
        match wait(WaitOptions::NOHANG) {
            Err(Errno::CHILD) => return true,
            Ok(Some(_)) | Err(_) => continue,
            Ok(None) => {}
        }
        for child in children() {
            let _ = kill_process(child, Signal::KILL);
        }
        let pause = Timespec { tv_sec: 0, tv_nsec: (LOOK_MS * 1_000_000).cast_signed() };
        let _ = poll(&mut [], Some(&pause));
    }
    false
}

/// Children of this process. Their own children come here when they end.
fn children() -> Vec<Pid> {
    let own = rustix::process::getpid().as_raw_pid();
    let path = format!("/proc/self/task/{own}/children");
    let mut list = vec![0_u8; CHILDREN_BYTES];
    let opened = openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    let read = opened.and_then(|file| rustix::io::read(&file, &mut list)).unwrap_or(0);
    let list = String::from_utf8_lossy(list.get(..read).unwrap_or_default());
    list.split_whitespace().filter_map(|word| word.parse().ok().and_then(Pid::from_raw)).collect()
}
