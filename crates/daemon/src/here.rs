//! [`Here`]: workspace trust of a directory and its trusted files, for commands that run without the daemon.
//! It must not know a call.

use std::path::{Path, PathBuf};

use castellan_event::Recorder;
use castellan_policy::WorkspaceTrust;

use crate::file_set::FileSet;
use crate::journal::Found;
use crate::layout::Layout;
use crate::limits::JOURNAL_READS_MAX;
use crate::memory::{Memory, Trust};
use crate::projects::read_copy;
use crate::workspace::workspace_of;
use crate::world::FileSystem;

/// Settings of a directory in addition to the files of the home.
#[derive(Debug)]
pub struct Here {
    /// A person's decision about its workspace or a directory above.
    pub workspace_trust: WorkspaceTrust,
    /// The workspace's own files as they were trusted, if there are any.
    pub project: Option<FileSet>,
}

/// The decisions about workspaces cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the decisions about workspaces cannot be read: `{}`: {damage}: run `castellan restart`, which moves that file aside",
    .journal.display()
)]
pub struct UnreadDecisions {
    /// The journal with the decisions.
    pub journal: PathBuf,
    /// The damage in it.
    pub damage: String,
}

impl Here {
    /// Reads the journal of a home.
    pub fn find(layout: &Layout, directory: &Path) -> Result<Here, UnreadDecisions> {
        let trust = read_trust(&layout.journal())?;
        let Ok(real) = std::fs::canonicalize(directory) else {
            // A directory that cannot be resolved may be a denied one.
            let workspace_trust =
                if trust.has_denied() { WorkspaceTrust::Denied } else { WorkspaceTrust::Unknown };
            return Ok(Here { workspace_trust, project: None });
        };
        let real = real.to_string_lossy();
        let machine = FileSystem::default();
        let workspace = workspace_of(&real, std::process::id(), &mut Recorder::new(&machine));
        let workspace_trust = if trust.denies(&real) {
            WorkspaceTrust::Denied
        } else {
            trust.workspace_trust(workspace.as_ref())
        };
        let hash = trust.project(workspace.as_ref()).filter(|_| workspace_trust == WorkspaceTrust::Trusted);
        match hash.map(|hash| read_copy(layout, hash)) {
            None => Ok(Here { workspace_trust, project: None }),
            Some(Ok(project)) => Ok(Here { workspace_trust, project: Some(project) }),
            // The trusted copy cannot be read, so the workspace is not trusted.
            Some(Err(_)) => Ok(Here { workspace_trust: WorkspaceTrust::Unknown, project: None }),
        }
    }
}

/// Reads the decisions in a journal while the daemon may write it. An absent journal has none.
fn read_trust(journal: &Path) -> Result<Trust, UnreadDecisions> {
    let mut damage = String::new();
    for _ in 0..JOURNAL_READS_MAX {
        match Memory::read_trust(journal) {
            (Found::Nothing, _) => return Ok(Trust::default()),
            (Found::Lines, trust) => return Ok(trust),
            (Found::Damaged(found), _) => damage = found,
        }
    }
    Err(UnreadDecisions { journal: journal.to_owned(), damage })
}
