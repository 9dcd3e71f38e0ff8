//! Halts: denies every further call of some agents, and ends their processes. A person ends a halt. It must not know how
//! a call is denied.

use castellan_agents::AgentId;

use super::plans::shown;
use super::{ControlServer, Peer, alphanumeric_start};
use crate::ancestors::Ancestors;
use crate::control::{ControlResponse, EndedProcess, HaltOf, HaltReport, HaltStatus};
use crate::kill::{Ending, Endings, Targets, end_trees};
use crate::limits::ENDED_LISTED_MAX;
use crate::memory::{Halt, HaltPlace, Run};
use crate::peers::AgentProcess;
use crate::presence::is_terminal_owner;
use crate::process::Process;

impl ControlServer {
    /// Halts agents. Needs no person, and waits for no other request. Rejected within an agent, which could stop the
    /// user's other agents.
    pub(super) fn halt(
        &self,
        of: &HaltOf,
        kill: bool,
        peer: Peer<'_>,
    ) -> Result<HaltReport, ControlResponse> {
        let argument = shown(&of.to_string());
        let requesting = Ancestors::of(AgentProcess { pid: peer.pid, started: peer.started });
        if requesting.chain.iter().any(|above| self.peers.is_guarded(above.pid, above.started)) {
            let why = "this cannot be done from within a guarded agent: use another terminal".to_owned();
            return Err(self.refused("halt", &argument, peer, why));
        }
        let place = self.halt_place(of)?;
        let halted = self.judge.halt(place.clone(), argument.clone());
        // A call that was decided before, and has not started, does not start any more.
        self.judge.end_tickets();
        // Recorded second: a full disk delays no halt, and keeps no process alive.
        let concluded = self.conclude("halt", &argument, peer, halted);
        let report =
            if kill { report(end_trees(&self.targets(&place, requesting))) } else { HaltReport::default() };
        concluded?;
        if kill {
            let what = format!("{argument}: {}", summary(&report));
            self.conclude("halt_kill", &what, peer, Ok(()))?;
        }
        Ok(report)
    }

    /// Ends a halt; that of all agents ends every halt.
    pub(super) fn resume(&self, of: &HaltOf, peer: Peer<'_>) -> Result<(), ControlResponse> {
        let argument = shown(&of.to_string());
        let place = self.halt_place(of)?;
        self.check_presence("resume", &argument, peer)?;
        let is_meant = |halted: &HaltPlace| place == HaltPlace::All || *halted == place;
        let is_halted = self.judge.halts().iter().any(|(halt, _)| is_meant(&halt.place));
        let outcome = if is_halted { Ok(()) } else { Err(format!("no halt is in force for {argument}")) };
        // Recorded first: the record of a person's consent.
        self.conclude("resume", &argument, peer, outcome)?;
        let resumed = self.judge.resume(is_meant);
        resumed.or_else(|why| self.conclude("resume", &argument, peer, Err(why)))
    }

    /// The halts in force, the oldest first.
    pub(super) fn halts(&self) -> Vec<HaltStatus> {
        let status = |(Halt { of, .. }, age_s)| HaltStatus { of, age_s };
        self.judge.halts().into_iter().map(status).collect()
    }

    fn halt_place(&self, of: &HaltOf) -> Result<HaltPlace, ControlResponse> {
        match of {
            HaltOf::All => Ok(HaltPlace::All),
            HaltOf::Session(session) => Ok(HaltPlace::Session(self.session_called(session)?)),
            HaltOf::Agent(word) => {
                let agent: AgentId = word.parse().map_err(|_| {
                    ControlResponse::Failed(format!("no agent is called {}", alphanumeric_start(word)))
                })?;
                Ok(HaltPlace::Agent(agent.word().to_owned()))
            }
        }
    }

    /// Returns the processes of halted agents, and of everything below the runs in which they asked. Never castellan's
    /// daemon, what the daemon itself runs below, the requesting person's programs, or a program with terminals.
    fn targets(&self, place: &HaltPlace, requesting: Ancestors) -> Targets {
        let of_session = match place {
            HaltPlace::Session(session) => self.judge.processes_of(session),
            HaltPlace::All | HaltPlace::Agent(_) => Vec::new(),
        };
        let is_meant = |process: &AgentProcess, id: Option<AgentId>| match place {
            HaltPlace::All => true,
            HaltPlace::Session(_) => of_session.contains(process),
            // An agent that has not asked since the daemon's start is known by its program.
            HaltPlace::Agent(word) => match id {
                Some(id) => id.word() == word,
                None => Process::read(process.pid)
                    .is_some_and(|process| process.program_names().iter().any(|name| name == word)),
            },
        };
        let own = Process::read(std::process::id())
            .map(|own| AgentProcess { pid: own.pid, started: own.started })
            .unwrap_or_default();
        let spared = [Ancestors::of(own).chain, requesting.chain].concat();
        let is_agent = |process: &AgentProcess| {
            !spared.contains(process)
                && !Process::read(process.pid).is_some_and(|one| is_terminal_owner(&one))
        };
        let agents = self.peers.agents().into_iter().filter(|(process, id)| is_meant(process, *id));
        let roots: Vec<_> = agents.map(|(process, _)| process).filter(is_agent).collect();
        let is_below =
            |run: &Run| *place == HaltPlace::All || run.agents.iter().any(|one| roots.contains(one));
        // Another program that registered itself may have children that are no agents.
        let is_castellan =
            |run: &Run| Process::read(run.process.pid).is_some_and(|one| one.name == CASTELLAN);
        let runs = self.judge.runs().into_iter().map(|(run, _)| run);
        let above = runs.filter(|run| is_below(run) && is_castellan(run)).map(|run| run.process).collect();
        Targets { above, roots, spared }
    }
}

fn report(Endings { ended, left }: Endings) -> HaltReport {
    let process = |(Ending { pid, name, is_forced }, why)| EndedProcess { pid, name, is_forced, why };
    let ended_count = ended.len();
    let ended = ended.into_iter().map(|ending| (ending, String::new())).map(process);
    let left = left.into_iter().map(process).take(ENDED_LISTED_MAX).collect();
    HaltReport { ended: ended.take(ENDED_LISTED_MAX).collect(), ended_count, left }
}

/// The result for the record.
fn summary(report: &HaltReport) -> String {
    let pids = |all: &[EndedProcess]| {
        all.iter()
            .take(RECORDED_MAX)
            .map(|one| format!("{} {}", one.name, one.pid))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let left = match report.left.is_empty() {
        true => String::new(),
        false => format!("; still running: {}", pids(&report.left)),
    };
    format!("{} processes ended: {}{left}", report.ended_count, pids(&report.ended))
}

/// The kernel's name of `castellan run`.
const CASTELLAN: &str = "castellan";

/// Processes in the record.
const RECORDED_MAX: usize = 32;
