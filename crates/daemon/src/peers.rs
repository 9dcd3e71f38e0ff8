//! Limits on connections for each agent process, so that one session's overload denies only itself. Also stores the
//! guarded agents for the user presence check.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use castellan_agents::AgentId;
use serde::{Deserialize, Serialize};

use crate::limits::{CONNECTIONS_PER_PEER_MAX, GUARDED_AGENTS_MAX, WRAPPERS_MAX};
use crate::platform::service_managers;
use crate::process::{Process, arguments_of, executable_of};

/// An agent process: pid and start time. All zero if it cannot be identified; such peers share one limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentProcess {
    pub(crate) pid: u32,
    pub(crate) started: u64,
}

impl AgentProcess {
    /// Returns the process that has this id now.
    pub(crate) fn of(pid: u32) -> AgentProcess {
        Process::read(pid).map_or_else(AgentProcess::default, |process| AgentProcess {
            pid: process.pid,
            started: process.started,
        })
    }

    /// Reports whether the process still runs.
    pub(crate) fn lives(&self) -> bool {
        Process::read(self.pid).is_some_and(|process| process.started == self.started)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Peers {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    connections: HashMap<AgentProcess, usize>,
    /// With the agent, if it has asked this daemon.
    guarded: HashMap<AgentProcess, Option<AgentId>>,
    /// Number of running agents at the last count.
    running_at_last_count: usize,
}

/// One admitted connection; dropping it makes room.
#[derive(Debug)]
pub(crate) struct Admission<'a> {
    peers: &'a Peers,
    pub(crate) agent: AgentProcess,
    is_agent: bool,
    hook: AgentProcess,
}

impl Admission<'_> {
    /// Returns the sender of a request that names `parent` as the sender's parent. Stores its agent for the user presence
    /// check, with `name`, the agent's word in the request. A peer that only tests the socket is none.
    ///
    /// A program that embeds an agent has no hook: it sends its own id as `parent`. It is then the agent itself, and the
    /// process above it, such as the shell of a person, is none. Each process can claim that, and gains nothing: it
    /// guards itself, and castellan treats it as an agent without a person.
    pub(crate) fn sender(&self, parent: u32, name: &str) -> Sender {
        let name = name.parse().ok();
        if parent == self.hook.pid {
            self.peers.lock().guard(self.hook, name);
            let hook = self.hook;
            return Sender { agent: hook, connected: hook, is_embedding: true, ..Sender::default() };
        }
        if self.is_agent {
            self.peers.lock().guard(self.agent, name);
        }
        let hook = if self.is_agent { self.hook.pid } else { 0 };
        Sender { agent: self.agent, hook, connected: self.hook, ..Sender::default() }
    }
}

/// The sender of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Sender {
    pub(crate) agent: AgentProcess,
    /// The connected process, if an agent started it; else 0.
    pub(crate) hook: u32,
    /// The connected process, or the agent if the connection is unknown. Its ancestors decide which runs hold.
    pub(crate) connected: AgentProcess,
    /// True for a program that embeds an agent: no person is at a prompt of castellan's knowledge.
    pub(crate) is_embedding: bool,
    /// True if it runs in another pid namespace or under another root directory than this daemon: its paths and process ids
    /// mean something else here.
    pub(crate) is_elsewhere: bool,
}

impl From<AgentProcess> for Sender {
    fn from(agent: AgentProcess) -> Sender {
        Sender { agent, connected: agent, ..Sender::default() }
    }
}

/// Agents start hooks through these shells (Codex through the login shell). The agent is then the parent of the shell.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "fish", "ksh", "mksh", "busybox"];

impl Peers {
    /// Admits a connection of the hook process `hook`. The error is its agent, when that has too many connections.
    pub(crate) fn admit(&self, hook: u32) -> Result<Admission<'_>, AgentProcess> {
        let Caller { agent, is_agent, hook } = caller_of(hook, Process::read, role);
        let mut inner = self.lock();
        let connections = inner.connections.entry(agent).or_default();
        if *connections >= CONNECTIONS_PER_PEER_MAX {
            return Err(agent);
        }
        *connections += 1;
        Ok(Admission { peers: self, agent, is_agent, hook })
    }

    /// Guards agents of an earlier daemon. Checks their role again: a person may have tried a hook at a shell.
    pub(crate) fn guard_again(&self, known: impl IntoIterator<Item = AgentProcess>) {
        let runs = |agent: &AgentProcess| {
            let process = Process::read(agent.pid).filter(|process| process.started == agent.started);
            process.is_some_and(|process| role(&process) == Role::Agent)
        };
        let running: Vec<AgentProcess> = known.into_iter().filter(runs).collect();
        let mut inner = self.lock();
        running.into_iter().for_each(|agent| inner.guard(agent, None));
    }

    /// Reports whether this process has asked as an agent.
    pub(crate) fn is_guarded(&self, pid: u32, started: u64) -> bool {
        self.lock().guarded.contains_key(&AgentProcess { pid, started })
    }

    /// Returns the guarded agents that run, each with the agent if it is known.
    pub(crate) fn agents(&self) -> Vec<(AgentProcess, Option<AgentId>)> {
        let all: Vec<_> = self.lock().guarded.iter().map(|(process, id)| (*process, *id)).collect();
        all.into_iter().filter(|(process, _)| process.lives()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing in this module panics while it holds the lock; its state is sound even if a caller did.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn guard(&mut self, agent: AgentProcess, id: Option<AgentId>) {
        if agent.pid == 0 || self.guarded.insert(agent, id).is_some() {
            return;
        }
        // Never removes a running agent, so no process can displace it. The system's process limit bounds the set.
        if self.guarded.len() > GUARDED_AGENTS_MAX.max(2 * self.running_at_last_count) {
            self.guarded.retain(|agent, _| agent.lives());
            self.running_at_last_count = self.guarded.len();
        }
    }
}

impl Drop for Admission<'_> {
    fn drop(&mut self) {
        let mut inner = self.peers.lock();
        if let Some(connections) = inner.connections.get_mut(&self.agent) {
            *connections = connections.saturating_sub(1);
            if *connections == 0 {
                inner.connections.remove(&self.agent);
            }
        }
    }
}

