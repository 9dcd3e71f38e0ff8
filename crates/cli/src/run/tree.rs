//! The processes below this one: their list, their end. A process that leaves its group or session, or
//! whose parent ends, stays below: this process adopts it (`platform::adopt`).

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::Instant;

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, wait};

use crate::limits::{END_GRACE, END_TIME, POLL};
use crate::platform::{self, Listed, listed};

/// A process, safe against a reused id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Process {
    pid: i32,
    started: u64,
}

/// Returns the start of a process; `None` if it is gone.
pub(crate) fn start_of(pid: i32) -> Option<u64> {
    platform::process(pid).map(|found| found.started)
}

/// Waits for the end of a child. Collects each other child that ends before.
pub(crate) fn wait_for(child: Pid) -> io::Result<WaitStatus> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == child && (status.exited() || status.signaled()) => {
                return Ok(status);
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Ends every descendant: SIGTERM, then SIGKILL. Returns those that remain.
pub(crate) fn end_all() -> Vec<i32> {
    let begun = Instant::now();
    let (mut asked, mut empty) = (BTreeSet::new(), 0);
    loop {
        let left = descendants(getpid().as_raw_pid(), &listed());
        // A process whose parent ended during the list may be missing in it.
        empty = if left.is_empty() { empty + 1 } else { 0 };
        if empty == 2 {
            return Vec::new();
        }
        let age = begun.elapsed();
        if age > END_GRACE + END_TIME {
            return left.into_iter().map(|process| process.pid).collect();
        }
        for process in left {
            if age > END_GRACE {
                send(process, Signal::KILL);
            } else if asked.insert(process) {
                send(process, Signal::TERM);
            }
        }
        std::thread::sleep(if empty > 0 { std::time::Duration::ZERO } else { POLL });
    }
}

/// Collects the children that have ended, so that they leave the list of processes with this one.
pub(crate) fn collect() {
    while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
}

/// Sends a signal, unless the process has ended meanwhile and another one has its id.
fn send(process: Process, signal: Signal) {
    platform::send_signal(process.pid, signal, || start_of(process.pid) == Some(process.started));
}

fn descendants(root: i32, all: &[Listed]) -> Vec<Process> {
    let mut children: BTreeMap<i32, Vec<&Listed>> = BTreeMap::new();
    for process in all {
        children.entry(process.parent).or_default().push(process);
    }
    let (mut found, mut open) = (Vec::new(), vec![root]);
    while let Some(parent) = open.pop() {
        // Removed, so that wrong parents cannot make a circle.
        for child in children.remove(&parent).unwrap_or_default() {
            open.push(child.pid);
            if !child.is_ended {
                found.push(Process { pid: child.pid, started: child.started });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descendants_are_found_through_ended_parents_and_in_circles() {
        let stat = |pid, parent, is_ended| Listed { pid, started: 1, parent, is_ended };
        let all =
            [stat(2, 1, false), stat(3, 2, true), stat(4, 3, false), stat(5, 9, false), stat(8, 8, false)];
        let mut pids: Vec<i32> = descendants(1, &all).into_iter().map(|process| process.pid).collect();
        pids.sort_unstable();
        assert_eq!(pids, [2, 4]);
        assert_eq!(descendants(8, &all).len(), 1);
    }
}
