//! A pause in responses.

use serde::{Deserialize, Serialize};

/// A pause in force, for the status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseStatus {
    /// Seconds since it began.
    pub age_s: u64,
    /// Seconds until it ends by itself.
    pub left_s: u64,
}