/// The process that started a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Caller {
    agent: AgentProcess,
    /// False for a person who tries a hook at a shell.
    is_agent: bool,
    hook: AgentProcess,
}

/// Role of a hook's ancestor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Agent,
    /// `sh -c '...'`: the agent is the process that started it.
    ShellCommand,
    /// A shell that reads a terminal or a script.
    Shell,
    /// A program that adopts orphans. Any process may have started the hook.
    ServiceManager,
}

/// Climbs from a hook to the process that had it started.
fn caller_of(hook: u32, read: impl Fn(u32) -> Option<Process>, role: impl Fn(&Process) -> Role) -> Caller {
    let connected = read(hook);
    let hook = connected.as_ref().map(|process| AgentProcess { pid: process.pid, started: process.started });
    let mut caller = Caller { hook: hook.unwrap_or_default(), ..Caller::default() };
    let mut parent = connected.map_or(0, |process| process.parent);
    for _ in 0..WRAPPERS_MAX {
        let Some(process) = read(parent).filter(|process| process.pid > 1) else { break };
        let role = role(&process);
        let agent = AgentProcess { pid: process.pid, started: process.started };
        caller = Caller { agent, is_agent: role == Role::Agent, ..caller };
        if role != Role::ShellCommand {
            break;
        }
        parent = process.parent;
    }
    caller
}

fn role(process: &Process) -> Role {
    if executable_of(process.pid).is_some_and(|path| is_service_manager(&path)) {
        Role::ServiceManager
    } else if !SHELLS.contains(&process.name.as_str()) {
        Role::Agent
    } else {
        shell_role(&arguments_of(process.pid).unwrap_or_default())
    }
}

/// Matches the user's service manager by its place, where only the system's administrator writes. As an agent it would end
/// with everything of the user at `castellan halt --kill`, and the user could not pass the presence check below it.
fn is_service_manager(executable: &str) -> bool {
    let path = executable.strip_suffix(" (deleted)").unwrap_or(executable);
    service_managers().contains(&path)
}

