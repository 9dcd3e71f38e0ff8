//! Workspaces with a person's decision in requests and responses.

use serde::{Deserialize, Serialize};

/// A person's decision about a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrustDecision {
    /// Sessions may work there.
    Trusted,
    /// Sessions in the workspace or below have no tools.
    Denied,
    /// No decision, or a revoked one.
    Unknown,
}

impl TrustDecision {
    /// Returns the word for messages.
    pub fn as_str(&self) -> &'static str {
        match self {
            TrustDecision::Trusted => "trusted",
            TrustDecision::Denied => "denied",
            TrustDecision::Unknown => "unknown",
        }
    }
}

/// A workspace with a person's decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecidedWorkspace {
    /// Its real path.
    pub workspace: String,
    /// The decision; `standing` in version 1.
    #[serde(alias = "standing")]
    pub trust: TrustDecision,
    /// State of the workspace's own files since they were trusted. `None` if there were none and are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<ProjectFiles>,
}

/// State of a trusted workspace's own files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProjectFiles {
    /// They are unchanged.
    Same,
    /// They have changed since: the trusted copy applies.
    Changed,
    /// The trusted copy cannot be read any more: the workspace is unknown.
    Lost,
}
