//! [`Ancestors`]: the processes above a process, read so that a reused process id is not taken for a parent. It must not
//! know the meaning of a process.

use crate::limits::{ANCESTORS_MAX, ANCESTRY_READS_MAX};
use crate::peers::AgentProcess;
use crate::process::Process;

/// A process and the processes above it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ancestors {
    /// The process itself, its parent, and so on. Without the end if that is unreadable.
    pub(crate) chain: Vec<AgentProcess>,
    /// The chain ends at a process without a parent. Otherwise any process may be above it.
    pub(crate) is_whole: bool,
}

impl Ancestors {
    /// Reads the ancestors of a process. A process that has ended has unknown ancestors.
    pub(crate) fn of(process: AgentProcess) -> Ancestors {
        Ancestors::read(process, Process::read)
    }

    fn read(process: AgentProcess, read: impl Fn(u32) -> Option<Process>) -> Ancestors {
        let mut found = Ancestors { chain: Vec::new(), is_whole: false };
        // A process of the chain may end meanwhile; its child then has another parent.
        for _ in 0..ANCESTRY_READS_MAX {
            found = climb(process, &read);
            if found.is_whole {
                break;
            }
        }
        found
    }
}

/// Climbs once to the top.
fn climb(first: AgentProcess, read: &impl Fn(u32) -> Option<Process>) -> Ancestors {
    let mut chain = Vec::new();
    let mut child = read(first.pid).filter(|process| process.pid != 0 && process.started == first.started);
    while let Some(process) = child.take().filter(|_| chain.len() < ANCESTORS_MAX) {
        chain.push(AgentProcess { pid: process.pid, started: process.started });
        if process.parent == 0 {
            return Ancestors { chain, is_whole: true };
        }
        let parent = read(process.parent);
        // While the child still names the parent, the parent lives, and so no other process had its id.
        let is_unchanged =
            |again: Process| (again.started, again.parent) == (process.started, process.parent);
        child = parent.filter(|_| read(process.pid).is_some_and(is_unchanged));
    }
    Ancestors { chain, is_whole: false }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Pid, parent, start time.
    type Row = (u32, u32, u64);

    fn process((pid, parent, started): Row) -> Process {
        Process { pid, parent, session: pid, terminal: 0, started, name: String::new() }
    }

    fn id((pid, _, started): Row) -> AgentProcess {
        AgentProcess { pid, started }
    }

    fn check(rows: &[Row], of: AgentProcess, expected: (&[u32], bool)) {
        let read = |pid: u32| rows.iter().find(|row| row.0 == pid).copied().map(process);
        let found = Ancestors::read(of, read);
        let pids: Vec<u32> = found.chain.iter().map(|process| process.pid).collect();
        assert_eq!((pids.as_slice(), found.is_whole), expected, "{rows:?} {of:?}");
    }

    #[test]
    fn a_chain_is_whole_only_up_to_a_process_without_a_parent() {
        let rows = [(1, 0, 1), (5, 1, 2), (9, 5, 3)];
        check(&rows, id(rows[2]), (&[9, 5, 1], true));
        check(&rows, id(rows[0]), (&[1], true));
        // A process of this id that started at another time.
        check(&rows, AgentProcess { pid: 9, started: 4 }, (&[], false));
        check(&rows, AgentProcess::default(), (&[], false));
        // A parent that cannot be read.
        check(&[(5, 1, 2), (9, 5, 3)], AgentProcess { pid: 9, started: 3 }, (&[9, 5], false));
        // A circle, and a chain over the limit.
        check(&[(5, 9, 2), (9, 5, 3)], AgentProcess { pid: 77, started: 3 }, (&[], false));
        let long: Vec<Row> = (1..=ANCESTORS_MAX as u32 + 1).map(|pid| (pid, pid - 1, 1)).collect();
        assert!(
            !Ancestors::read(id(long[ANCESTORS_MAX]), |pid| long
                .iter()
                .find(|row| row.0 == pid)
                .copied()
                .map(process))
            .is_whole
        );
    }

    /// Process 5 ends after it was read as a parent: process 9 then belongs to process 3.
    #[test]
    fn a_process_that_loses_its_parent_meanwhile_is_read_again() {
        let reads = Cell::new(0);
        let read = |pid: u32| {
            reads.set(reads.get() + 1);
            let is_late = reads.get() > 2;
            let rows =
                if is_late { [(1, 0, 1), (3, 1, 1), (9, 3, 2)] } else { [(1, 0, 1), (5, 1, 2), (9, 5, 2)] };
            rows.into_iter().find(|row| row.0 == pid).map(process)
        };
        let found = Ancestors::read(AgentProcess { pid: 9, started: 2 }, read);
        assert!(found.is_whole);
        assert_eq!(found.chain.iter().map(|process| process.pid).collect::<Vec<_>>(), [9, 3, 1]);
    }

    #[test]
    fn this_process_has_ancestors() {
        let own = Process::read(std::process::id()).unwrap();
        let found = Ancestors::of(AgentProcess { pid: own.pid, started: own.started });
        assert!(found.is_whole && found.chain.len() > 1, "{found:?}");
        assert_eq!(found.chain[1].pid, std::os::unix::process::parent_id());
    }
}
