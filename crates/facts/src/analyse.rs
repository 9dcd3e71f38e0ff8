//! Everything that was found in a call's shell text, in order, with what each part changes for those after it.

use castellan_event::{Effect, EffectKind, Facts};
use castellan_programs::Arg;
use castellan_shell::{Found, Item, Set};

use crate::command::{self, base_name};
use crate::environment;
use crate::scene::Scene;
use crate::sink::Sink;

/// Adds what was found.
pub(crate) fn found(found: &Found, scene: &mut Scene<'_, '_, '_>, facts: &mut Facts) {
    for item in &found.items {
        match item {
            Item::Command(run) => {
                let from = run.pipe_from.and_then(|at| found.items.get(at)).and_then(name_of);
                command::add(run, from, scene, facts);
            }
            Item::Set(set) => set_variable(set, scene, facts),
            Item::Hole(gap) => facts.effects.push(Effect {
                kind: EffectKind::Opaque,
                role: Some(gap.role),
                why: Some(gap.why),
                target: Some(gap.written.clone()),
                ..Effect::default()
            }),
        }
    }
}

fn name_of(item: &Item) -> Option<String> {
    match item {
        Item::Command(run) => run.argv.first().and_then(Arg::as_str).map(|name| base_name(name).to_owned()),
        Item::Set(_) | Item::Hole(_) => None,
    }
}

fn set_variable(set: &Set, scene: &mut Scene<'_, '_, '_>, facts: &mut Facts) {
    if set.name == "PATH" {
        scene.names.set_path(&set.value);
    }
    if set.exported || set.name == "PATH" {
        let mut sink = Sink::new(scene, &mut facts.effects, None, None);
        environment::effect(&set.name, &set.value, &mut sink);
    }
}
