//! [`Verdict`] and [`Mode`]: the words of a decision.

use std::fmt;
use std::str::FromStr;

use crate::word::{UnknownWord, from_word};

/// The answer to a call, ordered by strictness.
///
/// `Allow` suppresses the agent's own permission prompt; `Defer` leaves it to the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// No opinion: the agent's own permissions decide.
    Defer,
    /// Runs without the agent's prompt.
    Allow,
    /// A person must decide.
    Ask,
    /// Does not run.
    Deny,
}

impl Verdict {
    /// All verdicts, from the most lenient to the strictest.
    pub const ALL: [Verdict; 4] = [Verdict::Defer, Verdict::Allow, Verdict::Ask, Verdict::Deny];

    /// Returns the word used in configuration, records and messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Verdict::Defer => "defer",
            Verdict::Allow => "allow",
            Verdict::Ask => "ask",
            Verdict::Deny => "deny",
        }
    }
}

/// The effect of decisions, ordered by strictness. Applied last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Every call is recorded without consulting the rules, and the agent decides.
    Passthrough,
    /// Every call is judged and recorded, and the agent decides.
    Monitor,
    /// Decisions are enforced.
    Enforce,
}

impl Mode {
    /// All modes, from the loosest to the tightest.
    pub const ALL: [Mode; 3] = [Mode::Passthrough, Mode::Monitor, Mode::Enforce];

    /// Returns the word used in configuration, records and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Passthrough => "passthrough",
            Mode::Monitor => "monitor",
            Mode::Enforce => "enforce",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Verdict {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Verdict, UnknownWord> {
        from_word(&Verdict::ALL, Verdict::as_str, word)
    }
}

impl FromStr for Mode {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Mode, UnknownWord> {
        from_word(&Mode::ALL, Mode::as_str, word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_round_trip_and_unknown_ones_name_the_choices() {
        for verdict in Verdict::ALL {
            assert_eq!(verdict.as_str().parse(), Ok(verdict));
        }
        for mode in Mode::ALL {
            assert_eq!(mode.as_str().parse(), Ok(mode));
        }
        let error = "x".parse::<Mode>().unwrap_err();
        assert_eq!(error.to_string(), "`x` is not one of passthrough, monitor, enforce");
    }
}
