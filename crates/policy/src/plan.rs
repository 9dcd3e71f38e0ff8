//! [`PlanCheck`]: the comparison of a call with its session's plan, as an input of the decision. It must not know how
//! plans are written or compared.

use std::str::FromStr;

use castellan_event::{UnknownWord, from_word};

use crate::choices::AllowOrAsk;

/// Settings about plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanSettings {
    /// The least enforcement of a plan, and the demand for one.
    pub mode: PlanMode,
    /// The verdict for a call with the marker of unplanned work, under a plan that is enforced strictly.
    pub ad_hoc: AllowOrAsk,
}

/// The effect of plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PlanMode {
    /// castellan compares no call with a plan.
    Off,
    /// Departures from a plan are recorded.
    Warn,
    /// Departures are denied, and so is a session without a plan.
    Strict,
}

/// A call beside the plan of its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanCheck {
    /// The session has no plan that castellan can read, but it needs one.
    Missing {
        /// The reason, for a person.
        why: String,
        /// The consequence: that of a departure from the plan.
        enforcement: PlanEnforcement,
    },
    /// The call was compared.
    Compared(PlanReport),
}

/// The result of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanReport {
    /// The plan's name, for people.
    pub name: String,
    /// The consequence of a departure.
    pub enforcement: PlanEnforcement,
    /// A person approved the plan: calls inside of it need no ask of some stages.
    pub is_approved: bool,
    /// Parts of the call that the plan does not permit.
    pub departures: Vec<PlanDeparture>,
    /// Every effect of the call is inside of the plan.
    pub is_covered: bool,
    /// The call has the marker of unplanned work.
    pub is_ad_hoc: bool,
}

/// A part of a call that its plan does not permit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanDeparture {
    /// The kind, in words for a person: `the command`.
    pub kind: &'static str,
    /// The command, path or host.
    pub subject: String,
    /// The nearest step of the plan.
    pub nearest: Option<String>,
}

/// The consequence of a departure, the mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PlanEnforcement {
    /// It is recorded.
    Warn,
    /// A person is asked.
    Ask,
    /// The call is denied.
    Strict,
}

impl Default for PlanSettings {
    fn default() -> PlanSettings {
        PlanSettings { mode: PlanMode::Warn, ad_hoc: AllowOrAsk::Ask }
    }
}

impl PlanMode {
    /// All modes, the mildest first.
    pub const ALL: [PlanMode; 3] = [PlanMode::Off, PlanMode::Warn, PlanMode::Strict];

    /// Their words.
    pub const WORDS: &'static [&'static str] = &["off", "warn", "strict"];

    /// Returns the word used in configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            PlanMode::Off => "off",
            PlanMode::Warn => "warn",
            PlanMode::Strict => "strict",
        }
    }
}

impl FromStr for PlanMode {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<PlanMode, UnknownWord> {
        from_word(&PlanMode::ALL, PlanMode::as_str, word)
    }
}

impl PlanReport {
    /// Reports whether the plan lifts asks of some stages for the call.
    pub(crate) fn lifts(&self) -> bool {
        self.is_approved && self.is_covered && self.departures.is_empty()
    }
}
