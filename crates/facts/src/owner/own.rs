//! The project's own code files: files in the workspace that neither this call nor an earlier one of the session has
//! created or changed. Must not know how rules handle an Opaque part of such a file.

mod builds;

use std::collections::BTreeSet;

use castellan_event::{Answer, Effect, EffectKind, Facts, FileKind, Query, Scope, Why};
use castellan_programs::Arg;

use super::{changes_tree, keeps_code};
use crate::changed::{OPEN, is_any_below, may_be_written, may_meet};
use crate::overlay::Way;
use crate::path;
use crate::scene::Scene;

/// Directories of installed packages: part of the project's directory, but not its own code.
const INSTALLED: &[&str] = &["node_modules", "site-packages"];

/// Suffix of the workspace's directory that represents all files in it: only the project's own code changes any of
/// them, also in this call. The output of such code is the project's own.
const UNTOUCHED: &str = "/**";

/// Returns those files with Opaque effects that are the project's own.
pub(crate) fn own_opaque_files(facts: &Facts, scene: &mut Scene<'_, '_, '_>) -> BTreeSet<String> {
    // Most calls have no Opaque effect.
    if !facts.effects.iter().any(Effect::is_opaque) || is_any_strange(facts, scene) {
        return BTreeSet::new();
    }
    let opaque = facts.effects.iter().filter(|effect| effect.is_opaque());
    let mut files: BTreeSet<String> =
        opaque.filter_map(|effect| effect.script_path().map(str::to_owned)).collect();
    files.retain(|file| is_own(file, scene));
    // Output of the project's own code belongs to the project. Output of another running file does not.
    let changes: Vec<&Effect> = facts.effects.iter().filter(|effect| changes_files(effect)).collect();
    let scripts: BTreeSet<&str> = changes.iter().filter_map(|effect| effect.script_path()).collect();
    let own: BTreeSet<&str> = scripts.into_iter().filter(|file| is_own(file, scene)).collect();
    let others = changes.iter().filter(|effect| !effect.script_path().is_some_and(|file| own.contains(file)));
    let others: Vec<&&Effect> = others.collect();
    // A file that another one changes may in turn change others.
    let is_safe = |file: &str| !others.iter().any(|effect| may_change(effect, file));
    if !own.iter().all(|file| is_safe(file)) {
        return BTreeSet::new();
    }
    files.retain(|file| is_safe(file));
    let workspace = scene.session.setting.workspace.trim_end_matches('/');
    let is_inside = |path: &str| path.strip_prefix(workspace).is_some_and(|rest| rest.starts_with('/'));
    // Downloaded data may be part of the output of a build.
    let written: Vec<String> =
        scene.session.setting.written.iter().filter(|path| is_inside(path)).cloned().collect();
    let is_touched = !builds::are_plain_sources(&written, scene)
        || facts.effects.iter().any(|effect| effect.kind() == EffectKind::Download)
        || others.iter().any(|effect| {
            let is_around = |path: &str| format!("{workspace}/").starts_with(path);
            effect.path().is_none_or(|path| is_inside(path) || is_around(path))
                && !builds::makes(effect, facts, workspace)
        });
    let made =
        facts.effects.iter().filter(|effect| effect.is_opaque() && effect.why() == Some(Why::Shadowed));
    if !is_touched && made.clone().next().is_some() {
        // The target of a typed command names the file that it runs.
        let file = |effect: &Effect| {
            effect.script_path().map(str::to_owned).or_else(|| effect.target().map(str::to_owned))
        };
        files.extend(
            made.filter_map(file)
                .filter(|file| is_inside(file) && !is_installed(file) && is_made_there(file, scene)),
        );
        files.insert(format!("{workspace}{UNTOUCHED}"));
    }
    files
}

