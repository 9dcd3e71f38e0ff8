//! [`is_from_person`]: the source of a prompt, by the processes. It must not know the prompt.

use std::collections::HashMap;

use super::Calls;
use crate::limits::{ANCESTORS_MAX, PROMPT_HOOK_AGE_S_MAX};
use crate::platform::{START_TIMES_ARE_MONOTONIC, start_clock};
use crate::process::Process;

/// Reports whether the agent itself, and nothing that its calls have started, ran the hook process `hook`.
///
/// Any process below the agent that a call may have started could have become this hook (`exec`), or could be its
/// parent. A hook of the agent starts after all calls have ended, and just before it reports the prompt.
///
/// Where start times follow the wall clock, a process of a call may seem older than the call. No prompt counts there.
pub(crate) fn is_from_person(agent: u32, hook: u32, calls: &Calls) -> bool {
    START_TIMES_ARE_MONOTONIC && is_quiet(&Process::all(), (agent, hook), calls, start_clock())
}

/// `now` is the time and the units of a second.
fn is_quiet(all: &[Process], (agent, hook): (u32, u32), calls: &Calls, now: (u64, u64)) -> bool {
    let (now, per_second) = now;
    let parents: HashMap<u32, u32> = all.iter().map(|process| (process.pid, process.parent)).collect();
    let is_below = |process: &&Process| {
        let above = std::iter::successors(Some(process.parent), |pid| parents.get(pid).copied());
        above.take(ANCESTORS_MAX).take_while(|pid| *pid != 0).any(|pid| pid == agent)
    };
    let below: Vec<&Process> = all.iter().filter(is_below).collect();
    let is_new = |process: &&Process| {
        process.pid == hook
            && process.started > calls.last
            && process.started.saturating_add(PROMPT_HOOK_AGE_S_MAX.saturating_mul(per_second)) >= now
    };
    below.iter().copied().any(|process| is_new(&process))
        && !below.iter().any(|process| calls.may_have_started(process.started))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Processes as pid, parent and start. The agent is 10, the hook 20.
    fn check(rows: &[(u32, u32, u64)], calls: &Calls, expected: bool) {
        let process = |(pid, parent, started): &(u32, u32, u64)| Process {
            pid: *pid,
            parent: *parent,
            session: 1,
            terminal: 1,
            started: *started,
            name: "x".to_owned(),
        };
        let all: Vec<Process> = rows.iter().map(process).collect();
        assert_eq!(is_quiet(&all, (10, 20), calls, (1000, 100)), expected, "{rows:?} {calls:?}");
    }

    #[test]
    fn a_prompt_comes_from_a_hook_that_no_call_can_have_started() {
        let calls = Calls { open: Vec::new(), first: Some(500), last: 800 };
        let agent = (10, 1, 100);
        check(&[agent, (20, 10, 990)], &Calls::default(), true);
        check(&[agent, (20, 10, 990)], &calls, true);
        // The hook runs below a shell of the agent.
        check(&[agent, (15, 10, 989), (20, 15, 990)], &calls, true);
        // A server of the agent from before the first call, and a hook of another program.
        check(&[agent, (11, 10, 120), (20, 10, 990), (21, 10, 990)], &calls, true);
        // A job of a call, which may be its parent, its grandparent, or anything below the agent.
        check(&[agent, (15, 10, 700), (20, 15, 990)], &calls, false);
        check(&[agent, (15, 10, 700), (16, 15, 980), (20, 16, 990)], &calls, false);
        check(&[agent, (15, 10, 700), (20, 10, 990)], &calls, false);
        // The bounds belong to the calls.
        check(&[agent, (15, 10, 500), (20, 10, 990)], &calls, false);
        check(&[agent, (15, 10, 800), (20, 10, 990)], &calls, false);
        check(&[agent, (15, 10, 499), (20, 10, 990)], &calls, true);
        // A job that became the hook, and a server of the agent that did.
        check(&[agent, (20, 10, 700)], &calls, false);
        check(&[agent, (20, 10, 120)], &calls, false);
        check(&[agent, (20, 10, 120)], &Calls::default(), false);
        // A hook that is not below the agent, and one that has ended.
        check(&[agent, (20, 1, 990)], &calls, false);
        check(&[agent], &calls, false);
        // A circle of parents.
        check(&[agent, (20, 21, 990), (21, 20, 990)], &calls, false);
    }
}
