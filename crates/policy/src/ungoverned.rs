//! Reaction to calls that ran without a decision, against a decision, or with another input than the judged one, and to
//! foreign hooks that could cause that. Does not depend on the way of detection.

use std::str::FromStr;

use castellan_event::{AccessLevel, Code, UnknownWord, from_word};

/// Settings for the reaction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ungoverned {
    /// The reaction.
    pub action: OnUngoverned,
    /// Highest access level of the session from then on; `None`: unchanged.
    pub level: Option<AccessLevel>,
    /// Nothing runs while an untrusted hook of another program could change the call after the decision.
    pub blocks_foreign_hooks: bool,
    /// Trusted hooks of other programs, by command line.
    pub trusted_hooks: Vec<String>,
}

/// Reactions, from the most lenient to the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum OnUngoverned {
    /// Record it, and show it in the status.
    #[default]
    Record,
    /// Also notify the user.
    Notify,
    /// Also block the session.
    Stop,
}

/// Why a session is blocked until a person has decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Kind of the reason.
    pub code: Code,
    /// The reason, for a person and for the agent.
    pub message: String,
}

impl OnUngoverned {
    /// All reactions, the most lenient first.
    pub const ALL: [OnUngoverned; 3] = [OnUngoverned::Record, OnUngoverned::Notify, OnUngoverned::Stop];

    /// Returns the word used in configuration and records.
    pub fn as_str(self) -> &'static str {
        match self {
            OnUngoverned::Record => "record",
            OnUngoverned::Notify => "notify",
            OnUngoverned::Stop => "stop",
        }
    }
}

impl FromStr for OnUngoverned {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<OnUngoverned, UnknownWord> {
        from_word(&OnUngoverned::ALL, OnUngoverned::as_str, word)
    }
}
