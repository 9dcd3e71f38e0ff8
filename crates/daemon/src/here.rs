//! [`Here`]: what a person has decided about a directory, and which of its workspace's own files count, for whoever judges or lists without
//! the daemon. It must not know a call.

use std::path::Path;

use castellan_event::Recorder;
use castellan_policy::Standing;

use crate::file_set::FileSet;
use crate::journal::Found;
use crate::layout::Layout;
use crate::limits::JOURNAL_READS_MAX;
use crate::memory::{Memory, Trust};
use crate::projects::read_copy;
use crate::workspace::workspace_of;
use crate::world::FileSystem;

/// What counts in a directory besides the files of the home.
#[derive(Debug)]
pub struct Here {
    /// What a person has said of its workspace, or of a directory above.
    pub standing: Standing,
    /// The workspace's own files as they were trusted, where there were any.
    pub project: Option<FileSet>,
}

impl Here {
    /// Finds it by what the journal of a home says now. An error when the journal cannot be read: why.
    pub fn find(layout: &Layout, directory: &Path) -> Result<Here, String> {
        let trust = read_trust(&layout.journal())?;
        let Ok(real) = std::fs::canonicalize(directory) else {
            // Where it cannot be told which directory it is, it may be a denied one.
            let standing = if trust.has_denied() { Standing::Denied } else { Standing::Unknown };
            return Ok(Here { standing, project: None });
        };
        let real = real.to_string_lossy();
        let machine = FileSystem::default();
        let workspace = workspace_of(&real, std::process::id(), &mut Recorder::new(&machine));
        let standing =
            if trust.denies(&real) { Standing::Denied } else { trust.standing(workspace.as_ref()) };
        let hash = trust.project(workspace.as_ref()).filter(|_| standing == Standing::Trusted);
        match hash.map(|hash| read_copy(layout, hash)) {
            None => Ok(Here { standing, project: None }),
            Some(Ok(project)) => Ok(Here { standing, project: Some(project) }),
            // What it was trusted with is not known any more.
            Some(Err(_)) => Ok(Here { standing: Standing::Unknown, project: None }),
        }
    }
}

/// The decisions in a journal, which the daemon may be writing. Without a journal there are none.
fn read_trust(journal: &Path) -> Result<Trust, String> {
    let mut why = String::new();
    for _ in 0..JOURNAL_READS_MAX {
        match Memory::read_trust(journal) {
            (Found::Nothing, _) => return Ok(Trust::default()),
            (Found::Lines, trust) => return Ok(trust),
            (Found::Damaged(damage), _) => why = damage,
        }
    }
    Err(format!("what was decided about workspaces cannot be read: `{}`: {why}", journal.display()))
}
