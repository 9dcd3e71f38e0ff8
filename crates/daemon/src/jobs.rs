//! [`Jobs`]: processes that the commands of calls may have left running. It must not know calls.

use std::collections::{HashMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::ancestors::Ancestors;
use crate::peers::AgentProcess;
use crate::platform::{control_group, executable_file, own_executable_file};
use crate::process::{Process, has_ended};
use crate::sight;

/// The begin of a call. The processes of its commands start later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Start {
    /// Ticks since the boot.
    pub(crate) ticks: u64,
    /// The control group of the agent, which its commands inherit; `None` if it is not known.
    pub(crate) group: Option<String>,
    /// The processes above the agent that get the orphans of its commands.
    pub(crate) adopters: Vec<u32>,
    /// The same moment as `ticks`, which are 10 ms long; `None` in a call of a daemon before this one.
    #[serde(skip)]
    pub(crate) moment: Option<Instant>,
}

impl Start {
    /// The begin of two calls that are stored as one.
    pub(crate) fn of_both(self, other: Start) -> Start {
        let group = self.group.filter(|group| Some(group) == other.group.as_ref());
        let mut adopters = self.adopters;
        adopters.extend(other.adopters);
        adopters.sort_unstable();
        adopters.dedup();
        // The processes that were read before the later of both do not show its commands.
        Start { ticks: self.ticks.min(other.ticks), group, adopters, moment: self.moment.max(other.moment) }
    }
}

/// The processes of this machine at one moment.
#[derive(Debug)]
pub(crate) struct Jobs {
    /// By process id.
    all: HashMap<u32, Process>,
    /// The time before they were read.
    read_at: Instant,
    /// Processes that carry a request to castellan, and those above them. No command of an earlier call.
    carriers: HashSet<u32>,
    /// Neither they nor the processes below them run code that castellan must wait for: contained commands, and the daemon.
    apart: HashSet<u32>,
}

impl Jobs {
    /// Reads the processes. `carrier`: the one that carries the present request. `contained`: those that run contained
    /// commands.
    pub(crate) fn read(carrier: Option<AgentProcess>, contained: &[AgentProcess]) -> Jobs {
        let read_at = Instant::now();
        let carriers = carrier.map(|carrier| Ancestors::of(carrier).chain).unwrap_or_default();
        Jobs {
            read_at,
            all: Process::all().into_iter().map(|process| (process.pid, process)).collect(),
            carriers: carriers.into_iter().map(|process| process.pid).collect(),
            apart: contained.iter().map(|process| process.pid).chain([std::process::id()]).collect(),
        }
    }

    /// Reports whether a command of a call may run. `agents`: those of its session.
    pub(crate) fn may_run(&self, agents: &[AgentProcess], start: &Start) -> bool {
        // It began after the processes were read.
        start.moment.is_some_and(|moment| moment >= self.read_at)
            || self.has_job(agents, start, |pid| !has_ended(pid) && !is_castellan(pid), group_of)
    }

    fn has_job(
        &self,
        agents: &[AgentProcess],
        start: &Start,
        runs: impl Fn(u32) -> bool,
        group: impl Fn(u32) -> Option<String>,
    ) -> bool {
        let agents: Vec<u32> = agents.iter().filter(|agent| self.is(agent)).map(|agent| agent.pid).collect();
        let is_in_group = |pid: u32| match (&start.group, group(pid)) {
            (Some(known), Some(found)) => *known == found,
            (_, _) => true,
        };
        let later = self.all.values().filter(|process| process.started >= start.ticks);
        let mut jobs = later.filter(|process| {
            let chain = self.chain(process.pid);
            if self.carriers.contains(&process.pid) || chain.iter().any(|pid| self.apart.contains(pid)) {
                return false;
            }
            let is_below = chain.iter().any(|pid| agents.contains(pid)) && !agents.contains(&process.pid);
            is_below || self.is_orphan(&chain, start) && is_in_group(process.pid)
        });
        jobs.any(|process| runs(process.pid))
    }

    /// Reports whether a process may be an orphan of a call: the first process above it that is older than the call gets the
    /// orphans of the agent, or is gone.
    fn is_orphan(&self, chain: &[u32], start: &Start) -> bool {
        let is_older = |pid: &&u32| self.all.get(pid).is_none_or(|process| process.started < start.ticks);
        chain.iter().find(is_older).is_none_or(|pid| start.adopters.contains(pid))
    }

    fn is(&self, process: &AgentProcess) -> bool {
        self.all.get(&process.pid).is_some_and(|found| found.started == process.started)
    }

    /// Returns a process and those above it.
    fn chain(&self, pid: u32) -> Vec<u32> {
        let mut chain = Vec::new();
        let mut next = self.all.get(&pid);
        while let Some(process) = next.filter(|process| !chain.contains(&process.pid)) {
            chain.push(process.pid);
            next = self.all.get(&process.parent);
        }
        chain
    }
}

fn group_of(pid: u32) -> Option<String> {
    control_group(pid).map(|group| String::from_utf8_lossy(&group).into_owned())
}

/// Reports whether a process runs this program, as the daemon of another home does.
fn is_castellan(pid: u32) -> bool {
    let file = |path: std::io::Result<PathBuf>| {
        path.and_then(sight::metadata).ok().map(|found| (found.dev(), found.ino()))
    };
    file(executable_file(pid)).is_some_and(|found| Some(found) == file(own_executable_file()))
}

