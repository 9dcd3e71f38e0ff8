//! Effects of code at a place, outside of a command's own arguments.

use castellan_event::{Facts, Role, Why};

use crate::next::{Next, Place, Progress};
use crate::scene::Scene;
use crate::sink::Sink;

/// Adds effects, and leaves the programs that they run as work.
pub(super) fn with_programs(
    place: &Place,
    scene: &mut Scene<'_, '_, '_>,
    progress: &mut Progress,
    add: impl FnOnce(&mut Sink<'_, '_, '_, '_>),
) {
    let mut programs = Vec::new();
    with_sink(place, scene, &mut progress.facts, |sink| {
        add(sink);
        programs = std::mem::take(&mut sink.left.programs);
    });
    progress.next.extend(programs.into_iter().map(|program| Next::Program(program, place.inner())));
}

pub(super) fn with_sink(
    place: &Place,
    scene: &mut Scene<'_, '_, '_>,
    facts: &mut Facts,
    add: impl FnOnce(&mut Sink<'_, '_, '_, '_>),
) {
    let mut sink = Sink::new(scene, &mut facts.effects, Some(place.command), place.cwd.clone());
    sink.setup.remote = !place.run.remote.is_empty();
    sink.comes_from(place.file.as_deref().or(place.run.script.as_deref()));
    add(&mut sink);
}

/// Adds an Opaque effect for code that is not understood.
pub(crate) fn opaque(
    place: &Place,
    (why, written): (Why, &str),
    scene: &mut Scene<'_, '_, '_>,
    facts: &mut Facts,
) {
    let why = scene.secrets.source(why, written, place.run.span);
    with_sink(place, scene, facts, |sink| sink.opaque(Role::Code, why, written));
}
