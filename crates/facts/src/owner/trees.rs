//! The work trees in which version control changes files. This module must not know the consequences.

use std::collections::BTreeSet;

use castellan_event::{Answer, Query};
use castellan_programs::Arg;

use crate::path;
use crate::scene::Scene;

/// The roots of the work trees that the call changes, as far as the world knows them.
pub(crate) fn changed_trees(scene: &mut Scene<'_, '_, '_>) -> BTreeSet<String> {
    let found = std::mem::take(&mut scene.changed_trees);
    found.into_iter().map(|directory| root(directory, scene)).collect()
}

/// The root of the work tree around a directory, or the directory's real path if the world knows no root.
pub(crate) fn root(directory: String, scene: &mut Scene<'_, '_, '_>) -> String {
    if directory == scene.session.setting.workspace {
        return directory;
    }
    let located = path::locate(&Arg::known(&directory), None, &scene.session.places, scene.world);
    let real = located.path.unwrap_or(directory);
    match scene.world.ask(Query::Repository { of: real.clone() }) {
        Some(Answer::Repository(Some(root))) => root,
        _ => real,
    }
}
