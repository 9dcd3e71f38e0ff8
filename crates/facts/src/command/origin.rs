//! The origin of the files that a command installs or writes.

use std::collections::BTreeSet;

use castellan_event::{Effect, EffectKind, FileOrigin, Why};
use castellan_programs::Arg;
use castellan_shell::{Run, Stdin};

use crate::declared;
use crate::scene::Scene;

/// Returns true if the output of a command came from the network: it downloads, reads a downloaded file, or gets data
/// from such a command.
pub(super) fn fetches(effects: &[Effect], run: &Run) -> bool {
    let is_fetched = |effect: &Effect| {
        effect.kind() == EffectKind::Download
            || effect.kind() == EffectKind::Read && effect.file_origin() == Some(FileOrigin::Downloaded)
    };
    let is_given = |arg: &Arg| arg.why() == Some(Why::Network);
    let input = matches!(&run.stdin, Stdin::Text(text) if is_given(text));
    effects.iter().any(is_fetched)
        || input
        || run.argv.iter().any(is_given)
        || run.redirects.iter().any(|redirect| is_given(&redirect.target))
}

/// Sets the origin of installed packages, one for each package manager. The command's effects start at `before`.
pub(super) fn installs(
    at: usize,
    before: usize,
    cwd: Option<&str>,
    scene: &mut Scene<'_, '_, '_>,
    effects: &mut Vec<Effect>,
) {
    let Some(cwd) = cwd else { return };
    let is_install = |effect: &Effect| effect.kind() == EffectKind::Install && effect.file_origin().is_none();
    let own = effects.iter().skip(before).filter(|effect| is_install(effect));
    let systems: BTreeSet<String> = own.filter_map(|effect| effect.system().map(str::to_owned)).collect();
    for system in systems {
        if !scene.budget.spend(declared::work_of_installation(&system), Some(at), effects) {
            return;
        }
        let origin = declared::origin_of_installation(&system, cwd, scene);
        let own = effects.iter_mut().skip(before).filter(|effect| is_install(effect));
        own.filter(|effect| effect.system() == Some(&system))
            .for_each(|effect| effect.set_file_origin(origin));
    }
}

/// Sets the origin of the files that such a command writes.
pub(super) fn downloads(effects: &mut [Effect], scene: &mut Scene<'_, '_, '_>) {
    for effect in effects.iter_mut().filter(|effect| effect.kind() == EffectKind::Write) {
        effect.set_file_origin(Some(FileOrigin::Downloaded));
        if let Some(path) = effect.path() {
            scene.overlay.download(path);
        }
    }
}
