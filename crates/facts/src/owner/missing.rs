//! Missing code files of the project. A program that should run such a file fails and runs nothing, unless something
//! creates the file first: then its content is unknown. Must not know languages.

use castellan_event::{Answer, Effect, EffectKind, Facts, FileKind, Query, Scope, Why};
use castellan_programs::{Arg, Trait};

use super::changes_tree;
use crate::overlay::Way;
use crate::path;
use crate::scene::Scene;

/// Returns why the content of a missing file at an absolute path is unknown. Something may create the file, unless it
/// belongs to the project and no known change creates it.
pub(crate) fn why_missing(path: &str, scene: &mut Scene<'_, '_, '_>) -> Why {
    let located = path::locate(&Arg::known(path), None, &scene.session.places, scene.world);
    let is_plain = located.place == Some(Scope::Workspace) && located.scope == Some(Scope::Workspace);
    let Some(real) = located.path.filter(|_| is_plain && !scene.session.setting.written_is_full) else {
        return Why::File;
    };
    let kind = scene.world.ask(Query::FileKind { path: real.clone() });
    let is_there = !matches!(kind, Some(Answer::FileKind(FileKind::Missing)));
    let is_made = scene.overlay.has_written(&real)
        || scene.overlay.follow(&real, true) != Way::Same
        || scene.session.has_written(&real)
        || scene.session.is_changing(&real);
    if is_there || is_made {
        return Why::File;
    }
    scene.files.missing.insert(real);
    Why::Missing
}

/// Runs after all effects of a call are found. If something in the call may create a missing file before or while it
/// runs, its content is unknown.
pub(crate) fn settle(scene: &Scene<'_, '_, '_>, facts: &mut Facts) {
    if scene.files.missing.is_empty() {
        return;
    }
    let waits = |name: &String| Trait::Waits.is_of(name);
    let may_wait =
        facts.commands.iter().any(|command| command.background || command.name.as_ref().is_some_and(waits));
    if may_wait || facts.effects.iter().any(|effect| may_make(effect, scene)) {
        let missing = facts.effects.iter_mut().filter(|effect| effect.why() == Some(Why::Missing));
        missing.for_each(|effect| effect.set_why(Why::File));
    }
}

/// Returns true if an effect may create one of the missing files.
fn may_make(effect: &Effect, scene: &Scene<'_, '_, '_>) -> bool {
    let path = effect.path();
    match effect.kind() {
        EffectKind::Download | EffectKind::Install | EffectKind::Inject => true,
        EffectKind::Write | EffectKind::Link => path.is_none_or(|path| {
            let is_pattern = path.contains(['*', '?', '[', '{']);
            let below = format!("{}/", path.trim_end_matches('/'));
            is_pattern || scene.files.missing.iter().any(|one| one == path || one.starts_with(&below))
        }),
        EffectKind::Mutate | EffectKind::Destroy => changes_tree(&effect.op),
        // A program without a model may write any path. A file that project code starts belongs to the project.
        EffectKind::Execute => {
            let is_code =
                |path: &str| scene.files.missing.contains(path) || scene.files.ran.contains_key(path);
            effect.system().is_none() && effect.script_path().is_none() && !path.is_some_and(is_code)
        }
        EffectKind::Read
        | EffectKind::Delete
        | EffectKind::Permission
        | EffectKind::Connect
        | EffectKind::Upload
        | EffectKind::Listen
        | EffectKind::Interactive
        | EffectKind::Elevate
        | EffectKind::Publish
        | EffectKind::Query
        | EffectKind::Signal
        | EffectKind::Service
        | EffectKind::Schedule
        | EffectKind::Detach
        | EffectKind::Spawn
        | EffectKind::Environment
        | EffectKind::Mcp
        | EffectKind::Opaque => false,
    }
}
