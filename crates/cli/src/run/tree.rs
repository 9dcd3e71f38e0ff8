//! The processes below this one: their adoption, their list, their end. A process that leaves its group or session, or
//! whose parent ends, stays below: this process adopts it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::time::Instant;

use castellan_files::read_text;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpid, pidfd_open, pidfd_send_signal,
    set_child_subreaper, wait,
};

use crate::limits::{END_GRACE, END_TIME, POLL, STAT_BYTES_MAX};

/// A process, safe against a reused id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Process {
    pid: i32,
    /// Ticks since the start of the machine.
    started: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    process: Process,
    parent: i32,
    /// The process has ended, and its parent has not noticed.
    is_ended: bool,
}

/// Makes this process the parent of every descendant whose own parent ends.
pub(crate) fn adopt() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Returns the ticks at which a process began, since the start of the machine; `None` if it is gone.
pub(crate) fn start_of(pid: i32) -> Option<u64> {
    stat(pid).map(|found| found.process.started)
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
        let left = descendants(getpid().as_raw_pid(), &running());
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
    let opened = Pid::from_raw(process.pid).map(|pid| pidfd_open(pid, PidfdFlags::empty()));
    if let Some(Ok(opened)) = opened
        && stat(process.pid).is_some_and(|now| now.process == process)
    {
        let _ended_meanwhile = pidfd_send_signal(opened, signal);
    }
}

fn descendants(root: i32, all: &[Stat]) -> Vec<Process> {
    let mut children: BTreeMap<i32, Vec<&Stat>> = BTreeMap::new();
    for stat in all {
        children.entry(stat.parent).or_default().push(stat);
    }
    let (mut found, mut open) = (Vec::new(), vec![root]);
    while let Some(parent) = open.pop() {
        // Removed, so that wrong parents cannot make a circle.
        for stat in children.remove(&parent).unwrap_or_default() {
            open.push(stat.process.pid);
            if !stat.is_ended {
                found.push(stat.process);
            }
        }
    }
    found
}

fn running() -> Vec<Stat> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| stat(entry.file_name().to_str()?.parse().ok()?)).collect()
}

fn stat(pid: i32) -> Option<Stat> {
    parse(pid, &read_text(Path::new(&format!("/proc/{pid}/stat")), STAT_BYTES_MAX).ok()?)
}

/// Reads `PID (NAME) STATE PARENT ...`. The name may contain anything.
fn parse(pid: i32, text: &str) -> Option<Stat> {
    let (_, after) = text.rsplit_once(')')?;
    let mut fields = after.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let started = fields.nth(17)?.parse().ok()?;
    Some(Stat { process: Process { pid, started }, parent, is_ended: matches!(state, "Z" | "X" | "x") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stat_is_read_past_any_name() {
        let rest = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 4242 0";
        let check = |text: String, expected: Option<(i32, bool, u64)>| {
            let got = parse(7, &text).map(|stat| (stat.parent, stat.is_ended, stat.process.started));
            assert_eq!(got, expected, "{text}");
        };
        check(format!("7 (sh) S 3 {rest}"), Some((3, false, 4242)));
        check(format!("7 (a) Z 9) R 3 {rest}"), Some((3, false, 4242)));
        check(format!("7 (sh) Z 3 {rest}"), Some((3, true, 4242)));
        check("7 (sh) S 3".to_owned(), None);
        check("7 sh S".to_owned(), None);
    }

    #[test]
    fn descendants_are_found_through_ended_parents_and_in_circles() {
        let stat = |pid, parent, is_ended| Stat { process: Process { pid, started: 1 }, parent, is_ended };
        let all =
            [stat(2, 1, false), stat(3, 2, true), stat(4, 3, false), stat(5, 9, false), stat(8, 8, false)];
        let mut pids: Vec<i32> = descendants(1, &all).into_iter().map(|process| process.pid).collect();
        pids.sort_unstable();
        assert_eq!(pids, [2, 4]);
        assert_eq!(descendants(8, &all).len(), 1);
    }

    #[test]
    fn this_process_has_a_parent_and_a_start() {
        let own = getpid().as_raw_pid();
        let found = stat(own).unwrap();
        assert!(found.parent > 0 && found.process.started > 0 && !found.is_ended);
        assert_eq!(stat(i32::MAX), None);
    }
}
