//! [`read`]: a plan's file to a [`Plan`]. The first keys decide between castellan's format and that of experiments.

mod nous;
mod own;
mod value;

use crate::error::{Fault, PlanError};
use crate::plan::Plan;
use crate::yaml::parse;
use value::Map;

/// Parses a plan: castellan's own format, or the `experiment_plan.yaml` of nous (at dc24006). `heads_of` returns the
/// programs of a text of shell commands, without directories and wrappers. The reader calls it for each condition of
/// an experiment.
pub fn read(bytes: &[u8], heads_of: &dyn Fn(&str) -> Vec<String>) -> Result<Plan, PlanError> {
    let root = parse(bytes)?;
    let map = Map::of(&root, "the plan")?;
    if map.get("castellan_plan").is_some() {
        own::read(&map)
    } else if map.get("arms").is_some() {
        nous::read(&map, heads_of)
    } else {
        Err(root.at.error(Fault::Format))
    }
}
