//! [`Decision`]: the result of judging one call. Does not depend on the way a call is judged.

use std::ops::Deref;
use std::time::Duration;

use castellan_event::{AccessLevel, Action, Finding, Mode, Obligation, Verdict};

/// The result of judging one call. Only this crate creates decisions. Other code can read the parts, not change them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Decision(DecisionParts);

/// The parts of a [`Decision`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionParts {
    /// The verdict of the strictest finding that is not exempt, else the default. The mode does not change it.
    pub verdict: Verdict,
    /// The verdict that the agent receives: limited to the verdicts that the agent carries out, then to the mode.
    pub answer: Verdict,
    /// `<rule>: <message>` of the deciding finding; empty if there is none.
    pub reason: String,
    /// All findings, in the order of the stages.
    pub findings: Vec<Finding>,
    /// Obligations of a call that may run, in the order of meeting them; a hold is last. In monitor mode only reported.
    pub obligations: Vec<Obligation>,
    /// The mode in force.
    pub mode: Mode,
    /// The access level that the call needs; `None` if its effects were not read.
    pub required: Option<AccessLevel>,
    /// The access level of the session; `None` when levels are off.
    pub active: Option<AccessLevel>,
}

impl Decision {
    pub(crate) fn new(parts: DecisionParts) -> Decision {
        Decision(parts)
    }

    /// Reports whether the answer is as strict as the verdict.
    pub fn enforced(&self) -> bool {
        self.answer >= self.verdict
    }

    /// Returns the obligations to meet before the answer. A held call has none yet, because it is judged again.
    pub fn due(&self) -> &[Obligation] {
        let is_due = self.mode == Mode::Enforce && self.answer != Verdict::Deny && self.hold().is_none();
        if is_due { &self.obligations } else { &[] }
    }

    /// Returns for how long to hold the call for a person, if it is to be held.
    pub fn hold(&self) -> Option<Duration> {
        self.obligations.iter().find_map(|one| match one.action {
            Action::Hold { wait } => Some(wait),
            Action::Contain { .. } | Action::Checkpoint | Action::Review => None,
        })
    }
}

impl Deref for Decision {
    type Target = DecisionParts;

    fn deref(&self) -> &DecisionParts {
        &self.0
    }
}
