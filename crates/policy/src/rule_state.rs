//! [`RuleState`]: the effect of a rule, and [`Tiers`]: states by verdict. Knows neither a rule's owner nor the reason.

use std::str::FromStr;

use castellan_event::{UnknownWord, from_word};

/// State of a rule, the mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum RuleState {
    /// The rule has no effect.
    Off,
    /// Findings are recorded with the verdict that they would have, without effect. Marks are still set: the rules that
    /// check marks decide about their effect.
    Observe,
    /// Findings take effect.
    #[default]
    Enforce,
}

/// States of rules that ask. Rules that deny are always enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tiers {
    /// Rules that ask.
    pub ask: RuleState,
    /// Rules that ask about calls that are fine if the user wanted them.
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
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<RuleState, UnknownWord> {
        from_word(&RuleState::ALL, RuleState::as_str, word)
    }
}
