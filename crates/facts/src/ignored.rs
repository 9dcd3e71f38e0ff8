//! Lists of ignored files: a negated pattern in one makes a search show a hidden or ignored file. This module must not
//! know rules.

use castellan_event::Scope;
use castellan_programs::Trait;
use castellan_shell::Run;

use crate::changed::OPEN;
use crate::scene::Scene;
use crate::{owner, path, scope, scripts};

/// Names of such lists, for the programs with [`Trait::SkipsHidden`].
const LISTS: &[&str] = &[".gitignore", ".ignore", ".rgignore"];

/// The list of a repository that no commit holds.
const OF_REPOSITORY: &str = "/.git/info/exclude";

/// Stores the lists that make a search show files that it skips. Lists below the searched directories are read only if
/// the session wrote them; the others belong to the project.
pub(crate) fn add(name: &str, run: &Run, scene: &mut Scene<'_, '_, '_>) {
    if !Trait::SkipsHidden.is_of(name) || !run.remote.is_empty() {
        return;
    }
    let Some(cwd) = run.cwd.clone() else { return };
    let root = owner::root(cwd.clone(), scene);
    let is_list = |path: &str| {
        path.ends_with(OF_REPOSITORY) || LISTS.iter().any(|name| path.ends_with(&format!("/{name}")))
    };
    let mut lists = scene.written_where("", is_list);
    for directory in [cwd, root] {
        lists.extend(LISTS.iter().filter_map(|name| path::collapse(Some(&directory), name)));
    }
    for list in lists {
        let is_there = scene.has_file(&list);
        if is_there && shows(&list, scene) {
            scene.unread.insert(list);
        }
    }
}

/// Reports whether a list is unread or has a negated pattern for a file that may hold a secret.
fn shows(list: &str, scene: &mut Scene<'_, '_, '_>) -> bool {
    let Ok(text) = scripts::data(list, scene) else { return true };
    let directory = list.rsplit_once('/').map_or("", |(directory, _)| directory);
    let mut negated = text.lines().filter_map(|line| line.trim_start().strip_prefix('!'));
    negated.any(|pattern| {
        let path = format!("{directory}/{}", pattern.trim().trim_matches('/'));
        let name = path.rsplit('/').next().unwrap_or_default();
        let is_open = pattern.contains(OPEN) && (name.starts_with('.') || name.starts_with(OPEN));
        is_open || scope::classify(&path, &scene.session.places).scope == Scope::Secret
    })
}
