//! The one check that every loosening request passes: is a person there?
//!
//! Here: the requesting process has a controlling terminal; no guarded agent is above it or above the leader of its
//! session; and none runs at the same terminal. It keeps an agent from loosening by a tool call; it is no proof against
//! arbitrary code of the same user (see SECURITY.md).

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
    /// An agent runs at the same terminal.
    #[error("this cannot be done at a terminal where a guarded agent runs")]
    BesideAgent,
    /// The process or an ancestor cannot be seen.
    #[error("the requesting process cannot be identified")]
    Unidentified,
}

/// Checks the process `pid`; `guarded` tells whether a process, by pid and start time, is known as a guarded agent.
pub fn check(pid: u32, guarded: impl Fn(u32, u64) -> bool) -> Result<(), Refusal> {
    let is_agent = |process: &Process| {
        guarded(process.pid, process.started)
            || process.program_names().iter().any(|name| is_agent_name(name))
    };
    check_among(pid, Process::read, Process::all, is_agent)
}

fn check_among(
    pid: u32,
    read: impl Fn(u32) -> Option<Process>,
    all: impl Fn() -> Vec<Process>,
    is_agent: impl Fn(&Process) -> bool,
) -> Result<(), Refusal> {
    let process = read(pid).ok_or(Refusal::Unidentified)?;
    if process.terminal == 0 {
        return Err(Refusal::NoTerminal);
    }
    // An orphan has lost its ancestors; its session still leads to who opened the terminal.
    climb(process.session, &read, &is_agent)?;
    climb(pid, &read, &is_agent)?;
    let beside = all().into_iter().any(|other| other.terminal == process.terminal && is_agent(&other));
    if beside { Err(Refusal::BesideAgent) } else { Ok(()) }
}

fn climb(
    pid: u32,
    read: impl Fn(u32) -> Option<Process>,
    is_agent: impl Fn(&Process) -> bool,
) -> Result<(), Refusal> {
    let mut process = read(pid).ok_or(Refusal::Unidentified)?;
    for _ in 0..ANCESTORS_MAX {
        if is_agent(&process) {
            return Err(Refusal::WithinAgent);
        }
        if process.parent == 0 {
            return Ok(());
        }
        process = read(process.parent).ok_or(Refusal::Unidentified)?;
    }
    Err(Refusal::Unidentified)
}

fn is_agent_name(name: &str) -> bool {
    let stem =
        [".js", ".cjs", ".mjs", ".exe"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    AgentId::ALL.iter().any(|agent| agent.word() == stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One process: pid, parent, session, terminal, name. The last one asks.
    type Row = (u32, u32, u32, i32, &'static str);

    fn check(rows: &[Row], expected: Result<(), Refusal>) {
        let process = |(pid, parent, session, terminal, name): &Row| Process {
            pid: *pid,
            parent: *parent,
            session: *session,
            terminal: *terminal,
            started: 1,
            name: (*name).to_owned(),
        };
        let read = |pid: u32| rows.iter().find(|row| row.0 == pid).map(process);
        let all = || rows.iter().map(process).collect();
        let asking = rows.last().map_or(99, |row| row.0);
        let got = check_among(asking, read, all, |process| is_agent_name(&process.name));
        assert_eq!(got, expected, "{rows:?}");
    }

    const INIT: Row = (1, 0, 1, 0, "init");
    const SHELL: Row = (10, 1, 10, 7, "bash");

    #[test]
    fn a_person_has_a_terminal_and_no_agent_above() {
        check(&[INIT, SHELL, (11, 10, 10, 7, "castellan")], Ok(()));
        check(&[INIT, (10, 1, 10, 0, "bash"), (11, 10, 10, 0, "castellan")], Err(Refusal::NoTerminal));
        check(
            &[INIT, SHELL, (11, 10, 10, 7, "claude"), (12, 11, 10, 7, "castellan")],
            Err(Refusal::WithinAgent),
        );
        check(&[INIT, (10, 1, 10, 7, "codex.js"), (11, 10, 10, 7, "castellan")], Err(Refusal::WithinAgent));
        check(&[INIT, SHELL, (11, 10, 10, 7, "claudette"), (12, 11, 10, 7, "castellan")], Ok(()));
        check(&[(11, 10, 10, 7, "castellan")], Err(Refusal::Unidentified));
        check(&[], Err(Refusal::Unidentified));
    }

    #[test]
    fn an_orphan_is_judged_by_its_terminal() {
        // The agent's background job, whose shell has ended, at the user's own terminal.
        check(
            &[INIT, SHELL, (11, 10, 10, 7, "claude"), (13, 1, 10, 7, "castellan")],
            Err(Refusal::BesideAgent),
        );
        // At a terminal that the agent opened: its shell still lives, or has ended.
        let agent = (20, 1, 20, 8, "codex");
        check(
            &[INIT, agent, (21, 20, 21, 9, "bash"), (22, 1, 21, 9, "castellan")],
            Err(Refusal::WithinAgent),
        );
        check(&[INIT, agent, (22, 1, 21, 9, "castellan")], Err(Refusal::Unidentified));
        // An agent at another terminal is no hindrance.
        check(&[INIT, agent, SHELL, (11, 10, 10, 7, "castellan")], Ok(()));
    }

    #[test]
    fn an_endless_chain_is_no_person() {
        let rows: Vec<Row> = (1..=100).map(|pid| (pid, pid - 1, pid, 7, "x")).collect();
        check(&rows, Err(Refusal::Unidentified));
    }
}
