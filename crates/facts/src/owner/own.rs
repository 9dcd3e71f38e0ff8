//! The owners of code files with an Opaque part. A file is the project's own if neither this call nor an earlier one of
//! the session has created or changed it. It is a session's if one has, or version control, and no byte of it is known
//! to come from the network. Must not know how rules handle an Opaque part of such a file.

mod builds;

use std::collections::BTreeSet;

use castellan_event::{Answer, Effect, EffectKind, Facts, FileKind, Query, Scope, Why};
use castellan_programs::Arg;

use super::{changes_tree, keeps_code};
use crate::changed::{ChangedPath, OPEN, is_any_below, may_be_written, may_meet};
use crate::overlay::Way;
use crate::path;
use crate::scene::Scene;

/// Directories of installed packages: part of the project's directory, but not its own code.
const INSTALLED: &[&str] = &["node_modules", "site-packages"];

/// Suffix of the workspace's directory that represents all files in it: only the project's own code changes any of
/// them, also in this call. The output of such code is the project's own.
const UNTOUCHED: &str = "/**";

/// Whose code a file has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// The project's, as the user knows it.
    Project,
    /// The project's or a session's.
    Session,
}

/// Returns the files with Opaque effects that are the project's own, and those that are a session's.
pub(crate) fn owned_opaque_files(
    facts: &Facts,
    scene: &mut Scene<'_, '_, '_>,
) -> (BTreeSet<String>, BTreeSet<String>) {
    // Most calls have no Opaque effect.
    if !facts.effects.iter().any(Effect::is_opaque) {
        return Default::default();
    }
    let own = files_of(Owner::Project, facts, scene);
    let all = files_of(Owner::Session, facts, scene);
    let sessions = all.difference(&own).cloned().collect();
    (own, sessions)
}

fn files_of(owner: Owner, facts: &Facts, scene: &mut Scene<'_, '_, '_>) -> BTreeSet<String> {
    if is_any_strange(owner, facts, scene) {
        return BTreeSet::new();
    }
    let opaque = facts.effects.iter().filter(|effect| effect.is_opaque());
    let mut files: BTreeSet<String> =
        opaque.filter_map(|effect| effect.script_path().map(str::to_owned)).collect();
    files.retain(|file| is_own(owner, file, scene));
    // Output of the project's own code belongs to the project. Output of another running file does not.
    let changes: Vec<&Effect> = facts.effects.iter().filter(|effect| changes_files(effect)).collect();
    let scripts: BTreeSet<&str> = changes.iter().filter_map(|effect| effect.script_path()).collect();
    let own: BTreeSet<&str> = scripts.into_iter().filter(|file| is_own(owner, file, scene)).collect();
    let others = changes.iter().filter(|effect| !effect.script_path().is_some_and(|file| own.contains(file)));
    let others: Vec<&&Effect> = others.collect();
    if owner == Owner::Project {
        // A file that another one changes may in turn change others.
        let is_safe = |file: &str| !others.iter().any(|effect| may_change(effect, file));
        if !own.iter().all(|file| is_safe(file)) {
            return BTreeSet::new();
        }
        files.retain(|file| is_safe(file));
    }
    let made =
        facts.effects.iter().filter(|effect| effect.is_opaque() && effect.why() == Some(Why::Shadowed));
    if made.clone().next().is_some() && !is_touched(owner, &others, facts, scene) {
        // The target of a typed command names the file that it runs.
        let file = |effect: &Effect| {
            effect.script_path().map(str::to_owned).or_else(|| effect.target().map(str::to_owned))
        };
        let workspace = scene.session.setting.workspace.trim_end_matches('/').to_owned();
        for file in made.filter_map(file).filter(|file| !is_installed(file)) {
            let is_built = || owner == Owner::Session && builds::is_built_aside(&file, facts);
            if is_inside(&file, &workspace) {
                files.extend(Some(file).filter(|file| is_made_there(file, scene)));
            } else if let Some((directory, _)) = file.rsplit_once('/').filter(|_| is_built()) {
                files.insert(format!("{directory}{UNTOUCHED}"));
                files.insert(file);
            }
        }
        files.insert(format!("{workspace}{UNTOUCHED}"));
    }
    files
}

