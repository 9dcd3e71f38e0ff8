//! Runs of agents in requests and responses.

use serde::{Deserialize, Serialize};

/// A registered run, for the process that registered it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunInForce {
    /// The profile that holds for the process: its own, or the stricter one of a run around it.
    pub profile: String,
    /// The agents may use tools.
    pub has_tools: bool,
}

/// A kind of note about a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunNote {
    /// The model requested a tool call.
    ToolAttempt,
    /// A token budget is spent: the agent is ended.
    TokenBudgetExceeded,
    /// The agent's reports of usage cannot be read: the agent is ended.
    TokenUsageUnreadable,
    /// The kernel enforces these parts of a sandbox, and does not enforce others.
    Sandbox,
    /// The proxy of a sandbox refused a host, or sent a secret to one.
    SandboxNetwork,
    /// `castellan run` failed: the agent is ended.
    RunFailed,
}

impl RunNote {
    /// Returns the word in records.
    pub fn as_str(self) -> &'static str {
        match self {
            RunNote::ToolAttempt => "tool_attempt",
            RunNote::TokenBudgetExceeded => "token_budget_exceeded",
            RunNote::TokenUsageUnreadable => "token_usage_unreadable",
            RunNote::Sandbox => "sandbox",
            RunNote::SandboxNetwork => "sandbox_network",
            RunNote::RunFailed => "run_failed",
        }
    }
}

/// A run, for the status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStatus {
    /// The process that registered it. It may have ended while its agents still run.
    pub pid: u32,
    /// Its profile.
    pub profile: String,
    /// Running agents that have asked below it.
    pub agents: usize,
    /// Seconds since its start.
    pub age_s: u64,
}
