//! A person's decisions about workspaces. That sessions may not work in one, anybody may say; everything else needs a person.

use super::{ControlServer, Peer};
use crate::control::{ControlResponse, WorkspaceStanding};
use crate::limits::SHOWN_PATH_CHARS;
use crate::memory::WorkspaceDecision;
use crate::workspace::workspace_at;

impl ControlServer {
    /// The record comes first: what is not recorded is not trusted.
    pub(super) fn trust(
        &self,
        workspace: &str,
        standing: &WorkspaceStanding,
        peer: Peer<'_>,
    ) -> Result<(), ControlResponse> {
        let argument = format!("{} {}", standing.as_str(), shown(workspace));
        let (action, decided) = match standing {
            WorkspaceStanding::Trusted => ("trust_resolved", Some(WorkspaceDecision::Trusted)),
            WorkspaceStanding::Denied => ("trust_denied", Some(WorkspaceDecision::Denied)),
            WorkspaceStanding::Unknown => ("trust_resolved", None),
        };
        if decided != Some(WorkspaceDecision::Denied) {
            self.check_presence("trust", &argument, peer)?;
        }
        let there = match standing {
            WorkspaceStanding::Trusted | WorkspaceStanding::Denied => is_there(workspace, standing),
            // It may be gone by now.
            WorkspaceStanding::Unknown => Ok(()),
        };
        self.conclude(action, &argument, peer, there)?;
        self.judge
            .decide(workspace, decided)
            .map_err(|error| ControlResponse::Failed(format!("the decision could not be kept: {error}")))
    }
}

/// Decisions are about real paths, and trust about a whole workspace: whoever asks has looked at that.
fn is_there(workspace: &str, standing: &WorkspaceStanding) -> Result<(), String> {
    let found = workspace_at(workspace).map_err(|error| error.to_string())?;
    match standing {
        WorkspaceStanding::Trusted if !found.is_border => {
            Err(format!("`{}` can be no workspace: it is, or holds, a home", shown(workspace)))
        }
        WorkspaceStanding::Trusted if found.path != workspace => {
            Err(format!("`{}` is no workspace: `{}` is", shown(workspace), shown(&found.path)))
        }
        WorkspaceStanding::Trusted | WorkspaceStanding::Denied | WorkspaceStanding::Unknown => Ok(()),
    }
}

/// A path on one line.
fn shown(path: &str) -> String {
    let shown: String = path.chars().take(SHOWN_PATH_CHARS).collect();
    shown.escape_debug().to_string()
}
