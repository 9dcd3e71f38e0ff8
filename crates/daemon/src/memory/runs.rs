//! [`Runs`]: which processes have registered a run, with which profile, and which agents asked below them. A run ends when
//! its process and these agents have ended, so no agent leaves a run by ending its process. It must not know policies.

use std::collections::BTreeSet;
use std::str::FromStr;

use castellan_policy::Profile;

use super::entry::Entry;
use super::{Memory, SessionKey};
use crate::ancestors::Ancestors;
use crate::limits::{AGENTS_PER_RUN_MAX, RUNS_MAX};
use crate::peers::AgentProcess;
use crate::process::is_stopped;

/// A registered run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    /// The process that registered it.
    pub(crate) process: AgentProcess,
    /// Its profile; `None` is the configured one.
    pub(crate) profile: Option<Profile>,
    /// Its agents are in a sandbox.
    pub(crate) is_sandboxed: bool,
    /// Time of the registration, on the clock of marks and sessions.
    pub(crate) at_ms: u64,
    /// Agents that have asked below it.
    pub(crate) agents: BTreeSet<AgentProcess>,
}

/// The registered runs.
#[derive(Debug, Default)]
pub(super) struct Runs(Vec<Run>);

/// The runs that hold for a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunsAbove {
    /// The profiles of the runs, the outermost first. Of all runs if the process may be below any of them.
    pub(crate) profiles: Vec<Option<Profile>>,
    /// Any run may be above the process, or none.
    pub(crate) is_unknown: bool,
    /// One of the runs has a sandbox, which everything below is in.
    pub(crate) is_sandboxed: bool,
    /// Process id of the last of the runs; 0 without any.
    pub(crate) innermost: u32,
}

impl Run {
    fn holds(&self, process: &AgentProcess) -> bool {
        self.process == *process || self.agents.contains(process)
    }

    fn lives(&self) -> bool {
        self.process.lives() || self.agents.iter().any(AgentProcess::lives)
    }
}

impl Runs {
    pub(super) fn start(
        &mut self,
        process: AgentProcess,
        (profile, is_sandboxed): (Option<&str>, bool),
        at_ms: u64,
    ) {
        // A word of a later version is stricter than every word of this one.
        let known = |word| Profile::from_str(word).unwrap_or(Profile::Observer);
        let profile = profile.map(known);
        match self.0.iter_mut().find(|run| run.process == process) {
            Some(run) => (run.profile, run.is_sandboxed) = (profile, is_sandboxed),
            None => self.0.push(Run { process, profile, is_sandboxed, at_ms, agents: BTreeSet::new() }),
        }
    }

    pub(super) fn join(&mut self, run: AgentProcess, agent: AgentProcess) {
        if let Some(run) = self.0.iter_mut().find(|one| one.process == run) {
            run.agents.insert(agent);
        }
    }

    pub(super) fn leave(&mut self, run: AgentProcess, agents: &[AgentProcess]) {
        if let Some(run) = self.0.iter_mut().find(|one| one.process == run) {
            run.agents.retain(|agent| !agents.contains(agent));
        }
    }

    pub(super) fn end(&mut self, process: AgentProcess) {
        self.0.retain(|run| run.process != process);
    }

    /// Returns the entries that restore the state.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> {
        self.0.iter().flat_map(|run| {
            let profile = run.profile.map(|profile| profile.as_str().to_owned());
            let (process, is_sandboxed, at_ms) = (run.process, run.is_sandboxed, run.at_ms);
            let start = Entry::Run { process, profile, is_sandboxed, at_ms };
            let join = |agent: &AgentProcess| Entry::RunAgent { run: run.process, agent: *agent };
            std::iter::once(start).chain(run.agents.iter().map(join))
        })
    }

    fn above(&self, ancestors: &Ancestors) -> Vec<&Run> {
        if !ancestors.is_whole {
            return self.0.iter().collect();
        }
        let outermost_first = ancestors.chain.iter().rev();
        let mut found: Vec<&Run> = Vec::new();
        for run in outermost_first.flat_map(|process| self.0.iter().filter(|run| run.holds(process))) {
            if !found.iter().any(|known| known.process == run.process) {
                found.push(run);
            }
        }
        found
    }
}

