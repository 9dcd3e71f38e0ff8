//! The project's own files with code: those that lie in the workspace and that neither this call nor an earlier one of the session has
//! put there or changed. It must not know what is made of a part of one that was not understood.

mod builds;

use std::collections::BTreeSet;

use castellan_event::{Answer, Effect, EffectKind, Facts, FileKind, Query, Scope, Why};
use castellan_programs::Arg;

use crate::overlay::Way;
use crate::path;
use crate::scene::Scene;
use crate::slots::keeps_code;
use crate::trees::{ANYWHERE_MARK, OPEN, TREE_MARK, changes_tree, may_be_written, may_meet};

/// Directories of installed packages: they lie in the project, and are not its own.
const INSTALLED: &[&str] = &["node_modules", "site-packages"];

/// Stands behind the workspace's directory, for all files in it: only the project's own code changes any of them, in this call too. What
/// it makes is its own then.
const UNTOUCHED: &str = "/**";

/// Those of the files in which something was not understood that are the project's own.
pub(crate) fn of(facts: &Facts, scene: &mut Scene<'_, '_, '_>) -> BTreeSet<String> {
    // Of most calls all is understood.
    if !facts.effects.iter().any(Effect::is_opaque) || is_any_strange(facts, scene) {
        return BTreeSet::new();
    }
    let opaque = facts.effects.iter().filter(|effect| effect.is_opaque());
    let mut files: BTreeSet<String> = opaque.filter_map(|effect| effect.script_path.clone()).collect();
    files.retain(|file| is_own(file, scene));
    // What the project's own code writes is its own doing; what another file does that runs makes no file the project's.
    let changes: Vec<&Effect> = facts.effects.iter().filter(|effect| changes_files(effect)).collect();
    let scripts: BTreeSet<&String> =
        changes.iter().filter_map(|effect| effect.script_path.as_ref()).collect();
    let own: BTreeSet<&String> = scripts.into_iter().filter(|file| is_own(file, scene)).collect();
    let others =
        changes.iter().filter(|effect| !effect.script_path.as_ref().is_some_and(|file| own.contains(file)));
    let others: Vec<&&Effect> = others.collect();
    // A file that another one changes may in turn change others.
    let is_safe = |file: &String| !others.iter().any(|effect| may_change(effect, file));
    if !own.iter().all(|file| is_safe(file)) {
        return BTreeSet::new();
    }
    files.retain(is_safe);
    let workspace = scene.setting.workspace.trim_end_matches('/');
    let is_inside = |path: &str| path.strip_prefix(workspace).is_some_and(|rest| rest.starts_with('/'));
    // What is fetched may be what is made of it.
    let written: Vec<String> = scene.setting.written.iter().filter(|path| is_inside(path)).cloned().collect();
    let is_touched = !builds::are_plain_sources(&written, scene)
        || facts.effects.iter().any(|effect| effect.kind == EffectKind::Download)
        || others.iter().any(|effect| {
            let is_around = |path: &str| format!("{workspace}/").starts_with(path);
            effect.path.as_deref().is_none_or(|path| is_inside(path) || is_around(path))
                && !builds::makes(effect, facts, workspace)
        });
    let made = facts.effects.iter().filter(|effect| effect.is_opaque() && effect.why == Some(Why::Shadowed));
    if !is_touched && made.clone().next().is_some() {
        // What is typed names the file that it runs.
        let file = |effect: &Effect| effect.script_path.clone().or_else(|| effect.target.clone());
        files.extend(
            made.filter_map(file)
                .filter(|file| is_inside(file) && !is_installed(file) && is_made_there(file, scene)),
        );
        files.insert(format!("{workspace}{UNTOUCHED}"));
    }
    files
}

/// Whether a file that is made lies where its path says: there is none yet, or one that is no link.
fn is_made_there(file: &str, scene: &mut Scene<'_, '_, '_>) -> bool {
    match scene.world.ask(Query::FileKind { path: file.to_owned() }) {
        Some(Answer::FileKind(FileKind::Missing)) => true,
        Some(Answer::FileKind(FileKind::File)) => {
            let located = path::locate(&Arg::known(file), None, &scene.places, scene.world);
            located.path.as_deref() == Some(file) && located.scope == Some(Scope::Workspace)
        }
        _ => false,
    }
}

fn is_installed(file: &str) -> bool {
    file.split('/').any(|part| INSTALLED.contains(&part))
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
        || [TREE_MARK, ANYWHERE_MARK]
            .iter()
            .any(|mark| scene.setting.written.contains(&format!("{workspace}/{mark}")))
        || scene.setting.downloaded.iter().any(|path| path.starts_with(workspace))
        || facts.effects.iter().any(fetches)
}

/// Whether an effect makes files, or makes others of them.
fn changes_files(effect: &Effect) -> bool {
    matches!(effect.kind, EffectKind::Write | EffectKind::Link | EffectKind::Delete) && !keeps_code(effect)
}

/// Whether such an effect may be one on a file: it is on that, on a directory above it, or on a pattern or a path that is not known.
fn may_change(effect: &Effect, file: &str) -> bool {
    effect.path.as_deref().is_none_or(|path| {
        let path = path.trim_end_matches('/');
        may_meet(path, file)
            || file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// Whether a file lies in the workspace, and no earlier call of the session has put it there or changed it.
fn is_own(file: &str, scene: &mut Scene<'_, '_, '_>) -> bool {
    if file.contains(OPEN) && is_own_pattern(file, scene) {
        return true;
    }
    let located = path::locate(&Arg::known(file), None, &scene.places, scene.world);
    let is_plain = located.place == Some(Scope::Workspace) && located.scope == Some(Scope::Workspace);
    // Through a link in the project, what runs may lie anywhere.
    let Some(real) = located.path.filter(|real| is_plain && real == file) else { return false };
    let kind = scene.world.ask(Query::FileKind { path: real.clone() });
    kind == Some(Answer::FileKind(FileKind::File)) && !is_installed(&real) && is_unchanged(&real, scene)
}

/// Whether all files that a pattern may stand for are such: those below the directory that it begins in. Links that the session made
/// there are among what it wrote.
fn is_own_pattern(pattern: &str, scene: &mut Scene<'_, '_, '_>) -> bool {
    let known = pattern.find(OPEN).and_then(|at| pattern.get(..at)).and_then(|known| known.rsplit_once('/'));
    let Some((directory, _)) = known else { return false };
    let located = path::locate(&Arg::known(directory), None, &scene.places, scene.world);
    let is_plain = located.place == Some(Scope::Workspace) && located.path.as_deref() == Some(directory);
    is_plain
        && !pattern.split('/').any(|part| part == "..")
        && !is_installed(pattern)
        && is_unchanged(directory, scene)
        && !may_be_written(&scene.setting.written, pattern)
        && !scene.overlay.has_changed_around(directory)
}

/// Whether neither this call nor an earlier one of the session has changed a path, nor may a call be doing so.
fn is_unchanged(path: &str, scene: &Scene<'_, '_, '_>) -> bool {
    !may_be_written(&scene.setting.written, path)
        && scene.overlay.follow(path, true) == Way::Same
        && !scene.is_changing(path)
}
