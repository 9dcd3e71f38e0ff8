//! Whether an answer that a person could change waits for that person. It must not know how a call waits.

use std::time::Duration;

use castellan_agents::{AgentId, hook_events};
use castellan_event::{Decision, Mode, Verdict};
use castellan_policy::{RequestId, StateChange};
use castellan_wire::Reply;

use super::Asked;
use crate::held::End;
use crate::limits::{HOLD_GRACE, HOLDABLE_PAYLOAD_BYTES_MAX};

/// What is done about a hook.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is answered.
    Reply(Reply),
    /// It waits for a person.
    Hold {
        /// The id under which its call waits.
        id: RequestId,
        /// How long.
        time: Duration,
    },
}

/// Whether a call may be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holding {
    /// It may.
    May,
    /// It is answered now.
    No,
    /// It was held, and this came of it.
    Was(End),
}

impl Asked<'_> {
    /// How long the answer waits for a person; `None` when it does not.
    pub(super) fn hold_time(&self, decision: &Decision, is_grantable: bool) -> Option<Duration> {
        let wait = Duration::from_secs(self.terms().policy.settings().ask_wait_s.into());
        let is_held = self.holding == Holding::May
            && self.terms().mode == Mode::Enforce
            && decision.verdict == Verdict::Ask
            && is_grantable
            && self.request.payload.len() <= HOLDABLE_PAYLOAD_BYTES_MAX;
        let time = wait.min(longest(self.agent, &self.request.event)?);
        (is_held && !time.is_zero()).then_some(time)
    }

    /// A person has refused the call: it is not asked about at the agent's own prompt.
    pub(super) fn refuse(&self, decision: &mut Decision, change: &mut StateChange) {
        if self.holding == Holding::Was(End::Refused) && change.answer == Verdict::Ask {
            decision.answer = Verdict::Deny;
            change.answer = Verdict::Deny;
            change.marks.clear();
        }
    }
}

/// How long a hook of this event can wait, with time to be answered before its agent gives up.
fn longest(agent: AgentId, event: &str) -> Option<Duration> {
    let event = hook_events(agent).iter().find(|known| known.name == event)?;
    Duration::from_secs(event.timeout_s).checked_sub(2 * HOLD_GRACE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_waits_no_longer_than_its_agent() {
        let check = |agent, event, expected: Option<u64>| {
            assert_eq!(longest(agent, event), expected.map(Duration::from_secs), "{agent:?} {event}");
        };
        for agent in AgentId::ALL {
            check(agent, castellan_agents::question_event(agent), Some(580));
            check(agent, "SessionEnd", None);
            check(agent, "of the future", None);
        }
        let told = 580_000 + HOLD_GRACE.as_millis();
        assert!(told <= castellan_wire::HOLD_MS_MAX.into(), "the hook itself would give up before");
    }
}
