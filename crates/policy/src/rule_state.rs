//! [`RuleState`]: how far a rule counts, and [`Tiers`]: how far those with a verdict do. It must not know which rule is
//! whose, nor why it is held back.

use std::str::FromStr;

/// How far a rule counts, the mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum RuleState {
    /// As if it were not there.
    Off,
    /// What it finds is recorded with the verdict that it would have, and has no say. Marks it sets: whether a session is
    /// marked is for the rules that look at marks.
    Observe,
    /// What it finds counts.
    #[default]
    Enforce,
}

/// How far rules count that ask; those that deny always do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tiers {
    /// Those that ask.
    pub ask: RuleState,
    /// Those that ask unless the user wanted it.
    pub review: RuleState,
}

impl RuleState {
    /// Every state, the mildest first.
    pub const ALL: [RuleState; 3] = [RuleState::Off, RuleState::Observe, RuleState::Enforce];

    /// Returns the word used in configuration and records.
    pub fn as_str(self) -> &'static str {
        match self {
            RuleState::Off => "off",
            RuleState::Observe => "observe",
            RuleState::Enforce => "enforce",
        }
    }
}

impl FromStr for RuleState {
    type Err = String;

    fn from_str(word: &str) -> Result<RuleState, String> {
        let known = RuleState::ALL.into_iter().find(|state| state.as_str() == word);
        known.ok_or_else(|| {
            format!("`{word}` is none of {}", RuleState::ALL.map(RuleState::as_str).join(", "))
        })
    }
}
