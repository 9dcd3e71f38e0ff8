//! [`Obligation`]: an action that castellan must carry out for a verdict to hold. It must not know how.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::code::Code;
use crate::verdict::Verdict;
use crate::word::{UnknownWord, from_word};

/// An action that a stage demands. An obligation alone never lowers a verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obligation {
    /// The action.
    pub action: Action,
    /// Findings of these codes are exempt while the obligation can be met, if their stage admits the exemption. Such an
    /// obligation exists for its exemptions alone: without a finding to exempt, it is dropped with its fallback. Empty:
    /// the obligation exempts nothing and holds for every call that may run.
    pub exempts: Vec<Code>,
    /// The consequence of an unmet obligation. The exempt findings are in force again, too.
    pub or_else: Fallback,
}

/// The consequence of an unmet obligation. No fallback allows anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fallback {
    /// The findings decide, including the exempt ones.
    Findings,
    /// A person is asked at least.
    Ask,
    /// The call is denied.
    Deny,
}

/// The action of an obligation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// The call runs contained.
    Contain {
        /// Name of the containment policy.
        policy: String,
    },
    /// A checkpoint of the workspace is made before the call runs.
    Checkpoint,
    /// A reviewer approves the call.
    Review,
    /// The agent waits until a person has approved or refused the call. If a stage demands it, castellan asks about the
    /// call; with [`Fallback::Deny`] castellan denies it.
    Hold {
        /// The longest wait.
        wait: Duration,
    },
}

/// The kind of an action; stable in records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ObligationKind {
    /// [`Action::Contain`].
    Contain,
    /// [`Action::Checkpoint`].
    Checkpoint,
    /// [`Action::Review`].
    Review,
    /// [`Action::Hold`].
    Hold,
}

impl Action {
    /// Returns the kind.
    pub fn kind(&self) -> ObligationKind {
        match self {
            Action::Contain { .. } => ObligationKind::Contain,
            Action::Checkpoint => ObligationKind::Checkpoint,
            Action::Review => ObligationKind::Review,
            Action::Hold { .. } => ObligationKind::Hold,
        }
    }

    /// Returns the detail used in records: the name of the policy, or the wait in seconds; else empty.
    pub fn detail(&self) -> String {
        match self {
            Action::Contain { policy } => policy.clone(),
            Action::Checkpoint | Action::Review => String::new(),
            Action::Hold { wait } => wait.as_secs().to_string(),
        }
    }

    /// Reports whether no call can meet both actions: a call has one containment.
    pub fn excludes(&self, other: &Action) -> bool {
        match (self, other) {
            (Action::Contain { policy }, Action::Contain { policy: another }) => policy != another,
            _ => false,
        }
    }
}

impl Fallback {
    /// All fallbacks, from the most lenient to the strictest.
    pub const ALL: [Fallback; 3] = [Fallback::Findings, Fallback::Ask, Fallback::Deny];

    /// Returns the verdict of the fallback alone.
    pub const fn verdict(self) -> Verdict {
        match self {
            Fallback::Findings => Verdict::Defer,
            Fallback::Ask => Verdict::Ask,
            Fallback::Deny => Verdict::Deny,
        }
    }

    /// Returns the word used in records: the word of the verdict.
    pub fn as_str(self) -> &'static str {
        self.verdict().as_str()
    }
}

impl ObligationKind {
    /// All kinds, in the order in which castellan meets them. Actions that may fail without a trace come first.
    pub const ALL: [ObligationKind; 4] =
        [ObligationKind::Review, ObligationKind::Hold, ObligationKind::Checkpoint, ObligationKind::Contain];

    /// Returns the word used in records and messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            ObligationKind::Contain => "contain",
            ObligationKind::Checkpoint => "checkpoint",
            ObligationKind::Review => "review",
            ObligationKind::Hold => "hold",
        }
    }
}

/// Prints the kind and the detail, if there is one: `contain no-network`.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, detail) = (self.kind().as_str(), self.detail());
        if detail.is_empty() { f.write_str(kind) } else { write!(f, "{kind} {detail}") }
    }
}

impl FromStr for ObligationKind {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<ObligationKind, UnknownWord> {
        from_word(&ObligationKind::ALL, ObligationKind::as_str, word)
    }
}

impl FromStr for Fallback {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Fallback, UnknownWord> {
        from_word(&Fallback::ALL, Fallback::as_str, word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contain(policy: &str) -> Action {
        Action::Contain { policy: policy.to_owned() }
    }

    #[test]
    fn words_round_trip_and_each_action_has_its_own_kind() {
        let actions =
            [Action::Review, Action::Hold { wait: Duration::ZERO }, Action::Checkpoint, contain("p")];
        assert_eq!(actions.each_ref().map(Action::kind), ObligationKind::ALL);
        for kind in ObligationKind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
        }
        for fallback in Fallback::ALL {
            assert_eq!(fallback.as_str().parse(), Ok(fallback));
            assert!(fallback.verdict() != Verdict::Allow);
        }
        assert!("allow".parse::<Fallback>().is_err());
        let problem = "quarantine".parse::<ObligationKind>().unwrap_err();
        assert_eq!(problem.to_string(), "`quarantine` is not one of review, hold, checkpoint, contain");
    }

    #[test]
    fn actions_are_written_with_their_details() {
        for (action, expected) in [
            (contain("no-network"), "contain no-network"),
            (Action::Checkpoint, "checkpoint"),
            (Action::Review, "review"),
            (Action::Hold { wait: Duration::from_secs(120) }, "hold 120"),
        ] {
            assert_eq!(action.to_string(), expected);
        }
    }

    #[test]
    fn two_containments_exclude_each_other() {
        for (one, other, expected) in [
            (contain("a"), contain("b"), true),
            (contain("a"), contain("a"), false),
            (contain("a"), Action::Checkpoint, false),
            (Action::Review, Action::Hold { wait: Duration::ZERO }, false),
        ] {
            assert_eq!((one.excludes(&other), other.excludes(&one)), (expected, expected), "{one}, {other}");
        }
    }
}
