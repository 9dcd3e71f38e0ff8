//! A person's decisions about workspaces. Any process may deny a workspace; every other decision needs a person.

use std::path::Path;
use std::sync::PoisonError;

use castellan_files::explained;

use super::{ControlServer, Peer, alphanumeric_start};
use crate::control::{ControlResponse, TrustDecision};
use crate::file_set::{FileSet, read_project};
use crate::limits::SHOWN_PATH_CHARS;
use crate::memory::WorkspaceDecision;
use crate::projects::{forget_copies, keep_copy};
use crate::workspace::workspace_at;

impl ControlServer {
    /// Decides about a workspace. The record is written first: a decision that cannot be recorded is not made.
    /// `project` is the hash of the workspace's own files that the person saw.
    pub(super) fn trust(
        &self,
        workspace: &str,
        decision: &TrustDecision,
        project: Option<&str>,
        peer: Peer<'_>,
    ) -> Result<(), ControlResponse> {
        let mut argument = format!("{} {}", decision.as_str(), shown(workspace));
        if let Some(hash) = project {
            argument.push_str(&format!(", its files {}", alphanumeric_start(hash)));
        }
        if *decision != TrustDecision::Denied {
            self.check_presence("trust", &argument, peer)?;
        }
        let _deciding = self.deciding.lock().unwrap_or_else(PoisonError::into_inner);
        let (action, decided, there) = match decision {
            TrustDecision::Trusted => {
                let decided = WorkspaceDecision::Trusted { project: project.map(str::to_owned) };
                let there =
                    is_there(workspace, decision).and_then(|()| self.copy_project(workspace, project));
                ("trust_resolved", Some(decided), there)
            }
            TrustDecision::Denied => {
                ("trust_denied", Some(WorkspaceDecision::Denied), is_there(workspace, decision))
            }
            // The workspace may no longer exist.
            TrustDecision::Unknown => ("trust_resolved", None, Ok(())),
        };
        self.conclude(action, &argument, peer, there)?;
        let done = self.judge.decide(workspace, decided);
        // A copy that remains is unused and harmless.
        let _ = forget_copies(&self.layout, |hash| self.judge.needs_copy(hash));
        // The previous record says that the decision was made.
        done.or_else(|error| {
            let why = format!("the decision could not be stored: {}", explained(&error));
            self.conclude(action, &argument, peer, Err(why))
        })
    }

    /// Stores a copy of the workspace's own files, if they are still the files that the person saw.
    fn copy_project(&self, workspace: &str, seen: Option<&str>) -> Result<(), String> {
        let found = read_project(Path::new(workspace)).map_err(|error| error.to_string())?;
        if found.as_ref().map(FileSet::hash).as_deref() != seen {
            return Err(
                "the workspace's own files are not those that were shown: look at them again".to_owned()
            );
        }
        let Some(found) = found else { return Ok(()) };
        self.policy.check_project(&found)?;
        keep_copy(&self.layout, &found)
    }
}

/// Checks that the path is an existing real path and, for trust, a whole workspace. The client has checked the same.
fn is_there(workspace: &str, decision: &TrustDecision) -> Result<(), String> {
    let found = workspace_at(workspace).map_err(|error| error.to_string())?;
    match decision {
        TrustDecision::Trusted if !found.is_border => {
            Err(format!("`{}` can be no workspace: it is, or holds, a home", shown(workspace)))
        }
        // A session there would belong to the repository around it. A denial also applies to all folders below.
        TrustDecision::Trusted if found.path != workspace => {
            Err(format!("`{}` is no workspace: `{}` is", shown(workspace), shown(&found.path)))
        }
        TrustDecision::Trusted | TrustDecision::Denied | TrustDecision::Unknown => Ok(()),
    }
}

/// Returns a path for a single line.
fn shown(path: &str) -> String {
    let shown: String = path.chars().take(SHOWN_PATH_CHARS).collect();
    shown.escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_repository_is_denied_and_not_trusted() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("r/.git")).unwrap();
        std::fs::create_dir_all(root.join("r/sub")).unwrap();
        let check = |path: &str, decision: &TrustDecision, expected: bool| {
            let path = root.join(path).display().to_string();
            assert_eq!(is_there(&path, decision).is_ok(), expected, "{path} {decision:?}");
        };
        check("r", &TrustDecision::Denied, true);
        check("r/sub", &TrustDecision::Denied, true);
        check("r/sub", &TrustDecision::Trusted, false);
        check("r/sub", &TrustDecision::Unknown, true);
    }
}
