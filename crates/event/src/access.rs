//! [`AccessLevel`]: the reach of a call, and the allowed reach of a session. It must not know the needs of actions.

use std::fmt;
use std::str::FromStr;

use crate::word::{UnknownWord, from_word};

/// The reach of a call, ordered: each level includes the ones before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessLevel {
    /// Reads only.
    ReadOnly,
    /// Changes the workspace and temporary files, and fetches from the network.
    WorkspaceWrite,
    /// Anything else: files elsewhere, other systems, rights, programs that castellan does not know.
    FullAccess,
}

impl AccessLevel {
    /// All levels, from the lowest to the highest.
    pub const ALL: [AccessLevel; 3] =
        [AccessLevel::ReadOnly, AccessLevel::WorkspaceWrite, AccessLevel::FullAccess];

    /// Returns the word used in configuration, records and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            AccessLevel::ReadOnly => "read-only",
            AccessLevel::WorkspaceWrite => "workspace-write",
            AccessLevel::FullAccess => "full-access",
        }
    }
}

impl fmt::Display for AccessLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for AccessLevel {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<AccessLevel, UnknownWord> {
        from_word(&AccessLevel::ALL, AccessLevel::as_str, word)
    }
}
