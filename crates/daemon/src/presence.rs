//! The one check that every loosening request passes: is a person there?
//!
//! Here: the requesting process has a controlling terminal, and no guarded agent is among its ancestors. It keeps an agent
//! from loosening by a tool call; it is no proof against arbitrary code of the same user (see SECURITY.md).

use castellan_agents::AgentId;

use crate::limits::ANCESTORS_MAX;
use crate::process::Process;

/// Why a request was refused. The texts go to whoever asked, which may be an agent: they do not say how to get around.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No controlling terminal.
    #[error("this needs a person at a terminal")]
    NoTerminal,
    /// An agent is an ancestor.
    #[error("this cannot be done from within a guarded agent")]
    WithinAgent,
    /// The process or an ancestor cannot be seen.
    #[error("the requesting process cannot be identified")]
    Unidentified,
}

/// Checks the process `pid`; `guarded` tells whether a process, by pid and start time, is known as a guarded agent.
pub fn check(pid: u32, guarded: impl Fn(u32, u64) -> bool) -> Result<(), Refusal> {
    climb(pid, Process::read, |process| {
        guarded(process.pid, process.started) || process.program_names().iter().any(|name| is_agent(name))
    })
}

fn climb(
    pid: u32,
    read: impl Fn(u32) -> Option<Process>,
    is_guarded: impl Fn(&Process) -> bool,
) -> Result<(), Refusal> {
    let mut process = read(pid).ok_or(Refusal::Unidentified)?;
    if process.terminal == 0 {
        return Err(Refusal::NoTerminal);
    }
    for _ in 0..ANCESTORS_MAX {
        if is_guarded(&process) {
            return Err(Refusal::WithinAgent);
        }
        if process.parent == 0 {
            return Ok(());
        }
        process = read(process.parent).ok_or(Refusal::Unidentified)?;
    }
    Err(Refusal::Unidentified)
}

fn is_agent(name: &str) -> bool {
    let stem =
        [".js", ".cjs", ".mjs", ".exe"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    AgentId::ALL.iter().any(|agent| agent.word() == stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Process `n` has parent `n - 1`; `names` from pid 1 on.
    fn check(names: &[&str], terminal: i32, expected: Result<(), Refusal>) {
        let read = |pid: u32| {
            let name = names.get((pid as usize).checked_sub(1)?)?;
            Some(Process { pid, parent: pid - 1, terminal, started: 1, name: (*name).to_owned() })
        };
        let pid = u32::try_from(names.len()).unwrap();
        assert_eq!(climb(pid, read, |process| is_agent(&process.name)), expected, "{names:?}");
    }

    #[test]
    fn a_person_has_a_terminal_and_no_agent_above() {
        check(&["init", "sshd", "bash", "castellan"], 34816, Ok(()));
        check(&["init", "sshd", "bash", "castellan"], 0, Err(Refusal::NoTerminal));
        check(&["init", "bash", "claude", "bash", "castellan"], 34816, Err(Refusal::WithinAgent));
        check(&["init", "codex.js", "sh", "castellan"], 34816, Err(Refusal::WithinAgent));
        check(&["init", "claudette", "castellan"], 34816, Ok(()));
        check(&[""; 100], 34816, Err(Refusal::Unidentified));
        check(&[], 34816, Err(Refusal::Unidentified));
    }
}
