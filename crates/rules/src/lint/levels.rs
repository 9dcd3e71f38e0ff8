//! `CASTELLAN_MIXED_LEVELS`: an `or` of tests of the call and tests of a command or effect, which match on separate
//! rows. Also an output with a field that no row of the condition has.

use castellan_event::Level;

use crate::lint::Linted;
use crate::lint::normal::Normal;
use crate::problem::Fault;

const CODE: &str = "CASTELLAN_MIXED_LEVELS";

pub(super) fn check(rule: &Linted<'_>) -> Vec<Fault> {
    let mut faults = Vec::new();
    faults.extend(mixed(rule, &rule.normal, Level::Call));
    output(rule, &mut faults);
    faults
}

/// Returns a warning for the first `or` whose branches differ in level. `around` is the finest level of the parts
/// beside it: rows are at least that fine.
fn mixed(rule: &Linted<'_>, part: &Normal<'_>, around: Level) -> Option<Fault> {
    match part {
        Normal::Literal(_) => None,
        Normal::All(parts) => {
            let levels: Vec<Level> = parts.iter().map(|part| certain(rule, part)).collect();
            let around = levels.into_iter().max().unwrap_or_default().max(around);
            parts.iter().find_map(|part| mixed(rule, part, around))
        }
        Normal::Any(parts) => {
            let levels = parts.iter().map(|part| part.level(rule.catalogue).max(around));
            let (finest, branch) = levels.clone().zip(parts).max_by_key(|(level, _)| *level)?;
            let coarsest = levels.min()?;
            if finest == coarsest {
                return parts.iter().find_map(|part| mixed(rule, part, around));
            }
            let place = branch.literals().first()?.place();
            let (fine, coarse) = (finest.as_str(), coarsest.as_str());
            let message = format!("this branch of an `or` has level {fine}, but another has level {coarse}");
            Some(Fault::new(CODE, place, message).help("split it into two rules, one for each level"))
        }
    }
}

/// Returns the coarsest level of a row on which a part is true: for an `or`, the level of its coarsest branch.
fn certain(rule: &Linted<'_>, part: &Normal<'_>) -> Level {
    match part {
        Normal::Literal(_) => part.level(rule.catalogue),
        Normal::All(parts) => parts.iter().map(|part| certain(rule, part)).max().unwrap_or_default(),
        Normal::Any(parts) => parts.iter().map(|part| certain(rule, part)).min().unwrap_or_default(),
    }
}

fn output(rule: &Linted<'_>, faults: &mut Vec<Fault>) {
    let level = rule.rule.level;
    let output = &rule.subject.definition.value.output;
    for index in rule.rule.output_fields.iter() {
        let Some(field) = rule.catalogue.get(*index).filter(|field| field.level > level) else { continue };
        let Some(at) = output.as_str().find(field.name) else { continue };
        let message = format!(
            "`{}` has level {}, but the condition has level {}: the output always shows <NA>",
            field.name,
            field.level.as_str(),
            level.as_str()
        );
        let fault = Fault::new(CODE, output.place(at..at + field.name.len()), message);
        let help = format!("use a field of level {} in the condition", field.level.as_str());
        faults.push(fault.help(help));
    }
}
