//! `experiment_plan.yaml` of nous: the programs in `arms[].conditions[].command` or `cmd`. The rest of the file is not
//! castellan's, so its other keys are accepted.

use super::value::{Map, list, text};
use crate::error::{Fault, PlanError};
use crate::limits::{CONDITION_BYTES_MAX, ENTRIES_MAX, STEPS_MAX};
use crate::pattern::{CommandPattern, PatternError};
use crate::plan::{Allowed, Plan, PlanParts, Step};
use crate::text::shortened;
use crate::yaml::{Node, NodeKind};

/// Keys with the name of an arm; the first that an arm has.
const NAMES: &[&str] = &["arm_id", "name", "type"];

pub(super) fn read(map: &Map<'_>, heads_of: &dyn Fn(&str) -> Vec<String>) -> Result<Plan, PlanError> {
    let mut steps = Vec::new();
    let mut count = 0;
    for (at, node) in map.list("arms")?.unwrap_or_default().iter().enumerate() {
        if steps.len() >= STEPS_MAX {
            return Err(node.at.error(Fault::Steps));
        }
        let arm = Map::of(node, "an arm")?;
        let name = NAMES.iter().find_map(|key| arm.text(key).ok().flatten());
        let mut commands: Vec<CommandPattern> = Vec::new();
        let Some(conditions) = arm.get("conditions") else {
            let wanted = "a list of conditions";
            return Err(node.at.error(Fault::Type { at: "conditions".to_owned(), found: "missing", wanted }));
        };
        for condition in list(conditions, "conditions")? {
            for command in heads(condition, heads_of)? {
                if !commands.contains(&command) {
                    count += 1;
                    commands.push(command);
                }
                if count > ENTRIES_MAX {
                    return Err(condition.at.error(Fault::Entries("conditions")));
                }
            }
        }
        let text = name.map_or_else(|| format!("arm {}", at + 1), str::to_owned);
        steps.push(Step { text, allowed: Allowed { commands: Some(commands), ..Allowed::default() } });
    }
    // A plan without a command permits none.
    let own = Allowed { commands: Some(Vec::new()), ..Allowed::default() };
    Ok(Plan::from(PlanParts { own, steps, ..PlanParts::default() }))
}

/// Returns the programs of a condition. A condition without a command has none.
fn heads(condition: &Node, heads_of: &dyn Fn(&str) -> Vec<String>) -> Result<Vec<CommandPattern>, PlanError> {
    let map = Map::of(condition, "a condition")?;
    let is_there = |key: &&str| map.get(key).is_some_and(|node| !matches!(node.kind, NodeKind::Null));
    let Some(key) = ["command", "cmd"].into_iter().find(is_there) else { return Ok(Vec::new()) };
    let Some(node) = map.get(key) else { return Ok(Vec::new()) };
    let text = text(node, key, CONDITION_BYTES_MAX)?;
    let heads = heads_of(text);
    if heads.is_empty() {
        return Err(node.at.error(Fault::NoHead(shortened(text))));
    }
    let wrong = |why| node.at.error(Fault::Pattern { text: shortened(text), why });
    let pattern = |head: &String| {
        let name = head.rsplit('/').next().unwrap_or_default();
        (!name.is_empty()).then(|| CommandPattern::any_arguments(name)).ok_or(PatternError::NoHead)
    };
    heads.iter().map(|head| pattern(head).map_err(wrong)).collect()
}
