//! [`BoundarySettings`]: links out of the workspace, and the size of files that tools read and write. It must not know
//! how a link is found.

use std::str::FromStr;

use castellan_event::{UnknownWord, from_word};

/// Settings about the boundary of the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoundarySettings {
    /// The reaction to a link that leads out of the workspace.
    pub mode: BoundaryMode,
    /// MiB of a file that a tool reads; 0: no limit.
    pub read_mib: u32,
    /// MiB of a file after a tool has written it; 0: no limit.
    pub write_mib: u32,
}

/// The reaction to a link that leads out of the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BoundaryMode {
    /// None.
    Off,
    /// Asks about changes through such a link, and about a secret or a part of the guard by another name.
    Ask,
    /// Denies these, and asks about other reads through such a link, about large and about binary files.
    Strict,
}

impl BoundarySettings {
    /// The usual settings.
    pub const DEFAULT: BoundarySettings =
        BoundarySettings { mode: BoundaryMode::Ask, read_mib: 10, write_mib: 10 };
}

impl BoundaryMode {
    /// All modes, the mildest first.
    pub const ALL: [BoundaryMode; 3] = [BoundaryMode::Off, BoundaryMode::Ask, BoundaryMode::Strict];

    /// Their words.
    pub const WORDS: &'static [&'static str] = &["off", "ask", "strict"];

    /// Returns the word used in configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            BoundaryMode::Off => "off",
            BoundaryMode::Ask => "ask",
            BoundaryMode::Strict => "strict",
        }
    }
}

impl FromStr for BoundaryMode {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<BoundaryMode, UnknownWord> {
        from_word(&BoundaryMode::ALL, BoundaryMode::as_str, word)
    }
}
