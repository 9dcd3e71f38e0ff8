//! Decisions of persons about workspaces, by real path. Never by another spelling of the path or by the name of a
//! directory. Does not depend on the effects of a decision.

use std::collections::BTreeMap;
use std::path::Path;

use castellan_policy::WorkspaceTrust;
use serde::{Deserialize, Serialize};

use super::Workspace;
use crate::limits::DECIDED_WORKSPACES_MAX;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum WorkspaceDecision {
    /// Sessions may work there. `project` is the hash of the only own files that apply, if it had any at the decision.
    Trusted { project: Option<String> },
    /// Sessions there and below have no tools.
    Denied,
}

#[derive(Debug, Default)]
pub(crate) struct Trust {
    workspaces: BTreeMap<String, WorkspaceDecision>,
}

impl Trust {
    /// Stores a decision; `None` removes it.
    pub(super) fn decide(&mut self, workspace: String, decided: Option<WorkspaceDecision>) {
        match decided {
            Some(decided) => self.workspaces.insert(workspace, decided),
            None => self.workspaces.remove(&workspace),
        };
    }

    /// Reports whether there is room for a decision about this workspace.
    pub(super) fn has_room(&self, workspace: &str) -> bool {
        self.workspaces.len() < DECIDED_WORKSPACES_MAX || self.workspaces.contains_key(workspace)
    }

    pub(crate) fn get(&self, workspace: &str) -> Option<&WorkspaceDecision> {
        self.workspaces.get(workspace)
    }

    /// The workspace trust of a path. A denial applies to all paths below; trust applies to the workspace alone.
    pub(crate) fn of(&self, workspace: &str) -> WorkspaceTrust {
        if self.denies(workspace) {
            return WorkspaceTrust::Denied;
        }
        match self.workspaces.get(workspace) {
            Some(WorkspaceDecision::Trusted { .. }) => WorkspaceTrust::Trusted,
            Some(WorkspaceDecision::Denied) => WorkspaceTrust::Denied,
            None => WorkspaceTrust::Unknown,
        }
    }

    /// Returns the workspace trust of a session's workspace; `Unknown` without one.
    pub(crate) fn workspace_trust(&self, workspace: Option<&Workspace>) -> WorkspaceTrust {
        match workspace.map(|workspace| (self.of(&workspace.path), workspace.is_border)) {
            Some((WorkspaceTrust::Trusted, false)) | None => WorkspaceTrust::Unknown,
            Some((workspace_trust, _)) => workspace_trust,
        }
    }

    /// The hash of a trusted workspace's own files at the decision, if it had any.
    pub(crate) fn project(&self, workspace: Option<&Workspace>) -> Option<&str> {
        let workspace =
            workspace.filter(|workspace| self.workspace_trust(Some(workspace)) == WorkspaceTrust::Trusted)?;
        self.project_of(&workspace.path)
    }

    /// Reports whether a directory or a directory above it is denied.
    pub(crate) fn denies(&self, directory: &str) -> bool {
        let denied =
            |at: &Path| self.workspaces.get(&*at.to_string_lossy()) == Some(&WorkspaceDecision::Denied);
        Path::new(directory).ancestors().any(denied)
    }

    /// Reports whether any directory is denied.
    pub(crate) fn has_denied(&self) -> bool {
        self.workspaces.values().any(|decided| *decided == WorkspaceDecision::Denied)
    }

    /// Returns the hashes of the own files of all trusted workspaces.
    pub(crate) fn projects(&self) -> impl Iterator<Item = &str> {
        let trusted =
            self.workspaces.keys().filter(|workspace| self.of(workspace) == WorkspaceTrust::Trusted);
        trusted.filter_map(|workspace| self.project_of(workspace))
    }

    /// The hash of the workspace's own files at the decision, if it had any.
    pub(crate) fn project_of(&self, workspace: &str) -> Option<&str> {
        match self.workspaces.get(workspace) {
            Some(WorkspaceDecision::Trusted { project }) => project.as_deref(),
            Some(WorkspaceDecision::Denied) | None => None,
        }
    }

    /// Reports whether a trusted workspace has files with this hash.
    pub(crate) fn needs(&self, hash: &str) -> bool {
        self.workspaces.keys().any(|workspace| self.project_of(workspace) == Some(hash))
    }

    /// Returns every decision, by path.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &WorkspaceDecision)> {
        self.workspaces.iter().map(|(workspace, decided)| (workspace.as_str(), decided))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_is_of_one_path_and_denial_of_all_below() {
        let mut trust = Trust::default();
        for path in ["/w/a", "/w/b/inside"] {
            trust.decide(path.to_owned(), Some(WorkspaceDecision::Trusted { project: None }));
        }
        trust.decide("/w/b".to_owned(), Some(WorkspaceDecision::Denied));
        let cases = [
            ("/w/a", WorkspaceTrust::Trusted),
            ("/w/a/below", WorkspaceTrust::Unknown),
            ("/w", WorkspaceTrust::Unknown),
            ("/w/ab", WorkspaceTrust::Unknown),
            ("/w/A", WorkspaceTrust::Unknown),
            ("/a", WorkspaceTrust::Unknown),
            ("a", WorkspaceTrust::Unknown),
            ("", WorkspaceTrust::Unknown),
            ("/w/b", WorkspaceTrust::Denied),
            ("/w/b/below", WorkspaceTrust::Denied),
            ("/w/b/inside", WorkspaceTrust::Denied),
            ("/w/bb", WorkspaceTrust::Unknown),
        ];
        for (path, expected) in cases {
            assert_eq!(trust.of(path), expected, "{path}");
        }
        trust.decide("/w/b".to_owned(), None);
        assert_eq!(trust.of("/w/b/inside"), WorkspaceTrust::Trusted);
        assert_eq!(trust.of("/w/b"), WorkspaceTrust::Unknown);
    }

    #[test]
    fn a_decision_too_many_has_no_room_and_a_known_one_always() {
        let mut trust = Trust::default();
        for number in 0..DECIDED_WORKSPACES_MAX {
            assert!(trust.has_room(&format!("/w/{number}")));
            trust.decide(format!("/w/{number}"), Some(WorkspaceDecision::Denied));
        }
        assert!(!trust.has_room("/w/new") && trust.has_room("/w/0"));
    }
}
