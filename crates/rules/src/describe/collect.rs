//! Collects a [`Description`] while rules are built. Conditions are parsed again for it, because compiled conditions do
//! not contain the names as written.

use std::collections::BTreeSet;

use crate::ast::{Check, Expr, Right};
use crate::definitions::{Definition, Definitions};
use crate::describe::{Description, ListDescription, MacroDescription, RuleDescription};
use crate::expand::{self, Lists, Macros};
use crate::item::{Exception, RuleText, Values};
use crate::options::Engine;
use crate::parse;
use crate::print;
use crate::text::Text;

/// Describes the rules built from the same definitions.
#[derive(Debug)]
pub(crate) struct Describer<'b> {
    lists: &'b Lists,
    engine: Engine,
}

impl<'b> Describer<'b> {
    pub(crate) fn new(lists: &'b Lists, engine: Engine) -> Self {
        Self { lists, engine }
    }

    /// Returns a description of macros and lists.
    pub(crate) fn definitions(definitions: &Definitions, macros: &Macros) -> Description {
        let one_macro = |definition: &Definition<Text>| MacroDescription {
            name: definition.name.text.clone(),
            condition: definition.value.as_str().to_owned(),
            compiled: macros.expanded(&definition.name.text).map(print::condition).unwrap_or_default(),
        };
        let one_list = |definition: &Definition<Vec<Text>>| ListDescription {
            name: definition.name.text.clone(),
            items: expand::items(definitions, definition),
        };
        Description {
            rules: Vec::new(),
            macros: definitions.macros.iter().map(one_macro).collect(),
            lists: definitions.lists.iter().map(one_list).collect(),
        }
    }

    /// Returns the description of a rule from its text and its expanded condition.
    pub(crate) fn rule(&self, text: &RuleText, expr: &Expr) -> RuleDescription {
        let (mut operators, mut fields) = (BTreeSet::new(), BTreeSet::new());
        expr.checks(&mut |check| {
            operators.insert(operator(check));
            check.fields(&mut |field| {
                fields.insert(print::field(field));
            });
        });
        let of_exceptions = |part: fn(&Exception) -> Option<&Values>| {
            let texts = text.exceptions.iter().filter_map(part).flat_map(flat);
            sorted(texts.map(|text| text.as_str().trim().to_owned()).collect())
        };
        RuleDescription {
            condition: text.condition.as_str().to_owned(),
            reparsable: print::readable(expr),
            macros: sorted(self.macros(&text.condition)),
            lists: self.lists.named_in(&text.condition).into_iter().map(str::to_owned).collect(),
            output: text.output.as_str().trim().to_owned(),
            operators: sorted(operators),
            condition_fields: sorted(fields),
            exceptions: sorted(text.exceptions.iter().map(|exception| exception.name.clone()).collect()),
            exception_operators: of_exceptions(|exception| exception.comps.as_ref()),
            exception_fields: of_exceptions(|exception| exception.fields.as_ref()),
            ..RuleDescription::default()
        }
    }

    fn macros(&self, condition: &Text) -> BTreeSet<String> {
        let mut macros = BTreeSet::new();
        if let Ok(expr) = self.lists.put_into(condition).and_then(|text| parse::parse(&text, self.engine)) {
            expr.macros(&mut |name| {
                macros.insert(name.text.clone());
            });
        }
        macros
    }
}

/// An operator with its modifier.
fn operator(check: &Check) -> String {
    match &check.right {
        Right::Each(modifier, _) => format!("{} {}", check.op.as_str(), modifier.as_str()),
        Right::Nothing | Right::Value(_) | Right::List(_) | Right::Val(_) | Right::Transformed(_) => {
            check.op.as_str().to_owned()
        }
    }
}

fn flat(values: &Values) -> Vec<&Text> {
    match values {
        Values::One(text) => vec![text],
        Values::Many(all) => all.iter().flat_map(flat).collect(),
    }
}

fn sorted(names: BTreeSet<String>) -> Vec<String> {
    names.into_iter().collect()
}
