//! Plans in requests and responses. They must not know how a plan is written.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The sessions of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanFor {
    /// The sessions of a workspace, by its real path.
    Workspace(String),
    /// One session, by the agent's id of it.
    Session(String),
}

impl fmt::Display for PlanFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanFor::Workspace(path) => f.write_str(path),
            PlanFor::Session(session) => write!(f, "the session {session}"),
        }
    }
}

/// A plan in the list.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ListedPlan {
    /// Its workspace or session.
    pub of: String,
    /// The file that was copied, or the proposal; empty for a proposal that waits.
    pub source: String,
    /// SHA-256 of the copy, in hex; empty for a proposal that waits.
    pub hash: String,
    /// Departures are denied, whatever the settings.
    pub is_strict: bool,
    /// A person approved the scope.
    pub is_approved: bool,
    /// Calls under the plan.
    pub calls: u64,
    /// Calls that departed from it.
    pub departed: u64,
    /// The last departure.
    pub last: String,
    /// The request id of a proposal that waits.
    pub proposal: Option<String>,
    /// The scope: titles and lines.
    pub scope: Vec<(String, Vec<String>)>,
}

/// A proposed plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownPlan {
    /// Its request id.
    pub id: String,
    /// Its workspace or session.
    pub of: String,
    /// The scope: titles and lines.
    pub scope: Vec<(String, Vec<String>)>,
    /// Parts of the text that the plan does not cover, one line each.
    pub not_covered: Vec<String>,
    /// Identifies the plan, in hex.
    pub hash: String,
}
