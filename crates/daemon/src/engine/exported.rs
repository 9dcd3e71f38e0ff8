//! The rules of a policy as Falco gets them. The numbers of rules are those of the policy. It must not know files.

use castellan_event::Layer;
use castellan_falco::description::Described;
use castellan_falco::export::{EngineRules, for_engine};
use castellan_rules::{Engine, Loaded};

/// Exports the rules of all layers but the project's, in the order of the policy. `None` if a layer has no description,
/// because its files do not load.
pub(crate) fn exported<'l>(
    layers: impl Iterator<Item = (Layer, &'l Loaded)>,
    language: Engine,
) -> Option<EngineRules> {
    let described = layers.filter(|(layer, _)| *layer != Layer::Project).map(|(layer, loaded)| {
        let description = loaded.description.as_ref()?;
        Some(Described { layer: Some(layer), rules: &loaded.rules, description })
    });
    let described: Vec<Described<'_>> = described.collect::<Option<_>>()?;
    Some(for_engine(&described, language))
}
