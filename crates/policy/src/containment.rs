//! [`ContainmentMode`]: the setting about calls that run in a sandbox instead of being asked about, and the names of the
//! policies for these sandboxes. It must not know how a call gets into one.

use std::str::FromStr;

use castellan_event::{UnknownWord, from_word};

/// The policy for code that castellan did not read: writes the workspace, reaches no network, sees no secrets.
pub const CONTAINED_UNREAD: &str = "unread";

/// The policy for a command that castellan understood: it permits the predicted effects.
pub const CONTAINED_EFFECTS: &str = "effects";

/// Whether calls run in a sandbox instead of being asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContainmentMode {
    /// Wherever the agent and the machine support it. castellan asks elsewhere.
    Prefer,
    /// No call does.
    Off,
}

impl ContainmentMode {
    /// Both, the mildest first: `off` asks about each of these calls.
    pub const ALL: [ContainmentMode; 2] = [ContainmentMode::Prefer, ContainmentMode::Off];

    /// Their words.
    pub const WORDS: &'static [&'static str] = &["prefer", "off"];

    /// Returns the word used in configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            ContainmentMode::Off => "off",
            ContainmentMode::Prefer => "prefer",
        }
    }
}

impl FromStr for ContainmentMode {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<ContainmentMode, UnknownWord> {
        from_word(&ContainmentMode::ALL, ContainmentMode::as_str, word)
    }
}