/// Matches `sh -c ...` and `bash -lc ...`: the first argument is a cluster of flags that ends with `c`.
fn shell_role(arguments: &[Vec<u8>]) -> Role {
    let flags = arguments.get(1).and_then(|argument| argument.strip_prefix(b"-"));
    let command = flags.is_some_and(|flags| !flags.starts_with(b"-") && flags.ends_with(b"c"));
    if command { Role::ShellCommand } else { Role::Shell }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Process `n` has parent `n - 1`; `names` begins at pid 1. The last is the hook. `sh` runs a command, `bash` does
    /// not.
    fn check(names: &[&str], expected: (u32, bool)) {
        let read = |pid: u32| {
            let name = names.get((pid as usize).checked_sub(1)?)?;
            Some(Process {
                pid,
                parent: pid - 1,
                session: pid,
                terminal: 0,
                started: 7,
                name: (*name).to_owned(),
            })
        };
        let role = |process: &Process| match process.name.as_str() {
            "sh" => Role::ShellCommand,
            "bash" => Role::Shell,
            "systemd" => Role::ServiceManager,
            _ => Role::Agent,
        };
        let Caller { agent, is_agent, hook: _ } = caller_of(u32::try_from(names.len()).unwrap(), read, role);
        assert_eq!((agent.pid, is_agent), expected, "{names:?}");
    }

    #[test]
    fn the_agent_is_found_behind_the_shell_that_starts_its_hooks() {
        check(&["init", "claude", "castellan-hook"], (2, true));
        check(&["init", "codex", "sh", "castellan-hook"], (2, true));
        check(&["init", "sh", "castellan-hook"], (2, false));
        // An orphan that an agent left.
        check(&["init", "systemd", "castellan-hook"], (2, false));
        check(&["init", "systemd", "sh", "castellan-hook"], (2, false));
        check(&["init", "systemd", "claude", "castellan-hook"], (3, true));
        check(&["init", "castellan-hook"], (0, false));
        check(&[], (0, false));
    }

    #[test]
    fn more_shells_than_agents_have_lead_to_no_agent() {
        let shells = [&["init", "claude"][..], &["sh"; WRAPPERS_MAX + 1], &["castellan-hook"]].concat();
        check(&shells, (4, false));
        check(&[&["init", "claude"][..], &["sh"; WRAPPERS_MAX - 1], &["castellan-hook"]].concat(), (2, true));
    }

    #[test]
    fn a_shell_with_a_command_is_told_from_one_at_a_terminal() {
        let check = |line: &str, expected| {
            let arguments: Vec<Vec<u8>> = line.split(' ').map(|word| word.as_bytes().to_vec()).collect();
            assert_eq!(shell_role(&arguments), expected, "{line}");
        };
        check("sh -c castellan-hook", Role::ShellCommand);
        check("/bin/bash -lc castellan-hook", Role::ShellCommand);
        check("-bash", Role::Shell);
        check("bash", Role::Shell);
        check("bash --norc", Role::Shell);
        check("bash script.sh -c", Role::Shell);
    }

    #[test]
    fn a_person_who_tries_a_hook_by_hand_is_no_agent() {
        check(&["init", "tmux", "bash", "castellan-hook"], (3, false));
        check(&["init", "tmux", "bash", "sh", "castellan-hook"], (3, false));
    }

    #[test]
    fn an_agent_over_its_limit_is_refused_until_a_call_ends() {
        let peers = Peers::default();
        let me = std::process::id();
        let mut admitted: Vec<_> = (0..CONNECTIONS_PER_PEER_MAX).map(|_| peers.admit(me).unwrap()).collect();
        assert_eq!(peers.admit(me).err(), Some(admitted[0].agent));
        let agent = admitted[0].agent;
        assert!(!peers.is_guarded(agent.pid, agent.started));
        peers.lock().guard(agent, None);
        assert!(peers.is_guarded(agent.pid, agent.started));
        assert!(!peers.is_guarded(agent.pid, agent.started + 1));
        admitted.pop();
        assert!(peers.admit(me).is_ok());
    }

    #[test]
    fn a_program_that_embeds_an_agent_is_the_agent_itself() {
        let peers = Peers::default();
        let me = Process::read(std::process::id()).unwrap();
        let above = Process::read(me.parent).unwrap();
        let is_guarded = |process: &Process| peers.is_guarded(process.pid, process.started);
        let admission = peers.admit(me.pid).unwrap();
        let own = AgentProcess { pid: me.pid, started: me.started };
        assert_eq!(
            admission.sender(me.pid, "claude"),
            Sender { agent: own, connected: own, is_embedding: true, ..Sender::default() }
        );
        assert_eq!(
            (is_guarded(&me), is_guarded(&above)),
            (true, false),
            "its parent may be a person's shell"
        );
        // A hook names its parent.
        let of_hook = admission.sender(me.parent, "claude");
        assert_eq!((of_hook.agent, of_hook.is_embedding), (admission.agent, false));
        assert_ne!(of_hook.agent, own);
    }

    #[test]
    fn throw_away_processes_push_no_live_agent_out() {
        let peers = Peers::default();
        let started = Process::read(std::process::id()).unwrap().started;
        let me = AgentProcess { pid: std::process::id(), started };
        peers.lock().guard(me, None);
        for number in 0..=GUARDED_AGENTS_MAX as u64 {
            // This process has ended, and another one has its pid.
            peers.lock().guard(AgentProcess { pid: me.pid, started: started + 1 + number }, None);
        }
        assert!(peers.is_guarded(me.pid, me.started));
        assert!(peers.lock().guarded.len() <= GUARDED_AGENTS_MAX);
    }

    #[test]
    fn agents_of_a_daemon_before_are_guarded_while_they_run() {
        let started = |pid| Process::read(pid).unwrap().started;
        let me = std::process::id();
        // A shell that reads its input, like the one at which a person has tried a hook.
        let mut shell = std::process::Command::new("sh").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let known = [(me, started(me)), (shell.id(), started(shell.id())), (0, 0), (1, u64::MAX)];
        let peers = Peers::default();
        peers.guard_again(known.map(|(pid, started)| AgentProcess { pid, started }));
        let guarded: Vec<bool> = known.map(|(pid, started)| peers.is_guarded(pid, started)).to_vec();
        drop(shell.stdin.take());
        shell.wait().unwrap();
        assert_eq!(guarded, [true, false, false, false]);
    }

    #[test]
    fn only_the_systems_service_manager_is_one() {
        for (path, expected) in [
            ("/usr/lib/systemd/systemd", true),
            ("/lib/systemd/systemd", true),
            ("/usr/lib/systemd/systemd (deleted)", true),
            ("/home/u/systemd", false),
            ("/usr/lib/systemd/systemd-run", false),
            ("", false),
        ] {
            assert_eq!(is_service_manager(path), expected, "{path}");
        }
    }
}
