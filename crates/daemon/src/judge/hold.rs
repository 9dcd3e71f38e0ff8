//! Holding a call for a person: whether a hook can wait, and how its wait ended. It must not know how a call waits.

use std::time::Duration;

use castellan_agents::{AgentId, hook_events};
use castellan_event::{Call, ObligationKind};
use castellan_policy::Failed;

use super::Asked;
use crate::held::End;
use crate::limits::{GRANTABLE_INPUT_BYTES_MAX, HOLD_GRACE, HOLDABLE_PAYLOAD_BYTES_MAX};

/// States whether a call may be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holding {
    /// It may be held.
    May,
    /// There is no room to hold it.
    No,
    /// It was held, with this result.
    Was(End),
}

impl Asked<'_> {
    /// Returns how long the call can be held for a person, or `None` if it gets its reply now. A call with an earlier
    /// answer is not held. A call too long to be shown whole is not held either.
    pub(super) fn hold_time(&self, call: &Call, is_repeated: bool) -> Option<Duration> {
        let wait = Duration::from_secs(self.terms().policy.settings().ask_wait_s.into());
        let is_holdable = !is_repeated
            && !self.is_refused()
            && self.request.payload.len() <= HOLDABLE_PAYLOAD_BYTES_MAX
            && call.input_text.len() <= GRANTABLE_INPUT_BYTES_MAX;
        let time = wait.min(longest(self.agent, &self.request.event)?);
        (is_holdable && !time.is_zero()).then_some(time)
    }

    /// Returns the reason why a call that was to be held is not reviewed again: a review left it to a person.
    pub(super) fn failed_review(&self) -> Option<Failed> {
        (self.holding != Holding::May).then(|| Failed::review("the reviewer left the call to a person"))
    }

    /// Reports whether a person has refused the call. The agent's own prompt does not ask about it then.
    pub(super) fn is_refused(&self) -> bool {
        self.holding == Holding::Was(End::Refused)
    }

    /// Returns the reason why a call that could be held is not held, or not any more.
    pub(super) fn failed_to_hold(&self) -> Option<Failed> {
        let why = match self.holding {
            Holding::May | Holding::Was(End::Refused) => return None,
            Holding::No => "no more calls can wait",
            Holding::Was(End::Judge) => "no person has approved the call in time",
        };
        Some(Failed { kind: ObligationKind::Hold, why: why.to_owned(), denies: false })
    }
}

/// Returns the longest wait for a hook of this event, minus the time to reply before its agent gives up.
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
        let reported = 580_000 + HOLD_GRACE.as_millis();
        assert!(reported <= castellan_wire::HOLD_MS_MAX.into(), "the hook itself would give up before");
    }
}