/// Returns the begin of a call of an agent, before it is answered.
pub(crate) fn start_of_call(agent: AgentProcess) -> Start {
    let ((ticks, _), moment) = (crate::platform::start_clock(), Some(Instant::now()));
    let above = Ancestors::of(agent).chain;
    let adopters = above.iter().map(|process| process.pid).filter(|pid| *pid != agent.pid && adopts(*pid));
    Start { ticks, group: group_of(agent.pid), adopters: adopters.collect(), moment }
}

/// Reports whether a process may be the parent of orphans: the first process, a manager that it has started, such as that of a
/// user's services, and `castellan run`. The kernel tells nobody.
fn adopts(pid: u32) -> bool {
    Process::read(pid).is_none_or(|process| {
        process.pid == 1 || process.parent <= 1 || process.name.starts_with("castellan")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pid, parent, start time, control group.
    type Row = (u32, u32, u64, &'static str);

    /// The first process, a service of the user, a terminal with the agent, an editor, the daemon.
    const MACHINE: &[Row] =
        &[(1, 0, 1, "i"), (5, 1, 2, "u"), (9, 5, 3, "t"), (10, 9, 4, "t"), (20, 5, 3, "e"), (30, 5, 3, "d")];
    const AGENT: AgentProcess = AgentProcess { pid: 10, started: 4 };

    fn check(more: &[Row], agents: &[AgentProcess], expected: bool) {
        let rows: Vec<Row> = MACHINE.iter().chain(more).copied().collect();
        let process = |(pid, parent, started, _): &Row| {
            let (pid, parent, started) = (*pid, *parent, *started);
            (pid, Process { pid, parent, session: pid, terminal: 0, started, name: String::new() })
        };
        let jobs = Jobs {
            all: rows.iter().map(process).collect(),
            read_at: Instant::now(),
            carriers: HashSet::from([71, 70, 10, 9, 5, 1]),
            apart: HashSet::from([30, 40]),
        };
        let start = Start { ticks: 50, group: Some("t".to_owned()), adopters: vec![1, 5], moment: None };
        let group = |pid: u32| rows.iter().find(|row| row.0 == pid).map(|row| row.3.to_owned());
        assert_eq!(jobs.has_job(agents, &start, |_| true, group), expected, "{more:?} {agents:?}");
    }

    #[test]
    fn a_command_that_a_call_left_is_found() {
        let of_agent = &[AGENT];
        check(&[], of_agent, false);
        // Below the agent, in any group, also through an older process.
        check(&[(60, 10, 51, "t")], of_agent, true);
        check(&[(60, 10, 51, "other")], of_agent, true);
        check(&[(11, 10, 10, "t"), (60, 11, 51, "t")], of_agent, true);
        // Older than the call.
        check(&[(60, 10, 49, "t")], of_agent, false);
        // Orphans: their parent gets those of the agent, or is gone.
        check(&[(60, 1, 51, "t")], of_agent, true);
        check(&[(60, 5, 51, "t"), (61, 60, 52, "t")], of_agent, true);
        check(&[(60, 77, 51, "t")], of_agent, true);
        // Another command in the terminal of the agent.
        check(&[(60, 9, 51, "t")], of_agent, false);
        // Another program of the user: in another group, or of another older process.
        check(&[(60, 5, 51, "e")], of_agent, false);
        check(&[(60, 20, 51, "t")], of_agent, false);
        // Those that carry the request, the daemon's and contained ones.
        check(&[(70, 10, 90, "t"), (71, 70, 90, "t")], of_agent, false);
        check(&[(60, 30, 51, "d"), (40, 10, 51, "t"), (61, 40, 52, "t")], of_agent, false);
        // The agent has ended.
        check(&[(60, 5, 51, "t")], &[AgentProcess { pid: 10, started: 3 }], true);
        check(&[(60, 5, 51, "t")], &[], true);
        check(&[(60, 20, 51, "t"), (61, 5, 51, "e"), (62, 5, 49, "t")], &[], false);
    }

    #[test]
    fn a_process_of_this_machine_is_found_until_it_has_ended() {
        let own = Process::read(std::process::id()).unwrap();
        let agent = AgentProcess { pid: own.parent, ..AgentProcess::default() };
        let agent = AgentProcess { started: Process::read(agent.pid).unwrap().started, ..agent };
        let start = start_of_call(agent);
        let mut child =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        // This process is the daemon of the snapshot, so its child is none of a call.
        let mut jobs = Jobs::read(None, &[]);
        assert!(!jobs.has_job(&[agent], &start, |_| true, group_of));
        jobs.apart.clear();
        let of_child = |pid: u32| pid == child.id();
        assert!(jobs.has_job(&[agent], &start, of_child, group_of));
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(has_ended(child.id()));
        // A call that began after the processes were read; and one that began before, in the same tick or in another daemon.
        let gone = AgentProcess { started: agent.started + 1, ..agent };
        let none = Start { ticks: u64::MAX, ..start };
        let later = Start { moment: Some(Instant::now()), ..none.clone() };
        assert!(jobs.may_run(&[gone], &later));
        assert!(!jobs.may_run(&[gone], &none));
        assert!(!jobs.may_run(&[gone], &Start { moment: None, ..none.clone() }));
        assert!(jobs.may_run(&[gone], &later.of_both(none)));
    }
}