impl Memory {
    /// Reports whether any run is registered.
    pub(crate) fn has_runs(&self) -> bool {
        !self.lasting.runs.0.is_empty()
    }

    /// The registered runs, the oldest first.
    pub(crate) fn runs(&self) -> &[Run] {
        &self.lasting.runs.0
    }

    /// Returns the runs above a process.
    pub(crate) fn runs_above(&self, ancestors: &Ancestors) -> RunsAbove {
        let runs = self.lasting.runs.above(ancestors);
        let innermost = runs.last().map_or(0, |run| run.process.pid);
        let profiles = runs.iter().map(|run| run.profile).collect();
        let is_sandboxed = ancestors.is_whole && runs.iter().any(|run| run.is_sandboxed);
        RunsAbove { profiles, is_unknown: !ancestors.is_whole, is_sandboxed, innermost }
    }

    /// Returns the profiles of the runs in which agents of a session have asked.
    pub(crate) fn profiles_of(&self, session: &SessionKey) -> Vec<Option<Profile>> {
        if !self.has_runs() {
            return Vec::new();
        }
        let processes = self.lasting.sessions.processes_of(session);
        let of_session = |run: &&Run| processes.iter().any(|process| run.holds(process));
        self.runs().iter().filter(of_session).map(|run| run.profile).collect()
    }

    /// Makes an agent a part of the runs above it, even if their processes end. Returns an error if there is no room, or if
    /// the process of a run is stopped: it counts no tokens, and an agent can stop it.
    pub(crate) fn join_runs(&mut self, ancestors: &Ancestors, agent: AgentProcess) -> Result<(), String> {
        if agent.pid == 0 || !ancestors.is_whole {
            return Ok(());
        }
        let above = self.lasting.runs.above(ancestors);
        if let Some(run) = above.iter().find(|run| run.process.lives() && is_stopped(run.process.pid)) {
            return Err(format!("the process {} of its run is stopped: continue it", run.process.pid));
        }
        let is_new = |run: &&Run| !run.holds(&agent);
        let joined: Vec<Run> = above.into_iter().filter(is_new).cloned().collect();
        for run in joined {
            if run.agents.len() >= AGENTS_PER_RUN_MAX {
                let agents: Vec<_> = run.agents.iter().filter(|agent| !agent.lives()).copied().collect();
                if agents.is_empty() {
                    return Err("there are too many agents in one run: end some".to_owned());
                }
                self.put(Entry::RunAgentsOver { run: run.process, agents });
            }
            self.put(Entry::RunAgent { run: run.process, agent });
        }
        Ok(())
    }

    /// Registers a run of a process, or gives it another profile. Returns an error if it cannot be stored; then nothing
    /// has changed.
    pub(crate) fn start_run(
        &mut self,
        process: AgentProcess,
        profile: Option<Profile>,
        is_sandboxed: bool,
    ) -> Result<(), String> {
        let before = self.runs().iter().find(|run| run.process == process).cloned();
        if before.is_none() && self.runs().len() >= RUNS_MAX {
            self.end_runs();
            if self.runs().len() >= RUNS_MAX {
                return Err("there are too many runs: end some".to_owned());
            }
        }
        let entry = |profile: Option<Profile>, is_sandboxed, at_ms| Entry::Run {
            process,
            profile: profile.map(|profile| profile.as_str().to_owned()),
            is_sandboxed,
            at_ms,
        };
        // A registration without a profile takes none away.
        let profile = profile.or(before.as_ref().and_then(|run| run.profile));
        let at_ms = before.as_ref().map_or(self.now_ms(), |run| run.at_ms);
        self.put(entry(profile, is_sandboxed, at_ms));
        self.outdate();
        self.save().map_err(|error| {
            let undo = match before {
                Some(run) => entry(run.profile, run.is_sandboxed, run.at_ms),
                None => Entry::RunOver { process },
            };
            self.put(undo);
            format!("the run could not be stored: {error}")
        })
    }

    /// Ends the runs whose process and agents have ended. Returns them.
    pub(crate) fn end_runs(&mut self) -> Vec<Run> {
        let ended: Vec<Run> = self.runs().iter().filter(|run| !run.lives()).cloned().collect();
        for run in &ended {
            self.put(Entry::RunOver { process: run.process });
        }
        ended
    }
}

#[cfg(test)]
mod tests;
