//! The project's own files with code: those that lie in the workspace and that neither this call nor an earlier one of the session has
//! put there or changed. It must not know what is made of a part of one that was not understood.

use std::collections::BTreeSet;

use castellan_event::{Answer, Effect, EffectKind, Facts, FileKind, FileOrigin, Query, Scope};
use castellan_programs::Arg;

use crate::overlay::Way;
use crate::path;
use crate::scene::Scene;
use crate::sink::TREE_CHANGES;

/// What git writes whenever it changes files of the work tree, below the workspace. That an earlier call wrote it says that any file of
/// the project may be another one than the user knows.
pub const TREE_MARK: &str = ".git/index";

/// Directories of installed packages: they lie in the project, and are not its own.
const INSTALLED: &[&str] = &["node_modules", "site-packages"];

/// Whether an effect changes files of the work tree, by way of git.
pub fn changes_tree(effect: &Effect) -> bool {
    matches!(effect.kind, EffectKind::Mutate | EffectKind::Destroy)
        && effect.system.as_deref() == Some("git")
        && effect.verb.as_deref().is_none_or(|verb| TREE_CHANGES.contains(&verb))
}

/// Those of the files in which something was not understood that are the project's own.
pub(crate) fn of(facts: &Facts, scene: &mut Scene<'_, '_, '_>) -> BTreeSet<String> {
    if is_any_strange(facts, scene) {
        return BTreeSet::new();
    }
    let opaque = facts.effects.iter().filter(|effect| effect.is_opaque());
    let mut files: BTreeSet<String> = opaque.filter_map(|effect| effect.script_path.clone()).collect();
    files.retain(|file| is_own(file, scene));
    files
}

/// Whether any file of the project may be another one than the user knows, code that runs may come from the network, or what it is given
/// is not known.
fn is_any_strange(facts: &Facts, scene: &Scene<'_, '_, '_>) -> bool {
    let workspace = scene.setting.workspace.trim_end_matches('/');
    // What the project's own code fetches is the project's.
    let fetches = |effect: &Effect| {
        effect.script_path.is_none() && effect.kind == EffectKind::Download || changes_tree(effect)
    };
    workspace.is_empty()
        || scene.is_code_given_unknown
        || scene.setting.written_is_full
        || scene.setting.written.contains(&format!("{workspace}/{TREE_MARK}"))
        || scene.setting.downloaded.iter().any(|path| path.starts_with(workspace))
        || facts.effects.iter().any(fetches)
}

fn is_own(file: &str, scene: &mut Scene<'_, '_, '_>) -> bool {
    let located = path::locate(&Arg::known(file), None, &scene.places, scene.world);
    let is_plain = located.place == Some(Scope::Workspace) && located.scope == Some(Scope::Workspace);
    // Through a link in the project, what runs may lie anywhere.
    let Some(real) = located.path.filter(|real| is_plain && real == file) else { return false };
    let kind = scene.world.ask(Query::FileKind { path: real.clone() });
    kind == Some(Answer::FileKind(FileKind::File))
        && !real.split('/').any(|part| INSTALLED.contains(&part))
        && scene.origin_of(&real, located.place) == Some(FileOrigin::Repository)
        && scene.overlay.follow(&real, true) == Way::Same
        && !scene.is_changing(&real)
}