/// Returns true if a created file is at its written path: no file exists there yet, or one that is no link.
fn is_made_there(file: &str, scene: &mut Scene<'_, '_, '_>) -> bool {
    match scene.world.ask(Query::FileKind { path: file.to_owned() }) {
        Some(Answer::FileKind(FileKind::Missing)) => true,
        Some(Answer::FileKind(FileKind::File)) => {
            let located = path::locate(&Arg::known(file), None, &scene.session.places, scene.world);
            located.path.as_deref() == Some(file) && located.scope == Some(Scope::Workspace)
        }
        _ => false,
    }
}

fn is_installed(file: &str) -> bool {
    file.split('/').any(|part| INSTALLED.contains(&part))
}

/// Returns true if any file of the project may differ from the one that the user knows, if running code may come from
/// the network, or if the input of code is unknown.
fn is_any_strange(facts: &Facts, scene: &Scene<'_, '_, '_>) -> bool {
    let workspace = scene.session.setting.workspace.trim_end_matches('/');
    // The project itself chose the downloads of its own code.
    let fetches = |effect: &Effect| {
        effect.script_path().is_none() && effect.kind() == EffectKind::Download || changes_tree(&effect.op)
    };
    workspace.is_empty()
        || scene.is_code_given_unknown
        || scene.session.setting.written_is_full
        || is_any_below(workspace, &scene.session.setting.written)
        || scene.session.setting.downloaded.iter().any(|path| path.starts_with(workspace))
        || facts.effects.iter().any(fetches)
}

/// Returns true if an effect creates or changes files.
fn changes_files(effect: &Effect) -> bool {
    matches!(effect.kind(), EffectKind::Write | EffectKind::Link | EffectKind::Delete)
        && !keeps_code(&effect.op)
}

/// Returns true if such an effect may change a file: by its path, a directory above, a pattern or an unknown path.
fn may_change(effect: &Effect, file: &str) -> bool {
    effect.path().is_none_or(|path| {
        let path = path.trim_end_matches('/');
        may_meet(path, file)
            || file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// Returns true if a file is in the workspace, and no earlier call of the session has created or changed it.
fn is_own(file: &str, scene: &mut Scene<'_, '_, '_>) -> bool {
    if file.contains(OPEN) && is_own_pattern(file, scene) {
        return true;
    }
    let located = path::locate(&Arg::known(file), None, &scene.session.places, scene.world);
    let is_plain = located.place == Some(Scope::Workspace) && located.scope == Some(Scope::Workspace);
    // The target of a link in the project may be anywhere.
    let Some(real) = located.path.filter(|real| is_plain && real == file) else { return false };
    let kind = scene.world.ask(Query::FileKind { path: real.clone() });
    kind == Some(Answer::FileKind(FileKind::File)) && !is_installed(&real) && is_unchanged(&real, scene)
}

/// Returns true if all possible matches of a pattern are own files: those below the directory that it begins in. Links
/// that the session made there are among its written paths.
fn is_own_pattern(pattern: &str, scene: &mut Scene<'_, '_, '_>) -> bool {
    let known = pattern.find(OPEN).and_then(|at| pattern.get(..at)).and_then(|known| known.rsplit_once('/'));
    let Some((directory, _)) = known else { return false };
    let located = path::locate(&Arg::known(directory), None, &scene.session.places, scene.world);
    let is_plain = located.place == Some(Scope::Workspace) && located.path.as_deref() == Some(directory);
    is_plain
        && !pattern.split('/').any(|part| part == "..")
        && !is_installed(pattern)
        && is_unchanged(directory, scene)
        && !may_be_written(&scene.session.setting.written, pattern)
        && !scene.overlay.has_changed_around(directory)
}

/// Returns true if no call of the session has changed a path, and no running call may be changing it.
fn is_unchanged(path: &str, scene: &Scene<'_, '_, '_>) -> bool {
    !may_be_written(&scene.session.setting.written, path)
        && scene.overlay.follow(path, true) == Way::Same
        && !scene.session.is_changing(path)
}
