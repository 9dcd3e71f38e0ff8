//! Copies of a guarded user's files in a response. It must not know the use of a file.

use serde::{Deserialize, Serialize};

/// A file below the home of a daemon that has a user of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnFile {
    /// Its path below the home, in normal parts: `state/log/routine.jsonl`.
    pub name: String,
    /// The bytes that follow.
    pub bytes: u64,
}
