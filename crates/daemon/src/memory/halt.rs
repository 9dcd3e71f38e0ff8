//! [`Halt`]: a person's halt of some sessions. It must not know how it takes effect.

use serde::{Deserialize, Serialize};

use crate::session_key::SessionKey;

/// The sessions of a halt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HaltPlace {
    /// All sessions.
    All,
    /// A session, and all that are merged with it.
    Session(SessionKey),
    /// The sessions of an agent, by its word.
    Agent(String),
}

/// A halt in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Halt {
    pub(crate) place: HaltPlace,
    /// The sessions, for people.
    pub(crate) of: String,
    /// Its time, on the clock of marks and sessions.
    pub(crate) at_ms: u64,
}