/// Returns true if files of the workspace may be changed by anything but its own code and builds. Downloaded data may be
/// part of the output of a build.
fn is_touched(owner: Owner, others: &[&&Effect], facts: &Facts, scene: &mut Scene<'_, '_, '_>) -> bool {
    let workspace = scene.session.setting.workspace.trim_end_matches('/').to_owned();
    let written = &scene.session.setting.written;
    let written: Vec<String> = written.iter().filter(|path| is_inside(path, &workspace)).cloned().collect();
    let is_plain = owner == Owner::Session || builds::are_plain_sources(&written, scene);
    !is_plain
        || facts.effects.iter().any(|effect| effect.kind() == EffectKind::Download)
        || others.iter().any(|effect| {
            let is_around = |path: &str| format!("{workspace}/").starts_with(path);
            effect.path().is_none_or(|path| is_inside(path, &workspace) || is_around(path))
                && !builds::makes(effect, facts, &workspace)
        })
}

fn is_inside(path: &str, workspace: &str) -> bool {
    path.strip_prefix(workspace).is_some_and(|rest| rest.starts_with('/'))
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

/// Returns true if any file of the project may be another's than the owner's, if running code may come from the
/// network, or if the input of code is unknown.
fn is_any_strange(owner: Owner, facts: &Facts, scene: &Scene<'_, '_, '_>) -> bool {
    let setting = scene.session.setting;
    let workspace = setting.workspace.trim_end_matches('/');
    let is_changed = |effect: &Effect| owner == Owner::Project && changes_tree(&effect.op);
    // The project itself chose the downloads of its own code.
    let fetches = |effect: &Effect| effect.script_path().is_none() && effect.kind() == EffectKind::Download;
    let may_any_be_others = match owner {
        Owner::Project => {
            is_any_below(workspace, &setting.written)
                || ChangedPath::Anywhere(workspace).is_in(&setting.contained)
                || setting.downloaded.iter().any(|path| path.starts_with(workspace))
        }
        Owner::Session => {
            ChangedPath::Anywhere(workspace).is_in(&setting.written)
                || ChangedPath::Anywhere(workspace).is_in(&setting.contained)
                || ChangedPath::Tree(workspace).is_in(&setting.downloaded)
        }
    };
    workspace.is_empty()
        || scene.is_code_given_unknown
        || setting.written_is_full
        || may_any_be_others
        || facts.effects.iter().any(|effect| fetches(effect) || is_changed(effect))
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

/// Returns true if a file is in the workspace, and its owner alone has created or changed it.
fn is_own(owner: Owner, file: &str, scene: &mut Scene<'_, '_, '_>) -> bool {
    if file.contains(OPEN) && is_own_pattern(owner, file, scene) {
        return true;
    }
    let located = path::locate(&Arg::known(file), None, &scene.session.places, scene.world);
    let is_plain = located.place == Some(Scope::Workspace) && located.scope == Some(Scope::Workspace);
    // The target of a link in the project may be anywhere.
    let Some(real) = located.path.filter(|real| is_plain && real == file) else { return false };
    let kind = scene.world.ask(Query::FileKind { path: real.clone() });
    kind == Some(Answer::FileKind(FileKind::File)) && !is_installed(&real) && is_owners(owner, &real, scene)
}

/// Returns true if all possible matches of a pattern are own files: those below the directory that it begins in. Links
/// that the session made there are among its written paths.
fn is_own_pattern(owner: Owner, pattern: &str, scene: &mut Scene<'_, '_, '_>) -> bool {
    let known = pattern.find(OPEN).and_then(|at| pattern.get(..at)).and_then(|known| known.rsplit_once('/'));
    let Some((directory, _)) = known else { return false };
    let located = path::locate(&Arg::known(directory), None, &scene.session.places, scene.world);
    let is_plain = located.place == Some(Scope::Workspace) && located.path.as_deref() == Some(directory);
    is_plain
        && !pattern.split('/').any(|part| part == "..")
        && !is_installed(pattern)
        && is_owners(owner, directory, scene)
        && !may_be_written(others(owner, scene), pattern)
        && (owner == Owner::Session || !scene.overlay.has_changed_around(directory))
}

/// Returns true if nobody but the owner has changed a path, and no running call may be changing it.
fn is_owners(owner: Owner, path: &str, scene: &Scene<'_, '_, '_>) -> bool {
    let is_fetched = || scene.overlay.has_downloaded(path);
    !may_be_written(others(owner, scene), path)
        && scene.overlay.follow(path, true) == Way::Same
        && !scene.session.is_changing(path)
        && !scene.session.is_contained(path)
        && (owner == Owner::Project || !is_fetched())
}

/// Returns the paths of earlier calls that are not the owner's.
fn others<'s>(owner: Owner, scene: &Scene<'s, '_, '_>) -> &'s BTreeSet<String> {
    match owner {
        Owner::Project => &scene.session.setting.written,
        Owner::Session => &scene.session.setting.downloaded,
    }
}
