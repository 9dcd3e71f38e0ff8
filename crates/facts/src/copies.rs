//! Files that hold what the call read from a secret: a copy, a link, an archive, an encoding, a part.
//! Their names show nothing, so the call and later calls of the session know them by their paths. Must not know commands.

use std::collections::BTreeSet;

use castellan_event::{Effect, EffectKind, Facts, FileOrigin, Role, Scope, Why};
use castellan_programs::{Arg, Piece, Trait, base_name};
use castellan_shell::{Run, Stdin};

use crate::changed::is_named;
use crate::limits::SECRET_COPIES_MAX;
use crate::owner;
use crate::scene::Scene;
use crate::scope;
use crate::secrets::keeps_to_itself;
use crate::sink::Sink;

/// Files with logins, by their names in the directory of a client. Copying the directory copies them.
const LOGINS: &[&str] =
    &["config", "config.json", "credentials", "credentials.db", "hosts.yml", "msal_token_cache.json"];

/// Stores the files into which a command puts what it reads from a secret. `own`: the effects of its arguments.
pub(crate) fn of_command(run: &Run, own: &[Effect], scene: &mut Scene<'_, '_, '_>) {
    if run.remote.is_empty() && own.iter().any(keeps) && !is_of_project(run.script.as_deref(), scene) {
        let carries = !keeps_to_itself(run) && own.iter().any(|effect| reads_secret(effect, scene))
            || outputs_secret(run)
            || receives_secret(run, scene);
        store(own, carries, scene);
    }
}

/// Programs that output a secret only if they decrypt.
const DECRYPTS: &[&str] = &["age", "gpg", "gpg2", "rage", "sops"];

/// Reports whether a command takes a secret out of its store and outputs it.
fn outputs_secret(run: &Run) -> bool {
    let name = run.argv.first().and_then(Arg::as_str).map(base_name).unwrap_or_default();
    let is_given =
        |words: &[&str]| run.argv.iter().skip(1).filter_map(Arg::as_str).any(|arg| words.contains(&arg));
    Trait::OutputsSecrets.signs(name).is_some_and(|signs| signs.is_empty() || is_given(signs))
        && (!DECRYPTS.contains(&name) || is_given(&["-d", "--decrypt", "decrypt"]))
}

/// Stores the objects of a repository if version control puts a secret into them. A later push sends it.
pub(crate) fn of_repository(run: &Run, own: &[Effect], scene: &mut Scene<'_, '_, '_>) {
    let stores = |effect: &Effect| effect.kind() == EffectKind::Mutate && effect.system() == Some("git");
    let is_secret =
        |effect: &Effect| effect.kind() == EffectKind::Read && effect.scope() == Some(Scope::Secret);
    if run.remote.is_empty() && own.iter().any(stores) && own.iter().any(is_secret) {
        let objects = run.cwd.clone().map(|cwd| objects_around(cwd, scene));
        remember(objects, scene);
    }
}

/// Returns the directory with the objects of the repository around a directory.
pub(crate) fn objects_around(directory: String, scene: &mut Scene<'_, '_, '_>) -> String {
    format!("{}/.git/objects", owner::root(directory, scene).trim_end_matches('/'))
}

/// Stores the files into which the code of a command puts what it reads from a secret. `own`: the effects of that code.
pub(crate) fn of_code(run: &Run, own: &[Effect], scene: &mut Scene<'_, '_, '_>) {
    if run.remote.is_empty() && own.iter().any(keeps) {
        let own: Vec<Effect> =
            own.iter().filter(|effect| !is_of_project(effect.script_path(), scene)).cloned().collect();
        let carries = own.iter().any(|effect| reads_secret(effect, scene)) || receives_secret(run, scene);
        store(&own, carries, scene);
    }
}

fn keeps(effect: &Effect) -> bool {
    matches!(effect.kind(), EffectKind::Write | EffectKind::Link) && effect.path().is_some()
}

