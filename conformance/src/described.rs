//! The description of a rule file, by `falco -L` (recorded) and by this engine, in one format.

use std::path::Path;

use anyhow::Context;
use castellan_rules::Loaded;
use serde::Deserialize;

use crate::read;

#[derive(Debug, Deserialize)]
pub(crate) struct Described {
    pub(crate) rules: Vec<Rule>,
    pub(crate) macros: Vec<Macro>,
    pub(crate) lists: Vec<List>,
}

/// A rule. Falco reports names in no particular order, so they are sorted.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Rule {
    pub(crate) name: String,
    pub(crate) condition_compiled: String,
    priority: String,
    tags: Vec<String>,
    macros: Vec<String>,
    lists: Vec<String>,
    condition_fields: Vec<String>,
    condition_operators: Vec<String>,
    output_fields: Vec<String>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Macro {
    name: String,
    condition_compiled: String,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct List {
    name: String,
    items_compiled: Vec<String>,
}

impl Described {
    pub(crate) fn read(file: &Path) -> anyhow::Result<Described> {
        let described = serde_json::from_str(&read(file)?);
        let described: Described =
            described.with_context(|| format!("`{}` is no description of rules", file.display()))?;
        Ok(described.sorted())
    }

    pub(crate) fn of(loaded: &Loaded) -> anyhow::Result<Described> {
        let description = loaded.description.as_ref().context("the rules were not described")?;
        let rules = loaded.rules.rules().iter().zip(&description.rules).map(|(rule, described)| Rule {
            name: rule.name.clone(),
            condition_compiled: rule.condition.clone(),
            priority: rule.priority.as_str().to_owned(),
            tags: rule.tags.to_vec(),
            macros: described.macros.clone(),
            lists: described.lists.clone(),
            condition_fields: described.condition_fields.clone(),
            condition_operators: described.operators.clone(),
            output_fields: described.output_fields.clone(),
        });
        let macros = description
            .macros
            .iter()
            .map(|found| Macro { name: found.name.clone(), condition_compiled: found.compiled.clone() });
        let lists = description
            .lists
            .iter()
            .map(|found| List { name: found.name.clone(), items_compiled: found.items.clone() });
        let described =
            Described { rules: rules.collect(), macros: macros.collect(), lists: lists.collect() };
        Ok(described.sorted())
    }

    fn sorted(mut self) -> Described {
        for rule in &mut self.rules {
            let names = [
                &mut rule.tags,
                &mut rule.macros,
                &mut rule.lists,
                &mut rule.condition_fields,
                &mut rule.condition_operators,
                &mut rule.output_fields,
            ];
            names.into_iter().for_each(|names| names.sort_unstable());
        }
        self.lists.iter_mut().for_each(|list| list.items_compiled.sort_unstable());
        self.rules.sort_by(|left, right| left.name.cmp(&right.name));
        self.macros.sort_by(|left, right| left.name.cmp(&right.name));
        self.lists.sort_by(|left, right| left.name.cmp(&right.name));
        self
    }
}
