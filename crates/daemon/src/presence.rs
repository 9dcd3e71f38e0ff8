//! The user presence check for every request that loosens: is a person there?
//!
//! A person is there if all of this is true:
//! * the requesting process has a controlling terminal;
//! * its ancestors and those of its session's leader lead to a program that opens terminals for people;
//! * no guarded agent is among them;
//! * no guarded agent runs at the same terminal.
//!
//! A process that has lost its ancestors is rejected. The check keeps an agent from loosening by a tool call. It is no
//! proof against arbitrary code of the same user (see SECURITY.md).

mod terminal_owner;

use castellan_agents::AgentId;

use self::terminal_owner::{
    TerminalOwner, is_from_elsewhere, is_ssh_daemon, shown_terminals, terminal_owner,
};
use crate::limits::{ANCESTORS_MAX, MULTIPLEXER_CLIENTS_MAX, NESTED_MULTIPLEXERS_MAX};
use crate::peers::AgentProcess;
use crate::platform::HAS_CONTAINERS;
use crate::process::Process;

/// The reason for a rejected request, with the remedy for a person. An agent may read these texts, so they do not
/// describe ways around the check: every remedy passes the same check again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No controlling terminal.
    #[error("this needs a person at a terminal")]
    NoTerminal,
    /// An agent is an ancestor.
    #[error("this cannot be done from within a guarded agent")]
    WithinAgent,
    /// An agent runs at the same terminal.
    #[error("a guarded agent runs at this terminal: use another terminal")]
    BesideAgent,
    /// None of its ancestors opens terminals for people.
    #[error(
        "castellan does not recognise the program that opened this terminal, so it cannot tell that you are a person. \
         Use a login by ssh from another machine, the console, or one of these terminals: {}",
        shown_terminals()
    )]
    LostAncestry,
    /// castellan cannot read the process or an ancestor.
    #[error(
        "castellan cannot find out who started this command, so it cannot tell that you are a person: run it again in a \
         new terminal"
    )]
    Unidentified,
}

/// Kind of a process for this check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Agent,
    TerminalOwner(TerminalOwner),
    /// The ssh daemon's own process with the rights of the user. The kernel hides the program of such a process.
    SshSession,
    Other,
}

/// Checks the process `pid` with the start time `started` of its connection, because another process may have its pid
/// by now. `guarded` reports whether a pid and start time belong to a guarded agent.
pub(crate) fn check(pid: u32, started: u64, guarded: impl Fn(u32, u64) -> bool) -> Result<(), Refusal> {
    let machine = this_machine(guarded);
    machine.check(pid, started)
}

/// Returns the kind of a process, by its program and by the guarded agents.
fn kind_by(guarded: impl Fn(u32, u64) -> bool) -> impl Fn(&Process) -> Kind {
    move |process| {
        let is_agent = guarded(process.pid, process.started)
            || process.program_names().iter().any(|name| is_agent_name(name));
        if is_agent {
            Kind::Agent
        } else {
            let name = process.executable_name();
            match terminal_owner(&name) {
                Some(owner) => Kind::TerminalOwner(owner),
                // Any process can call itself so: a program that opens terminals must be above it.
                None if name.is_empty() && is_ssh_daemon(&process.name) => Kind::SshSession,
                None => Kind::Other,
            }
        }
    }
}

/// Reports whether a process opens terminals for people.
pub(crate) fn is_terminal_owner(process: &Process) -> bool {
    terminal_owner(&process.executable_name()).is_some()
}

/// Reports whether a guarded agent is among the ancestors of a process, with or without a terminal. An agent may read
/// the answer to such a process. Also true if the ancestors cannot be read.
pub(crate) fn is_within_agent(pid: u32, guarded: impl Fn(u32, u64) -> bool) -> bool {
    let machine = this_machine(guarded);
    machine.is_within_agent(pid)
}

