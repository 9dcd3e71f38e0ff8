//! Runs of agents under a profile of their own: which terms judge a process's calls. It must not know how a process asks
//! for a run.

use std::sync::Arc;

use castellan_policy::{Profile, SandboxMode, Settings};

use super::{Asked, Failure, Judge, Terms};
use crate::ancestors::Ancestors;
use crate::memory::{Run, RunsAbove};
use crate::peers::AgentProcess;
use crate::record;

/// The profile that holds for a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HeldProfile {
    /// `None` is the configured profile.
    pub(crate) profile: Option<Profile>,
    /// The process is below a run, or may be.
    pub(crate) is_in_run: bool,
}

impl Judge {
    /// Returns the ancestors of a process if any run is registered; only then do they matter.
    pub(super) fn ancestors(&self, process: AgentProcess) -> Option<Ancestors> {
        self.memory().has_runs().then(|| Ancestors::of(process))
    }

    /// Returns the terms for the calls of a process: those in force, or those of the runs above it. A process that may
    /// be below any run gets the strictest.
    pub(super) fn terms_below(&self, ancestors: Option<&Ancestors>) -> Arc<Terms> {
        let in_force = self.terms_now();
        match self.held_below(ancestors, &in_force).profile {
            None => in_force,
            Some(profile) => Arc::new(in_force.under(profile)),
        }
    }

    /// Returns the process id of the innermost run above a process; 0 without one, or if that is unknown.
    pub(super) fn run_above(&self, ancestors: Option<&Ancestors>) -> u32 {
        let known = ancestors.filter(|ancestors| ancestors.is_whole);
        known.map_or(0, |ancestors| self.memory().runs_above(ancestors).innermost)
    }

    /// Returns the profile that holds for a process.
    pub(crate) fn held_for(&self, process: AgentProcess) -> HeldProfile {
        self.held_below(self.ancestors(process).as_ref(), &self.terms())
    }

    fn held_below(&self, ancestors: Option<&Ancestors>, in_force: &Terms) -> HeldProfile {
        let Some(ancestors) = ancestors else { return HeldProfile { profile: None, is_in_run: false } };
        let RunsAbove { profiles, is_unknown, is_sandboxed: _, innermost: _ } =
            self.memory().runs_above(ancestors);
        // A process with unknown ancestors may be below no run.
        let configured = is_unknown.then_some(None);
        // A run without a profile holds what holds around it.
        let named = profiles.iter().copied().filter(Option::is_some);
        let profile = in_force.profiles.strictest(configured.into_iter().chain(named));
        HeldProfile { profile, is_in_run: !profiles.is_empty() }
    }

    /// Makes the agent of a call a part of the runs above it.
    pub(super) fn join_runs(&self, asked: &Asked<'_>, ancestors: Option<&Ancestors>) -> Result<(), Failure> {
        let Some(ancestors) = ancestors else { return Ok(()) };
        self.memory().join_runs(ancestors, asked.sender.agent).map_err(Failure::unwatched)
    }

    /// Returns the terms for the sessions whose agents have asked below runs with these profiles.
    pub(super) fn terms_under(&self, in_force: Arc<Terms>, profiles: Vec<Option<Profile>>) -> Arc<Terms> {
        let named = profiles.into_iter().filter(Option::is_some);
        match in_force.profiles.strictest(named) {
            None => in_force,
            Some(profile) => Arc::new(in_force.under(profile)),
        }
    }

    /// Returns the profile and the settings that hold for a process.
    pub(crate) fn settings_for(&self, process: AgentProcess) -> (Profile, Settings) {
        let settings = self.terms_below(self.ancestors(process).as_ref()).policy.settings().clone();
        (settings.profile, settings)
    }

    /// Reports whether the settings require a sandbox, and the agent of a call is in none.
    pub(super) fn lacks_sandbox(&self, asked: &Asked<'_>) -> bool {
        asked.terms().policy.settings().sandbox.mode == SandboxMode::Require
            && !self.is_sandboxed(asked.sender.agent)
    }

    /// Reports whether a run above a process has a sandbox.
    pub(crate) fn is_sandboxed(&self, process: AgentProcess) -> bool {
        let above = self.ancestors(process).map(|ancestors| self.memory().runs_above(&ancestors));
        above.is_some_and(|above| above.is_sandboxed)
    }

    /// Registers a run. Returns an error if it cannot be stored.
    pub(crate) fn start_run(
        &self,
        process: AgentProcess,
        profile: Option<Profile>,
        is_sandboxed: bool,
    ) -> Result<(), String> {
        self.memory().start_run(process, profile, is_sandboxed)
    }

    /// The registered runs, with their age in seconds.
    pub(crate) fn runs(&self) -> Vec<(Run, u64)> {
        let memory = self.memory();
        let now_ms = memory.now_ms();
        memory.runs().iter().map(|run| (run.clone(), now_ms.saturating_sub(run.at_ms) / 1000)).collect()
    }

    /// Ends and records the runs whose processes have ended.
    pub(crate) fn end_runs(&self) {
        let ended = {
            let mut memory = self.memory();
            if !memory.has_runs() {
                return;
            }
            let ended = memory.end_runs();
            match memory.save() {
                Ok(()) => ended,
                Err(error) => {
                    drop(memory);
                    return self.fail("state", &format!("the end of runs cannot be written: {error}"));
                }
            }
        };
        let own = rustix::process::geteuid().as_raw();
        for run in ended {
            let what = format!("profile {}", run.profile.map_or(CONFIGURED, Profile::as_str));
            if let Err(error) =
                self.append(&record::control("run_end", &what, None, "", (run.process.pid, own)))
            {
                self.fail("log", &format!("the end of a run could not be recorded: {error}"));
            }
        }
    }
}

/// The word for the configured profile.
pub(crate) const CONFIGURED: &str = "configured";

impl Terms {
    /// Returns the terms under the profile of a run.
    fn under(&self, profile: Profile) -> Terms {
        let (policy, projects) = self.profiles.policy(profile);
        Terms { policy, projects, ..self.clone() }
    }
}
