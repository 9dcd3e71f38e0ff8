//! The files of a home as they are now, applied or not.

use crate::applied;
use crate::config::Config;
use crate::file_set::{FileSet, FileSetError, read_organisation};
use crate::layers::{Layers, config};
use crate::layout::Layout;
use crate::trial::Trial;

impl Layers {
    /// Combines the organisation's present files with the user's.
    pub fn above(user: FileSet, layout: &Layout) -> Result<Layers, FileSetError> {
        let organisation = organisation_now(layout)?;
        Ok(Layers { organisation, user, project: None, trial: trial_now(layout) })
    }
}

impl Config {
    /// Merges the present files of the organisation and the user, applied or not. Absent files have the defaults.
    pub fn of_home(layout: &Layout) -> Result<Config, FileSetError> {
        Config::with_project(layout, None)
    }

    /// Merges the same files with a workspace's own files, as if the workspace were trusted.
    pub fn with_project(layout: &Layout, project: Option<&FileSet>) -> Result<Config, FileSetError> {
        let organisation = organisation_now(layout)?;
        let user = Config::read_text(&layout.config_file())?;
        let mut config = config(organisation.as_ref(), &user, project, layout)?;
        config.packs.trial = trial_now(layout).rules;
        Ok(config)
    }
}

/// Returns the trial of the last applied set; an empty one if that cannot be read.
fn trial_now(layout: &Layout) -> Trial {
    applied::read(layout).map(|set| set.trial).unwrap_or_default()
}

/// Reads the organisation's files. Files that another user may have written are ignored.
fn organisation_now(layout: &Layout) -> Result<Option<FileSet>, FileSetError> {
    match read_organisation(layout.organisation()) {
        Err(error) if error.is_distrusted() => Ok(None),
        read => read,
    }
}