/// Reports whether a person started an agent at a terminal: the agent has a terminal, and above it and above its
/// session's leader a program opens terminals for people and no agent runs. Some agents start themselves again; such a
/// parent asks about no calls, so it is no guarded agent.
pub(crate) fn is_persons_agent(agent: AgentProcess, guarded: impl Fn(u32, u64) -> bool + Copy) -> bool {
    let machine = this_machine(guarded);
    machine.is_persons_agent(agent, |process| guarded(process.pid, process.started))
}

/// Applies `is_within_agent` to this process itself, without a list of guarded agents.
pub fn is_own_within_agent() -> bool {
    is_within_agent(std::process::id(), |_, _| false)
}

/// Checks this process itself, without a list of guarded agents: it recognizes agents only by name.
pub fn check_own() -> Result<(), Refusal> {
    let own = Process::read(std::process::id()).ok_or(Refusal::Unidentified)?;
    check(own.pid, own.started, |_, _| false)
}

/// Reads a process, lists all, checks one.
type Reads = fn(u32) -> Option<Process>;
type Lists = fn() -> Vec<Process>;
type Checks = fn(&Process) -> bool;

fn this_machine(
    guarded: impl Fn(u32, u64) -> bool,
) -> Machine<Reads, Lists, impl Fn(&Process) -> Kind, Checks> {
    Machine {
        has_containers: HAS_CONTAINERS,
        read: Process::read,
        all: Process::all,
        kind: kind_by(guarded),
        is_from_elsewhere,
    }
}

/// The check's access to a machine.
struct Machine<R, A, K, F> {
    /// As [`HAS_CONTAINERS`].
    has_containers: bool,
    read: R,
    all: A,
    kind: K,
    /// Reports whether the ssh daemon started this process for another machine.
    is_from_elsewhere: F,
}

