//! What persons have decided about workspaces, by their real paths: never by how a path is written, nor by the name of one of its
//! directories. It must not know what follows from it.

use std::collections::BTreeMap;
use std::path::Path;

use castellan_policy::Standing;
use serde::{Deserialize, Serialize};

use super::Workspace;
use crate::limits::DECIDED_WORKSPACES_MAX;

/// What a person has decided about one workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum WorkspaceDecision {
    /// Sessions may work there, and its own files count that had this hash, where there were any.
    Trusted { project: Option<String> },
    /// Sessions there have no tools, nor below it.
    Denied,
}

/// The decisions.
#[derive(Debug, Default)]
pub(crate) struct Trust {
    workspaces: BTreeMap<String, WorkspaceDecision>,
}

impl Trust {
    /// Decides; `None` forgets what was decided.
    pub(super) fn decide(&mut self, workspace: String, decided: Option<WorkspaceDecision>) {
        match decided {
            Some(decided) => self.workspaces.insert(workspace, decided),
            None => self.workspaces.remove(&workspace),
        };
    }

    /// Whether there is room for a decision about this workspace.
    pub(super) fn has_room(&self, workspace: &str) -> bool {
        self.workspaces.len() < DECIDED_WORKSPACES_MAX || self.workspaces.contains_key(workspace)
    }

    /// What was decided about a workspace itself.
    pub(crate) fn get(&self, workspace: &str) -> Option<&WorkspaceDecision> {
        self.workspaces.get(workspace)
    }

    /// How sessions of a workspace stand. Denied counts for all below, trusted for the workspace itself.
    pub(crate) fn of(&self, workspace: &str) -> Standing {
        if self.denies(workspace) {
            return Standing::Denied;
        }
        match self.workspaces.get(workspace) {
            Some(WorkspaceDecision::Trusted { .. }) => Standing::Trusted,
            Some(WorkspaceDecision::Denied) => Standing::Denied,
            None => Standing::Unknown,
        }
    }

    /// How sessions of a workspace stand. Without one, nobody can have said anything.
    pub(crate) fn standing(&self, workspace: Option<&Workspace>) -> Standing {
        match workspace.map(|workspace| (self.of(&workspace.path), workspace.is_border)) {
            Some((Standing::Trusted, false)) | None => Standing::Unknown,
            Some((standing, _)) => standing,
        }
    }

    /// The hash of a trusted workspace's own files as they were trusted, where there were any.
    pub(crate) fn project(&self, workspace: Option<&Workspace>) -> Option<&str> {
        let workspace = workspace.filter(|workspace| self.standing(Some(workspace)) == Standing::Trusted)?;
        self.project_of(&workspace.path)
    }

    /// Whether a directory is denied, or one above it.
    pub(crate) fn denies(&self, directory: &str) -> bool {
        let denied =
            |at: &Path| self.workspaces.get(&*at.to_string_lossy()) == Some(&WorkspaceDecision::Denied);
        Path::new(directory).ancestors().any(denied)
    }

    /// Whether any directory is denied.
    pub(crate) fn has_denied(&self) -> bool {
        self.workspaces.values().any(|decided| *decided == WorkspaceDecision::Denied)
    }

    /// The hashes of the own files of all workspaces that are trusted with some.
    pub(crate) fn projects(&self) -> impl Iterator<Item = &str> {
        let trusted = self.workspaces.keys().filter(|workspace| self.of(workspace) == Standing::Trusted);
        trusted.filter_map(|workspace| self.project_of(workspace))
    }

    /// The hash of the workspace's own files as they were trusted, where there were any.
    pub(crate) fn project_of(&self, workspace: &str) -> Option<&str> {
        match self.workspaces.get(workspace) {
            Some(WorkspaceDecision::Trusted { project }) => project.as_deref(),
            Some(WorkspaceDecision::Denied) | None => None,
        }
    }

    /// Whether some trusted workspace has files with this hash.
    pub(crate) fn needs(&self, hash: &str) -> bool {
        self.workspaces.keys().any(|workspace| self.project_of(workspace) == Some(hash))
    }

    /// Every decision, by path.
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
            ("/w/a", Standing::Trusted),
            ("/w/a/below", Standing::Unknown),
            ("/w", Standing::Unknown),
            ("/w/ab", Standing::Unknown),
            ("/w/A", Standing::Unknown),
            ("/a", Standing::Unknown),
            ("a", Standing::Unknown),
            ("", Standing::Unknown),
            ("/w/b", Standing::Denied),
            ("/w/b/below", Standing::Denied),
            ("/w/b/inside", Standing::Denied),
            ("/w/bb", Standing::Unknown),
        ];
        for (path, expected) in cases {
            assert_eq!(trust.of(path), expected, "{path}");
        }
        trust.decide("/w/b".to_owned(), None);
        assert_eq!(trust.of("/w/b/inside"), Standing::Trusted);
        assert_eq!(trust.of("/w/b"), Standing::Unknown);
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
