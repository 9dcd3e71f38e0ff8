//! `CASTELLAN_NEGATED_PATH`: a negated test of an effect's path without a test of `fx.kind`. On an effect without a
//! path, such as a connection, the field is absent and every negated test of it is true.

use castellan_event::Level;

use crate::lint::Linted;
use crate::lint::normal::{Literal, Normal, words};
use crate::problem::Fault;

const KIND: &str = "fx.kind";

pub(super) fn check(rule: &Linted<'_>) -> Vec<Fault> {
    let mut faults = Vec::new();
    walk(rule, &rule.normal, false, &mut faults);
    faults
}

/// `guarded`: the parts around this part are true only for effects of a kind, or with a path.
fn walk(rule: &Linted<'_>, part: &Normal<'_>, guarded: bool, faults: &mut Vec<Fault>) {
    match part {
        Normal::All(parts) => {
            let guarded = guarded || parts.iter().any(|part| guards(rule, part));
            parts.iter().for_each(|part| walk(rule, part, guarded, faults));
        }
        Normal::Any(parts) => parts.iter().for_each(|part| walk(rule, part, guarded, faults)),
        Normal::Literal(literal) if !guarded && !literal.positive => {
            let Some(field) = effect_path(rule, *literal) else { return };
            let message =
                format!("also true for every effect without a path, because `{field}` is absent there");
            let fault = Fault::new("CASTELLAN_NEGATED_PATH", literal.place(), message);
            let help = format!("add a test of `{KIND}`, such as `{KIND} in (write, delete)`");
            faults.push(fault.help(help));
        }
        Normal::Literal(_) => {}
    }
}

/// Reports whether a part is true only for effects of a kind, or with a path.
fn guards(rule: &Linted<'_>, part: &Normal<'_>) -> bool {
    match part {
        Normal::All(parts) => parts.iter().any(|part| guards(rule, part)),
        Normal::Any(parts) => parts.iter().all(|part| guards(rule, part)),
        Normal::Literal(literal) => {
            let of_kind = literal.field(rule.catalogue).is_some_and(|field| field.name == KIND);
            literal.positive && (of_kind || effect_path(rule, *literal).is_some())
        }
    }
}

/// Returns the literal's field, if it is a path of an effect.
fn effect_path<'s>(rule: &Linted<'s>, literal: Literal<'_>) -> Option<&'s str> {
    let field = literal.field(rule.catalogue)?;
    let is_path = field.level == Level::Effect && words(field.name).any(|word| word == "path");
    is_path.then_some(field.name)
}