impl<R, A, K, F> Machine<R, A, K, F>
where
    R: Fn(u32) -> Option<Process>,
    A: Fn() -> Vec<Process>,
    K: Fn(&Process) -> Kind,
    F: Fn(&Process) -> bool,
{
    fn check(&self, pid: u32, started: u64) -> Result<(), Refusal> {
        let is_it = |process: &Process| process.started == started;
        let process = (self.read)(pid).filter(is_it).ok_or(Refusal::Unidentified)?;
        if process.terminal == 0 {
            return Err(Refusal::NoTerminal);
        }
        let is_opened = self.is_opened(&process, NESTED_MULTIPLEXERS_MAX)?;
        let all = (self.all)();
        // A list without the process itself could not be read whole.
        if !all.iter().any(|listed| listed.pid == pid && is_it(listed)) {
            return Err(Refusal::Unidentified);
        }
        let is_beside =
            |other: &Process| other.terminal == process.terminal && (self.kind)(other) == Kind::Agent;
        if all.iter().any(is_beside) {
            return Err(Refusal::BesideAgent);
        }
        if !is_opened {
            return Err(Refusal::LostAncestry);
        }
        // The pid must still belong to the same process, so that all checks were about that process.
        (self.read)(pid).filter(is_it).map(drop).ok_or(Refusal::Unidentified)
    }

    fn is_persons_agent(&self, agent: AgentProcess, is_guarded: impl Fn(&Process) -> bool) -> bool {
        let is_it = |process: &Process| process.started == agent.started;
        let Some(process) = (self.read)(agent.pid).filter(is_it).filter(|process| process.terminal != 0)
        else {
            return false;
        };
        let Some(parent) = (self.read)(process.parent).filter(|parent| parent.started <= process.started)
        else {
            return false;
        };
        let is_itself = (self.kind)(&parent) == Kind::Agent && !is_guarded(&parent);
        let first = if is_itself { &parent } else { &process };
        // An orphan may have been started by an agent.
        let leads_to_person = |pid: u32| pid > 1 && self.climb(pid, NESTED_MULTIPLEXERS_MAX) == Ok(true);
        let leader = process.session;
        leads_to_person(first.parent)
            && (leader == process.pid || leader == first.pid || leads_to_person(leader))
            && (self.read)(agent.pid).is_some_and(|process| is_it(&process))
    }

    /// Also climbs from the session's leader, for an orphan.
    fn is_within_agent(&self, pid: u32) -> bool {
        let Some(process) = (self.read)(pid) else { return true };
        match self.climb(pid, NESTED_MULTIPLEXERS_MAX) {
            Err(_) => true,
            Ok(_) => self.climb(process.session, NESTED_MULTIPLEXERS_MAX) == Err(Refusal::WithinAgent),
        }
    }

    /// Reports whether a program opened the terminal of this process for a person. An orphan has lost its ancestors;
    /// its session still leads to the terminal owner.
    fn is_opened(&self, process: &Process, multiplexers: u32) -> Result<bool, Refusal> {
        let is_opened = self.climb(process.session, multiplexers)?;
        self.climb(process.pid, multiplexers)?;
        Ok(is_opened)
    }

    /// Climbs to the top; an agent on the way is an error. Returns whether a program on the way opens terminals for
    /// people.
    fn climb(&self, pid: u32, multiplexers: u32) -> Result<bool, Refusal> {
        let mut process = (self.read)(pid).ok_or(Refusal::Unidentified)?;
        // The first process of a container, at a terminal of its own.
        let mut opened = self.has_containers && process.pid == 1;
        let mut below: Option<Process> = None;
        for _ in 0..ANCESTORS_MAX {
            let kind = (self.kind)(&process);
            match kind {
                Kind::Agent => return Err(Refusal::WithinAgent),
                Kind::Other | Kind::SshSession => {}
                Kind::TerminalOwner(TerminalOwner::Terminal) => opened = true,
                Kind::TerminalOwner(TerminalOwner::Ssh) if opened => {}
                Kind::TerminalOwner(TerminalOwner::Ssh) => {
                    // This machine's own user has no reason to log in by ssh; an agent has one.
                    opened = below.as_ref().is_some_and(&self.is_from_elsewhere);
                    if !opened {
                        return Ok(false);
                    }
                }
                Kind::TerminalOwner(TerminalOwner::Multiplexer(name)) => {
                    opened |= self.is_attended(name, process.pid, multiplexers);
                }
            }
            if process.parent == 0 {
                // A process without a parent that is not the first came in from outside of the container.
                return Ok(opened || self.has_containers && process.pid != 1);
            }
            // A parent that is younger than its child only reuses the parent's pid.
            let parent = (self.read)(process.parent).filter(|parent| parent.started <= process.started);
            let parent = parent.ok_or(Refusal::Unidentified)?;
            let passed = std::mem::replace(&mut process, parent);
            // The ssh daemon has started what is below its own process.
            if kind != Kind::SshSession {
                below = Some(passed);
            }
        }
        Err(Refusal::Unidentified)
    }

    /// Reports whether a person watches a multiplexer: it has a client at a terminal that a person has opened.
    fn is_attended(&self, name: &str, server: u32, multiplexers: u32) -> bool {
        let Some(left) = multiplexers.checked_sub(1) else { return false };
        let is_client = |process: &&Process| {
            process.pid != server
                && process.terminal != 0
                && (self.kind)(process) == Kind::TerminalOwner(terminal_owner::multiplexer(name))
        };
        let all = (self.all)();
        let mut clients = all.iter().filter(is_client).take(MULTIPLEXER_CLIENTS_MAX);
        clients.any(|client| self.is_opened(client, left) == Ok(true))
    }
}

