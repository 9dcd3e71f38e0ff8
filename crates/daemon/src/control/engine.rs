//! The engine's state in a status. It must not know how it is shown.

use serde::{Deserialize, Serialize};

/// The program that tests the rules.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EngineStatus {
    /// `native` or `falco`. Empty if the daemon's version does not report it.
    pub kind: String,
    /// The state.
    pub state: EngineState,
    /// Falco's version; empty for castellan's own engine, and until it is known.
    pub version: String,
    /// Falco's process id; 0 if none runs.
    pub pid: u32,
    /// Seconds since 1970 since which Falco judges; 0 if it does not.
    pub since_s: u64,
    /// Starts of Falco after a failure, since the daemon's start.
    pub restarts: u64,
    /// The last problem; empty if there was none since Falco last judged calls. It names Falco's last line.
    pub problem: String,
    /// Falco's log; empty for castellan's own engine.
    pub log: String,
}

/// The state of an engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineState {
    /// It judges calls.
    #[default]
    Judging,
    /// Falco starts. Calls wait for it, and are denied if it takes too long.
    Starting,
    /// Falco has failed, and starts again after a pause. Calls are denied.
    Pausing,
    /// Falco cannot be the engine of this daemon. Calls are denied.
    Refused,
}

impl EngineState {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            EngineState::Judging => "judging",
            EngineState::Starting => "starting",
            EngineState::Pausing => "pausing",
            EngineState::Refused => "refused",
        }
    }
}
