//! Halts of agents in requests and responses.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The sessions of a halt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HaltOf {
    /// All sessions.
    All,
    /// A session by the agent's id of it, with its sub-agents and the sessions of the same process.
    Session(String),
    /// All sessions of an agent, such as `claude`.
    Agent(String),
}

impl fmt::Display for HaltOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HaltOf::All => f.write_str("all agents"),
            HaltOf::Session(session) => write!(f, "the session {session}"),
            HaltOf::Agent(agent) => write!(f, "the agent {agent}"),
        }
    }
}

/// The result of a halt that ends processes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HaltReport {
    /// Processes that ended; only the first are listed.
    pub ended: Vec<EndedProcess>,
    /// Number of processes that ended.
    pub ended_count: usize,
    /// Processes that still run.
    pub left: Vec<EndedProcess>,
}

/// A process that was to end at a halt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedProcess {
    /// Its id.
    pub pid: u32,
    /// Its program, as the kernel names it.
    pub name: String,
    /// It was killed, because it did not end by itself.
    pub is_forced: bool,
    /// The reason why it still runs; empty if it ended.
    pub why: String,
}

/// A halt in force, for the status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HaltStatus {
    /// The sessions: `all agents`, `the agent claude`, `the session S`.
    pub of: String,
    /// Seconds since it began.
    pub age_s: u64,
}