fn is_agent_name(name: &str) -> bool {
    let stem =
        [".js", ".cjs", ".mjs", ".exe"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    AgentId::ALL.iter().any(|agent| agent.word() == stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process: pid, parent, session, terminal, name. The last process makes the request.
    type Row = (u32, u32, u32, i32, &'static str);

    fn process(row: &Row) -> Process {
        let (pid, parent, session, terminal, name) = *row;
        Process { pid, parent, session, terminal, started: 1, name: name.to_owned() }
    }

    /// Odd pids are shells that an ssh daemon started for this machine itself.
    #[expect(clippy::type_complexity, reason = "closures have no shorter names")]
    fn machine(
        rows: &[Row],
    ) -> Machine<
        impl Fn(u32) -> Option<Process>,
        impl Fn() -> Vec<Process>,
        impl Fn(&Process) -> Kind,
        impl Fn(&Process) -> bool,
    > {
        let kind = |process: &Process| match terminal_owner(&process.name) {
            _ if is_agent_name(&process.name) => Kind::Agent,
            None if process.name == HIDDEN => Kind::SshSession,
            Some(terminal_owner) => Kind::TerminalOwner(terminal_owner),
            None => Kind::Other,
        };
        Machine {
            has_containers: true,
            read: move |pid: u32| rows.iter().find(|row| row.0 == pid).map(process),
            all: move || rows.iter().map(process).collect(),
            kind,
            is_from_elsewhere: |process: &Process| process.pid.is_multiple_of(2),
        }
    }

    /// An ssh daemon's own process with the user's rights.
    const HIDDEN: &str = "a hidden sshd";

    fn check(rows: &[Row], expected: Result<(), Refusal>) {
        let asking = rows.last().map_or(99, |row| row.0);
        assert_eq!(machine(rows).check(asking, 1), expected, "{rows:?}");
    }

    /// Checks whether an agent is found above the last process, whose terminal does not matter.
    fn check_within(rows: &[Row], expected: bool) {
        let asking = rows.last().map_or(99, |row| row.0);
        assert_eq!(machine(rows).is_within_agent(asking), expected, "{rows:?}");
    }

    /// Checks a person's request. From its `n`-th read on, the pid `reused` belongs to a process that started later
    /// than 1.
    fn check_reused(reused: u32, n: u32, expected: Result<(), Refusal>) {
        let rows = [INIT, TERMINAL, SHELL, (11, 10, 10, 7, "castellan")];
        let looks = std::cell::Cell::new(0);
        let read = |pid: u32| {
            let (pid, parent, session, terminal, name) = *rows.iter().find(|row| row.0 == pid)?;
            looks.set(looks.get() + u32::from(pid == reused));
            let started = if pid == reused && looks.get() >= n { 2 } else { 1 };
            Some(Process { pid, parent, session, terminal, started, name: name.to_owned() })
        };
        let kind = |process: &Process| terminal_owner(&process.name).map_or(Kind::Other, Kind::TerminalOwner);
        let all = || rows.iter().map(process).collect();
        let machine =
            Machine { has_containers: true, read, all, kind, is_from_elsewhere: |_: &Process| true };
        assert_eq!(machine.check(11, 1), expected, "{reused} from look {n} on");
    }

    #[test]
    fn another_process_of_the_same_number_is_another_one() {
        // The process is read before, during the climb and after.
        check_reused(11, 1, Err(Refusal::Unidentified));
        check_reused(11, 3, Err(Refusal::Unidentified));
        check_reused(11, 4, Ok(()));
        // Its parent has ended meanwhile, and another process has its pid.
        check_reused(9, 1, Err(Refusal::Unidentified));
        check_reused(9, 9, Ok(()));
    }

    const INIT: Row = (1, 0, 1, 0, "init");
    const TERMINAL: Row = (9, 1, 9, 0, "gnome-terminal-server");
    const SHELL: Row = (10, 9, 10, 7, "bash");

    #[test]
    fn a_person_has_a_terminal_and_no_agent_above() {
        check(&[INIT, TERMINAL, SHELL, (11, 10, 10, 7, "castellan")], Ok(()));
        check(&[INIT, (10, 1, 10, 0, "bash"), (11, 10, 10, 0, "castellan")], Err(Refusal::NoTerminal));
        check(
            &[INIT, TERMINAL, SHELL, (11, 10, 10, 7, "claude"), (12, 11, 10, 7, "castellan")],
            Err(Refusal::WithinAgent),
        );
        check(
            &[INIT, TERMINAL, (10, 9, 10, 7, "codex.js"), (11, 10, 10, 7, "castellan")],
            Err(Refusal::WithinAgent),
        );
        check(&[INIT, TERMINAL, SHELL, (11, 10, 10, 7, "claudette"), (12, 11, 10, 7, "castellan")], Ok(()));
        check(&[(11, 10, 10, 7, "castellan")], Err(Refusal::Unidentified));
        check(&[], Err(Refusal::Unidentified));
    }

    #[test]
    fn what_an_agent_reads_is_known_without_a_terminal() {
        let agent = (11, 10, 10, 7, "claude");
        check_within(&[INIT, TERMINAL, SHELL, (11, 10, 10, 7, "castellan")], false);
        // A person's pipeline or scheduled job has no terminal and no agent above.
        check_within(&[INIT, (10, 1, 10, 0, "cron"), (11, 10, 11, 0, "castellan")], false);
        check_within(&[INIT, TERMINAL, SHELL, agent, (12, 11, 10, 7, "castellan")], true);
        check_within(
            &[INIT, TERMINAL, SHELL, agent, (12, 11, 12, 0, "sh"), (13, 12, 12, 0, "castellan")],
            true,
        );
        // An orphan whose session's leader was started by an agent.
        let leader = (12, 11, 12, 0, "sh");
        check_within(&[INIT, TERMINAL, SHELL, agent, leader, (13, 1, 12, 0, "castellan")], true);
        // The leader has ended, so its pid gives no information.
        check_within(&[INIT, (13, 1, 12, 0, "castellan")], false);
        // An agent beside the process reads nothing of it.
        check_within(
            &[INIT, TERMINAL, SHELL, (12, 10, 10, 7, "claude"), (13, 10, 10, 7, "castellan")],
            false,
        );
        // A process that cannot be read may have any ancestor.
        check_within(&[INIT, (12, 77, 12, 0, "castellan")], true);
        check_within(&[], true);
    }

    /// The last process is the agent. `codex` is guarded, `codex.js` is not.
    #[track_caller]
    fn check_agent(rows: &[Row], expected: bool) {
        let agent = rows.last().map_or(0, |row| row.0);
        let machine = machine(rows);
        let is_guarded = |process: &Process| process.name != "codex.js" && is_agent_name(&process.name);
        assert_eq!(
            machine.is_persons_agent(AgentProcess { pid: agent, started: 1 }, is_guarded),
            expected,
            "{rows:?}"
        );
        assert!(
            !machine.is_persons_agent(AgentProcess { pid: agent, started: 2 }, is_guarded),
            "another start"
        );
    }

    #[test]
    fn a_person_starts_an_agent_at_a_terminal() {
        let agent = (11, 10, 10, 7, "claude");
        check_agent(&[INIT, TERMINAL, SHELL, agent], true);
        // The terminal starts the agent without a shell.
        check_agent(&[INIT, TERMINAL, (11, 9, 11, 7, "claude")], true);
        check_agent(&[INIT, TERMINAL, SHELL, (11, 10, 10, 0, "claude")], false);
        // An agent that starts itself again, with and without a shell.
        let launcher = (11, 10, 10, 7, "codex.js");
        check_agent(&[INIT, TERMINAL, SHELL, launcher, (12, 11, 10, 7, "codex")], true);
        check_agent(&[INIT, TERMINAL, (11, 9, 11, 7, "codex.js"), (12, 11, 11, 7, "codex")], true);
        // An agent above: as parent, above a shell, above a launcher.
        check_agent(&[INIT, TERMINAL, SHELL, agent, (12, 11, 10, 7, "codex")], false);
        check_agent(
            &[INIT, TERMINAL, SHELL, agent, (12, 11, 10, 7, "bash"), (13, 12, 10, 7, "codex")],
            false,
        );
        check_agent(
            &[INIT, TERMINAL, SHELL, agent, (12, 11, 10, 7, "codex.js"), (13, 12, 10, 7, "codex")],
            false,
        );
        // `setsid`, a background job whose shell has ended, and a terminal that an agent opened.
        check_agent(&[INIT, (12, 1, 12, 0, "codex")], false);
        check_agent(&[INIT, TERMINAL, SHELL, agent, (12, 1, 10, 7, "codex")], false);
        check_agent(&[INIT, agent, (12, 11, 12, 9, "script"), (13, 12, 13, 9, "codex")], false);
        check_agent(&[INIT, (12, 1, 12, 0, "script"), (13, 12, 13, 9, "codex")], false);
    }

    #[test]
    fn an_orphan_is_judged_by_its_terminal() {
        // The agent's background job, whose shell has ended, at the user's own terminal.
        check(
            &[INIT, TERMINAL, SHELL, (11, 10, 10, 7, "claude"), (13, 1, 10, 7, "castellan")],
            Err(Refusal::BesideAgent),
        );
        // At a terminal that the agent opened: its shell still runs, or has ended.
        let agent = (20, 1, 20, 8, "codex");
        check(
            &[INIT, agent, (21, 20, 21, 9, "bash"), (22, 1, 21, 9, "castellan")],
            Err(Refusal::WithinAgent),
        );
        check(&[INIT, agent, (22, 1, 21, 9, "castellan")], Err(Refusal::Unidentified));
        // At a terminal with an unknown owner, where an agent runs: the text does not list terminals for the agent.
        let script = (30, 1, 30, 0, "script");
        check(
            &[INIT, script, (31, 30, 31, 7, "bash"), (32, 1, 31, 7, "codex"), (33, 31, 31, 7, "castellan")],
            Err(Refusal::BesideAgent),
        );
        // An agent at another terminal does not matter.
        check(&[INIT, agent, TERMINAL, SHELL, (11, 10, 10, 7, "castellan")], Ok(()));
    }

    #[test]
    fn who_has_lost_their_ancestors_is_nobody() {
        let lost = |above: &[Row], leader: Row| {
            let asking = (99, leader.0, leader.0, 7, "castellan");
            let rows = [&[INIT], above, &[leader, asking]].concat();
            check(&rows, Err(Refusal::LostAncestry));
        };
        // `setsid`, a double fork and `script`, below init or the user's service manager.
        lost(&[(20, 1, 20, 0, "script")], (21, 20, 21, 7, "sh"));
        let manager: Row = (15, 1, 15, 0, "systemd");
        lost(&[manager, (20, 15, 20, 0, "script")], (21, 20, 21, 7, "sh"));
        // `systemd-run --pty`: the manager itself starts the process.
        lost(&[manager], (21, 15, 21, 7, "sh"));
        lost(&[(15, 1, 15, 0, "cron"), (20, 15, 20, 0, "sh")], (21, 20, 21, 7, "script"));
        lost(&[(15, 1, 15, 0, "atd"), (20, 15, 20, 0, "sh")], (21, 20, 21, 7, "script"));
        lost(&[(15, 1, 15, 0, "containerd-shim-runc-v2")], (21, 15, 21, 7, "sh"));
        // A multiplexer that nobody watches, and one that is watched from another such multiplexer.
        lost(&[(15, 1, 15, 0, "tmux")], (21, 15, 21, 7, "sh"));
        let client: Row = (17, 16, 16, 5, "tmux");
        lost(&[(15, 1, 15, 0, "tmux"), (16, 15, 16, 5, "sh"), client], (21, 15, 21, 7, "sh"));
        // ssh from this machine to itself.
        lost(&[(14, 1, 14, 0, "sshd"), (15, 14, 14, 0, "sshd")], (21, 15, 21, 7, "sh"));
        lost(&[(14, 1, 14, 0, "sshd"), (16, 14, 14, 0, HIDDEN)], (21, 16, 21, 7, "sh"));
        // A process that only hides its program, and calls itself as the ssh daemon does.
        lost(&[(16, 1, 16, 0, HIDDEN)], (22, 16, 22, 7, "sh"));
        lost(&[(15, 1, 15, 0, "script"), (16, 15, 15, 0, HIDDEN)], (22, 16, 22, 7, "sh"));
        lost(&[(14, 1, 14, 0, "sshd")], (16, 14, 14, 7, HIDDEN));
    }

    #[test]
    fn people_come_in_many_ways() {
        let found = |above: &[Row], leader: Row| {
            let asking = (99, leader.0, leader.0, 7, "castellan");
            check(&[above, &[leader, asking]].concat(), Ok(()));
        };
        found(&[INIT], (20, 1, 20, 7, "login"));
        found(&[INIT, (15, 1, 15, 0, "systemd"), (20, 15, 20, 0, "kitty")], (22, 20, 22, 7, "zsh"));
        found(&[INIT, (14, 1, 14, 0, "sshd"), (15, 14, 14, 0, "sshd-session")], (22, 15, 22, 7, "bash"));
        found(&[INIT, (13, 1, 13, 0, "sshd"), (15, 13, 13, 0, HIDDEN)], (22, 15, 22, 7, "bash"));
        found(&[INIT, TERMINAL, SHELL, (12, 10, 10, 7, "script")], (20, 12, 20, 7, "sh"));
        // A multiplexer that a person watches.
        let attached: Row = (12, 10, 10, 8, "tmux");
        let server: Row = (15, 1, 15, 0, "tmux");
        found(&[INIT, TERMINAL, (10, 9, 10, 8, "bash"), attached, server], (20, 15, 20, 7, "bash"));
        // In a container: its first process at a terminal, and a process that was started from outside.
        check(&[(1, 0, 1, 7, "bash"), (5, 1, 1, 7, "castellan")], Ok(()));
        found(&[(1, 0, 1, 0, "sleep")], (20, 0, 20, 7, "bash"));
    }

    /// On macOS, each chain ends at `launchd`.
    #[test]
    fn without_containers_no_process_without_a_parent_is_a_persons() {
        for rows in [
            &[(1, 0, 1, 7, "bash"), (5, 1, 1, 7, "castellan")][..],
            &[(1, 0, 1, 0, "launchd"), (20, 0, 20, 7, "bash")],
        ] {
            check(rows, Ok(()));
            let without = Machine { has_containers: false, ..machine(rows) };
            assert_eq!(without.check(rows[1].0, 1), Err(Refusal::LostAncestry), "{rows:?}");
        }
    }

    #[test]
    fn a_list_without_the_process_itself_shows_no_agents() {
        let rows = [INIT, TERMINAL, SHELL, (11, 10, 10, 7, "castellan")];
        check(&rows, Ok(()));
        for listed in [&[][..], &rows[..3]] {
            let cut = Machine { all: machine(listed).all, ..machine(&rows) };
            assert_eq!(cut.check(11, 1), Err(Refusal::Unidentified), "{listed:?}");
        }
    }

    #[test]
    fn a_multiplexer_that_an_agent_looks_at_is_no_persons() {
        let server: Row = (15, 1, 15, 0, "tmux");
        let agent: Row = (11, 10, 10, 8, "claude");
        let client: Row = (12, 11, 10, 8, "tmux");
        let rows = [INIT, TERMINAL, (10, 9, 10, 8, "bash"), agent, client, server];
        let asking = [(20, 15, 20, 7, "sh"), (21, 20, 20, 7, "castellan")];
        check(&[&rows[..], &asking].concat(), Err(Refusal::LostAncestry));
    }

    #[test]
    fn an_endless_chain_is_no_person() {
        let rows: Vec<Row> = (1..=100).map(|pid| (pid, pid - 1, pid, 7, "x")).collect();
        check(&rows, Err(Refusal::Unidentified));
    }
}
