//! Registration of runs: the requesting process and everything below it get a profile. A milder profile than the one that
//! holds for the process needs a person; within another run it is rejected.

use std::sync::PoisonError;

use castellan_policy::Profile;

use super::{ControlServer, Peer, alphanumeric_start};
use crate::control::{ControlResponse, RunInForce, RunNote, RunStatus, SandboxInForce};
use crate::judge::{CONFIGURED, HeldProfile};
use crate::limits::NOTE_CHARS_MAX;
use crate::peers::AgentProcess;
use crate::presence::is_within_agent;
use crate::store::PolicyOrigin;

impl ControlServer {
    /// Registers the requesting process as a run. The process comes from the connection, never from the request.
    pub(super) fn start_run(
        &self,
        profile: Option<&str>,
        is_sandboxed: bool,
        peer: Peer<'_>,
    ) -> Result<RunInForce, ControlResponse> {
        // Serialized: the result of the check must stay valid until the run is registered.
        let _changing = self.mode_changes.lock().unwrap_or_else(PoisonError::into_inner);
        let word = profile.map_or(CONFIGURED.to_owned(), alphanumeric_start);
        let failed = |why: String| {
            let outcome = self.conclude("run", &word, peer, Err(why.clone()));
            outcome.err().unwrap_or(ControlResponse::Failed(why))
        };
        let profile: Option<Profile> = profile
            .map(str::parse)
            .transpose()
            .map_err(|error: castellan_event::UnknownWord| failed(format!("no profile: {error}")))?;
        let process = AgentProcess { pid: peer.pid, started: peer.started };
        if process.started == 0 || !process.lives() {
            return Err(failed("the process that asked for the run has ended".to_owned()));
        }
        let held = self.judge.held_for(process);
        if profile.is_some() && self.judge.terms().profiles.is_milder(profile, held.profile) {
            self.check_milder(&word, held, peer)?;
        }
        // Recorded first, so that no milder run is in force without a record.
        self.conclude("run", &word, peer, Ok(()))?;
        let is_sandboxed = is_sandboxed && self.is_believed(process);
        self.judge.start_run(process, profile, is_sandboxed).map_err(failed)?;
        let (profile, settings) = self.judge.settings_for(process);
        Ok(RunInForce { profile: profile.as_str().to_owned(), has_tools: settings.tools })
    }

    /// Reports whether a process may say that what it starts is in a sandbox. An agent outside of one may start anything
    /// under that claim.
    fn is_believed(&self, process: AgentProcess) -> bool {
        let guarded = |pid, started| self.peers.is_guarded(pid, started);
        !is_within_agent(process.pid, guarded) || self.judge.is_sandboxed(process)
    }

    /// Returns the settings of sandboxes that hold for the requesting process. Fails if nothing is in force: a sandbox of the
    /// default settings would lack what a person has set.
    pub(super) fn sandbox(&self, peer: Peer<'_>) -> Result<SandboxInForce, ControlResponse> {
        if let PolicyOrigin::Missing(why) = self.policy.report().origin {
            return Err(ControlResponse::Failed(format!(
                "no settings are in force, so castellan makes no sandbox: {why}; `castellan config check` shows what is \
                 broken, and `castellan apply` puts the mended files in force"
            )));
        }
        let process = AgentProcess { pid: peer.pid, started: peer.started };
        Ok(SandboxInForce::from(&self.judge.settings_for(process).1.sandbox))
    }

    /// Checks that a person permits a milder profile. No person can for a process within a run: the run holds anyway.
    fn check_milder(&self, word: &str, held: HeldProfile, peer: Peer<'_>) -> Result<(), ControlResponse> {
        if held.is_in_run {
            let holds = held.profile.map_or(CONFIGURED, Profile::as_str);
            let why = format!(
                "this is within a run under the profile {holds}, and no run loosens the one around it"
            );
            return Err(self.refused("run", word, peer, why));
        }
        self.check_presence("run", word, peer)
    }

    /// Records a note about the run that the requesting process registered. Another process cannot add one: neither the
    /// agent in the run, nor another run. A note of a run that an agent started is marked.
    pub(super) fn note_run(&self, kind: RunNote, text: &str, peer: Peer<'_>) -> Result<(), ControlResponse> {
        let process = AgentProcess { pid: peer.pid, started: peer.started };
        if !self.judge.runs().iter().any(|(run, _)| run.process == process) {
            let why = "only the process that registered a run may record notes about it".to_owned();
            return self.conclude("note", kind.as_str(), peer, Err(why));
        }
        let guarded = |pid, started| self.peers.is_guarded(pid, started);
        let mark = if is_within_agent(peer.pid, guarded) { "within an agent: " } else { "" };
        let text: String = mark.chars().chain(text.chars()).take(NOTE_CHARS_MAX).collect();
        self.conclude(kind.as_str(), &text, peer, Ok(()))
    }

    /// The registered runs, the oldest first.
    pub(super) fn runs(&self) -> Vec<RunStatus> {
        let configured = self.judge.terms().policy.settings().profile;
        let status = |(run, age_s): (crate::memory::Run, u64)| RunStatus {
            pid: run.process.pid,
            profile: run.profile.unwrap_or(configured).as_str().to_owned(),
            agents: run.agents.iter().filter(|agent| agent.lives()).count(),
            age_s,
        };
        self.judge.runs().into_iter().map(status).collect()
    }
}
