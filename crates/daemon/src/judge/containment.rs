//! The sandbox of a call: another command takes the place of the call's own in the answer. It must not know how a sandbox is
//! made, or what the command does.

use std::collections::BTreeSet;

use castellan_agents::{self as agents, AgentId};
use castellan_event::{Call, Effect, Facts, ObligationKind};
use castellan_policy::{CONTAINED_EFFECTS, Failed};
use serde_json::Value as Json;

use super::{Asked, Judge, Whose};
use crate::limits::CONTAINED_HOSTS_MAX;

/// The way to run calls in a sandbox.
#[derive(Debug, Clone, Copy)]
pub(super) struct Containing {
    /// Reports whether the machine enforces every item of the containment policies.
    pub(super) is_able: fn(&Judge) -> bool,
    /// Returns the shell command that runs a call under a containment policy.
    pub(super) command: ContainedCommand,
}

type ContainedCommand =
    fn(&Judge, (&Asked<'_>, &Call, &Whose), facts: &Facts, policy: &str) -> Result<String, Failed>;

impl Containing {
    /// By a ticket of the daemon.
    pub(super) const BY_TICKET: Containing = Containing {
        is_able: Judge::contains,
        command: |judge, of, facts, policy| {
            let hosts = if policy == CONTAINED_EFFECTS { hosts_of(facts) } else { Vec::new() };
            judge.contained_command(of, hosts)
        },
    };
}

/// Returns the hosts that the effects of a call name.
fn hosts_of(facts: &Facts) -> Vec<String> {
    let hosts: BTreeSet<&str> = facts.effects.iter().filter_map(Effect::host).collect();
    hosts.into_iter().filter(|host| !host.is_empty()).take(CONTAINED_HOSTS_MAX).map(str::to_owned).collect()
}

/// A command in the place of a call's own.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rewrite {
    pub(super) command: String,
    /// The input of the call with this command.
    pub(super) input: Json,
}

impl Judge {
    /// Reports whether castellan can run a call in a sandbox: the agent runs another command, and the machine enforces the
    /// sandbox.
    pub(super) fn can_contain(&self, agent: AgentId, call: &Call) -> bool {
        agents::can_rewrite(agent, call) && (self.containing.is_able)(self)
    }

    /// Returns the reason why the agent's own rules might stop a call. The agent compares them with the rewritten command
    /// alone (measured), so the sandbox must not take their place.
    fn own_rule_against(&self, asked: &Asked<'_>, call: &Call, whose: &Whose) -> Option<String> {
        let unknown = || Some("too many sessions run to look at its settings".to_owned());
        let Some(live) = self.live.of(&whose.session.id) else { return unknown() };
        self.look_at_settings(&live);
        live.with_settings(asked.sender.agent, |settings| settings.own_rule_against(call))
            .unwrap_or_else(unknown)
    }

    /// Makes the command for a call that is to run in a sandbox.
    pub(super) fn contain(
        &self,
        of: (&Asked<'_>, &Call, &Whose),
        facts: &Facts,
        policy: &str,
    ) -> Result<Rewrite, Failed> {
        let (asked, call, whose) = of;
        if let Some(why) = self.own_rule_against(asked, call, whose) {
            let what = "the agent's own rules might stop this call, and would not see it";
            return Err(Failed::contain(format!("{what}: {why}")));
        }
        let command = (self.containing.command)(self, of, facts, policy)?;
        let input = agents::rewritten_input(asked.agent, call, &command);
        let input = input.ok_or_else(|| Failed::contain("the agent runs no other command"))?;
        Ok(Rewrite { command, input })
    }
}

impl Rewrite {
    /// Returns the call as its agent runs and reports it.
    pub(super) fn call(&self, call: &Call) -> Call {
        Call {
            input: self.input.clone(),
            input_text: self.input.to_string(),
            command: Some(self.command.clone()),
            ..call.clone()
        }
    }
}

/// The obligations that castellan can meet for a call that cannot run in a sandbox.
pub(super) const ABLE: &[ObligationKind] =
    &[ObligationKind::Review, ObligationKind::Hold, ObligationKind::Checkpoint];

/// The obligations that castellan can meet for a call that can run in a sandbox.
pub(super) const ABLE_TO_CONTAIN: &[ObligationKind] =
    &[ObligationKind::Review, ObligationKind::Hold, ObligationKind::Checkpoint, ObligationKind::Contain];