/// The code of the project's own files is known to its people: its outputs are not marked.
fn is_of_project(script: Option<&str>, scene: &Scene<'_, '_, '_>) -> bool {
    script.is_some_and(|path| {
        let place = scope::classify(path, &scene.session.places).place;
        scene.origin_of(path, Some(place)) == Some(FileOrigin::Repository)
    })
}

fn reads_secret(effect: &Effect, scene: &Scene<'_, '_, '_>) -> bool {
    if effect.kind() != EffectKind::Read {
        return false;
    }
    let holds_logins = |path: &str| {
        LOGINS.iter().any(|name| {
            scope::classify(&format!("{path}/{name}"), &scene.session.places).scope == Scope::Secret
        })
    };
    effect.scope() == Some(Scope::Secret) || effect.path().is_some_and(holds_logins)
}

/// Reports whether the arguments or the input of a command are what another command read from a secret.
fn receives_secret(run: &Run, scene: &Scene<'_, '_, '_>) -> bool {
    let input = match &run.stdin {
        Stdin::Text(text) => Some(text),
        Stdin::Inherited | Stdin::File(_) => None,
    };
    let mut pieces = input.into_iter().chain(&run.argv).flat_map(Arg::pieces);
    pieces.any(|piece| match piece {
        Piece::Unknown { why, written } => scene.secrets.is_shown(*why, written, run.span),
        Piece::Text(_) => false,
    })
}

fn store(own: &[Effect], carries: bool, scene: &mut Scene<'_, '_, '_>) {
    if !carries && !own.iter().any(|effect| effect.kind() == EffectKind::Link) {
        return;
    }
    // A file beside the secret keeps its name in the directory to which both are copied.
    let harmless: BTreeSet<&str> = own
        .iter()
        .filter(|effect| effect.kind() == EffectKind::Read && !reads_secret(effect, scene))
        .filter_map(|effect| effect.path().map(base_name))
        .collect();
    let mut paths = Vec::new();
    for effect in own.iter().filter(|effect| keeps(effect) && effect.scope() != Some(Scope::Secret)) {
        let is_copy = match (effect.kind(), effect.target()) {
            (EffectKind::Link, Some(target)) => {
                scope::classify(target, &scene.session.places).scope == Scope::Secret
                    || scene.is_secret_copy(target)
            }
            _ => carries,
        };
        let path = effect.path().filter(|path| is_copy && !harmless.contains(base_name(path)));
        paths.extend(path.map(str::to_owned));
    }
    remember(paths, scene);
}

/// Stores copies up to the limit. The analysis reports the rest as a part that is not understood.
fn remember(paths: impl IntoIterator<Item = String>, scene: &mut Scene<'_, '_, '_>) {
    for path in paths {
        if scene.copies.len() < SECRET_COPIES_MAX || scene.copies.contains(&path) {
            scene.copies.insert(path);
        } else {
            scene.has_more_copies = true;
        }
    }
}

/// Adds an Opaque effect for copies beyond the limit.
pub(crate) fn report_rest(scene: &mut Scene<'_, '_, '_>, facts: &mut Facts) {
    if scene.has_more_copies {
        Sink::new(scene, &mut facts.effects, None, None).opaque(
            Role::Target,
            Why::Budget,
            "copies of a secret",
        );
    }
}

impl Scene<'_, '_, '_> {
    /// Reports whether the file at a path, or a file that a pattern matches, holds what the session read from a secret.
    pub(crate) fn is_secret_copy(&self, path: &str) -> bool {
        is_named(&self.session.setting.secret_copies, path) || is_named(&self.copies, path)
    }

    /// Returns such a file in a directory, outside of repositories' own files.
    pub(crate) fn secret_copy_below(&self, directory: &str) -> Option<&str> {
        let begin = format!("{}/", directory.trim_end_matches('/'));
        let all = [&*self.session.setting.secret_copies, &self.copies];
        let mut below = all
            .into_iter()
            .flat_map(|paths| paths.range(begin.clone()..).take_while(|path| path.starts_with(&begin)));
        below.find(|path| !path.ends_with("/.git/objects")).map(String::as_str)
    }
}
