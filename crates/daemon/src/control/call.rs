//! Pending and granted calls in requests and responses.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::explanation::Explanation;

/// Validity of a grant. A grant applies only to the same call, in the same session unless the scope says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantScope {
    /// For one call, within a quarter of an hour.
    Once,
    /// For the session.
    Session,
    /// For seconds.
    For(u64),
    /// In any session, until it is refused.
    Always,
}

/// A pending call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingCall {
    /// Its request id, such as `K7`.
    pub id: String,
    /// The agent's name.
    pub agent: String,
    /// The agent's session id.
    pub session: String,
    /// Working directory of the call.
    pub cwd: String,
    /// Canonical name of the tool.
    pub tool: String,
    /// The input, shortened.
    pub input: String,
    /// The reasons why it was not allowed at once, a line for each finding.
    pub reasons: Vec<String>,
    /// Seconds since the last attempt.
    pub age_s: u64,
    /// Number of attempts.
    pub times: u32,
    /// The agent is waiting for the answer now; `held` in version 1.
    #[serde(default, alias = "held")]
    pub waiting: bool,
    /// The agent's own prompt is open for the call: only a yes there runs it.
    #[serde(default)]
    pub at_prompt: bool,
    /// The class of the call, if a grant for the session covers the whole class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
}

/// A pending call with its details.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShownCall {
    /// The entry in the list.
    #[serde(flatten)]
    pub call: PendingCall,
    /// Number of its record in the log.
    #[serde(with = "castellan_audit::wide")]
    pub record: u64,
    /// The whole input, with the agent's names.
    pub whole_input: Json,
    /// SHA-256 of `whole_input` as compact JSON, in hex.
    pub input_sha256: String,
    /// The call's effects.
    pub explanation: Explanation,
    /// Identifies the call and its grantable part, in hex.
    pub shown: String,
}

/// A granted call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantedCall {
    /// The request id that it had; the grant is revoked by this id.
    pub id: String,
    /// The agent's name.
    pub agent: String,
    /// Working directory of the call.
    pub cwd: String,
    /// Canonical name of the tool.
    pub tool: String,
    /// The input, shortened.
    pub input: String,
    /// The validity of the grant.
    pub scope: GrantScope,
    /// Seconds since it was granted.
    pub age_s: u64,
    /// The class of calls that the grant covers besides this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
}
