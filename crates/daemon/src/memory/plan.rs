//! [`PlanInForce`]: a plan in force, and [`PlanPlace`], its sessions. Does not depend on the contents of a plan.

use castellan_policy::{PlanEnforcement, PlanMode};
use serde::{Deserialize, Serialize};

use crate::session_key::SessionKey;

/// The sessions that a plan is for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum PlanPlace {
    /// One session, with all sessions that are merged with it.
    Session(SessionKey),
    /// Every session of a workspace, by its real path, that has no plan of its own.
    Workspace(String),
}

/// A plan in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlanInForce {
    /// SHA-256 of its copy, in hex.
    pub(crate) hash: String,
    /// The file that was copied, or the request id of a proposal.
    pub(crate) source: String,
    /// The workspace, or the agent's id of the session, for people.
    pub(crate) of: String,
    /// Departures are denied, whatever the settings.
    pub(crate) is_strict: bool,
    /// A person approved the plan's scope.
    pub(crate) is_approved: bool,
    /// Start, in seconds since 1970.
    pub(crate) started_s: i64,
    /// Calls under the plan.
    pub(crate) calls: u64,
    /// Calls that departed from it.
    pub(crate) departed: u64,
    /// The last departure, for people; empty if there was none.
    pub(crate) last: String,
}

impl PlanInForce {
    /// Returns the consequence of a departure: the stricter of the plan's and the settings'.
    pub(crate) fn enforcement(&self, mode: PlanMode) -> PlanEnforcement {
        match (self.is_strict || mode == PlanMode::Strict, self.is_approved) {
            (true, _) => PlanEnforcement::Strict,
            (false, true) => PlanEnforcement::Ask,
            (false, false) => PlanEnforcement::Warn,
        }
    }
}
