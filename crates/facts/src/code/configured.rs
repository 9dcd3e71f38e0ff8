//! Programs that files of settings start.

use castellan_event::Role;

use super::effects::with_sink;
use crate::language::{GIT_COMMON, GIT_LINK, SHELL};
use crate::loaded::{repository, starts};
use crate::next::{From, Next, Place, Progress};
use crate::scene::Scene;
use crate::settings;

/// Adds the effects of the settings in a text, and leaves the programs that they start as work.
pub(super) fn add(
    language: &str,
    text: &str,
    place: &Place,
    scene: &mut Scene<'_, '_, '_>,
    progress: &mut Progress,
) {
    let mut programs = Vec::new();
    let file = place.file.as_deref();
    with_sink(place, scene, &mut progress.facts, |sink| {
        match language {
            GIT_LINK => repository::linked(text, file, sink),
            GIT_COMMON => repository::shared(text, file, sink),
            _ => match settings::starts(language, text) {
                Ok(found) => found.into_iter().for_each(|one| starts::start(language, one, file, sink)),
                Err(why) => sink.opaque(Role::Code, why, file.unwrap_or(language)),
            },
        }
        programs = std::mem::take(&mut sink.left.programs);
    });
    progress.next.extend(programs.into_iter().map(|program| match program.from {
        // The text belongs to the file of the setting.
        From::Text(text) if program.language == SHELL => Next::Shell(text, place.clone()),
        From::Text(_) | From::File(_) => Next::Program(program, place.inner()),
    }));
}
