//! Ends processes with everything below them: a request to end (`SIGTERM`), then `SIGKILL`. A process is identified by
//! its id and start time, so that no signal reaches another one. It must not know why the processes end.

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::limits::{KILL_POLL, KILL_TIME, TERM_TIME};
use crate::peers::AgentProcess;
use crate::platform;
use crate::process::{Process, has_ended};

/// The processes to end.
#[derive(Debug, Clone, Default)]
pub(crate) struct Targets {
    /// These, and everything below them.
    pub(crate) roots: Vec<AgentProcess>,
    /// Everything below these, but not they themselves.
    pub(crate) above: Vec<AgentProcess>,
    /// Neither these nor, unless named otherwise, what is below them.
    pub(crate) spared: Vec<AgentProcess>,
}

/// The result.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Endings {
    pub(crate) ended: Vec<Ending>,
    /// Processes that still run, with the reasons.
    pub(crate) left: Vec<(Ending, String)>,
}

/// A process that was to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) pid: u32,
    /// The kernel's name of the process.
    pub(crate) name: String,
    /// It was killed, because it did not end by itself.
    pub(crate) is_forced: bool,
}

/// A process that was found.
#[derive(Debug)]
struct Target {
    ending: Ending,
    is_asked: bool,
    problem: Option<String>,
}

/// The kernel's name of the hook's process.
const HOOK: &str = "castellan-hook";

/// Ends processes with everything below them. Looks for new ones until none is left or the time is over. A hook is only
/// killed after its agent: without its hook, an agent may run the call.
pub(crate) fn end_trees(targets: &Targets) -> Endings {
    let started = Instant::now();
    let mut found: BTreeMap<AgentProcess, Target> = BTreeMap::new();
    loop {
        let running = running(targets, &mut found);
        let passed = started.elapsed();
        if running.is_empty() || passed > TERM_TIME + KILL_TIME {
            break;
        }
        for process in running {
            if let Some(target) = found.get_mut(&process) {
                signal(process, target, passed);
            }
        }
        std::thread::sleep(KILL_POLL);
    }
    let mut endings = Endings::default();
    for (process, Target { ending, problem, .. }) in found {
        match runs(&process) {
            false => endings.ended.push(ending),
            true => endings.left.push((ending, problem.unwrap_or_else(|| "it does not end".to_owned()))),
        }
    }
    endings
}

/// Sends the signal that is due. A process that starts later starts below another one, so it follows in the order.
fn signal(process: AgentProcess, target: &mut Target, passed: Duration) {
    let signal = match passed < TERM_TIME {
        true if target.is_asked || target.ending.name == HOOK => return,
        true => Signal::TERM,
        false => Signal::KILL,
    };
    target.is_asked = true;
    target.ending.is_forced = signal == Signal::KILL;
    target.problem = send(process, signal).err().map(|error| error.to_string());
}

/// Adds the processes that are below the targets now. Returns all found ones that run, parents before children.
fn running(targets: &Targets, found: &mut BTreeMap<AgentProcess, Target>) -> Vec<AgentProcess> {
    let mut all = Process::all();
    // No process is older than its parent.
    all.sort_by_key(|process| (process.started, process.pid));
    let id = |process: &Process| AgentProcess { pid: process.pid, started: process.started };
    let ids: BTreeMap<u32, AgentProcess> = all.iter().map(|process| (process.pid, id(process))).collect();
    // Start times are coarse: a child may be listed before its parent.
    let mut is_more = true;
    while is_more {
        is_more = false;
        for process in &all {
            let own = id(process);
            if found.contains_key(&own) || targets.spared.contains(&own) {
                continue;
            }
            let parent = ids.get(&process.parent);
            let is_below = parent.is_some_and(|one| found.contains_key(one) || targets.above.contains(one));
            if is_below || targets.roots.contains(&own) {
                let ending = Ending { pid: own.pid, name: process.name.clone(), is_forced: false };
                found.insert(own, Target { ending, is_asked: false, problem: None });
                is_more = true;
            }
        }
    }
    all.iter().map(id).filter(|process| found.contains_key(process) && runs(process)).collect()
}

fn runs(process: &AgentProcess) -> bool {
    process.lives() && !has_ended(process.pid)
}

/// Sends a signal to a process of this user, and to no other process.
fn send(process: AgentProcess, signal: Signal) -> io::Result<()> {
    let own = rustix::process::geteuid().as_raw();
    if platform::owner(process.pid).is_some_and(|owner| owner != own) {
        return Err(io::Error::other("it is a process of another user"));
    }
    let pid = i32::try_from(process.pid).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    platform::send_signal(pid, signal, || process.lives())
}

#[cfg(test)]
mod tests;
