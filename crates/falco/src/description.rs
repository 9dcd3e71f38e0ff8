//! Rules, macros and lists as `falco -L` describes them in JSON (Falco 0.43). Further keys are the level of each rule
//! and the layer of each item in force.

use castellan_event::Layer;
use castellan_rules::{Description, ListDescription, MacroDescription, Rule, RuleDescription, RuleSet};
use serde_json::{Value as Json, json};

/// Rules that were loaded together, with their description.
#[derive(Debug, Clone, Copy)]
pub struct Described<'d> {
    /// The layer of the rules; `None` for files that are only examined.
    pub layer: Option<Layer>,
    /// The rules.
    pub rules: &'d RuleSet,
    /// Their description.
    pub description: &'d Description,
}

/// Returns all loaded rules, macros and lists.
pub fn json(all: &[Described<'_>]) -> Json {
    let rules = all.iter().flat_map(|of| {
        let pairs = of.rules.rules().iter().zip(&of.description.rules);
        pairs.map(|(rule, described)| of_rule(of.layer, rule, described))
    });
    let macros =
        all.iter().flat_map(|of| of.description.macros.iter().map(|found| of_macro(of.layer, found)));
    let lists = all.iter().flat_map(|of| of.description.lists.iter().map(|list| of_list(of.layer, list)));
    json!({
        "rules": rules.collect::<Vec<_>>(),
        "macros": macros.collect::<Vec<_>>(),
        "lists": lists.collect::<Vec<_>>(),
    })
}

/// Returns one rule.
pub fn of_rule(layer: Option<Layer>, rule: &Rule, described: &RuleDescription) -> Json {
    in_layer(
        layer,
        json!({
            "info": {
                "name": rule.name,
                "description": rule.desc,
                "condition": described.condition,
                "output": described.output,
                "priority": rule.priority.as_str(),
                "source": &*rule.source,
                "tags": &*rule.tags,
                "enabled": rule.enabled,
                "file": &*rule.file,
                "line": rule.line,
            },
            "details": {
                "condition_compiled": rule.condition,
                "level": described.level.as_str(),
                "macros": described.macros,
                "lists": described.lists,
                "condition_fields": described.condition_fields,
                "condition_operators": described.operators,
                "output_compiled": described.output,
                "output_fields": described.output_fields,
                "exceptions": described.exceptions,
                "exception_fields": described.exception_fields,
                "exception_operators": described.exception_operators,
            },
        }),
    )
}

fn of_macro(layer: Option<Layer>, described: &MacroDescription) -> Json {
    in_layer(
        layer,
        json!({
            "info": { "name": described.name, "condition": described.condition },
            "details": { "condition_compiled": described.compiled },
        }),
    )
}

fn of_list(layer: Option<Layer>, described: &ListDescription) -> Json {
    in_layer(
        layer,
        json!({ "info": { "name": described.name }, "details": { "items_compiled": described.items } }),
    )
}

fn in_layer(layer: Option<Layer>, mut described: Json) -> Json {
    if let (Some(layer), Json::Object(keys)) = (layer, &mut described) {
        keys.insert("layer".to_owned(), layer.as_str().into());
    }
    described
}
