//! castellan's format of a plan, version 1. Every unknown key is an error.

use jiff::Timestamp;

use super::value::{Map, text};
use crate::error::{Fault, PlanError};
use crate::limits::{ENTRIES_MAX, STEPS_MAX, TEXT_BYTES_MAX};
use crate::pattern::{BranchPattern, CommandPattern, HostPattern, PathPattern, PatternError};
use crate::plan::{Allowed, Budget, Plan, PlanParts, Step};
use crate::text::shortened;

const PLAN_KEYS: &[&str] =
    &["castellan_plan", "name", "expires", "budget", "commands", "writes", "hosts", "branches", "steps"];
const STEP_KEYS: &[&str] = &["text", "commands", "writes", "hosts", "branches"];
const BUDGET_KEYS: &[&str] = &["calls", "minutes"];

pub(super) fn read(map: &Map<'_>) -> Result<Plan, PlanError> {
    version(map)?;
    map.only(PLAN_KEYS)?;
    let mut counts = Counts::default();
    let own = allowed(map, &mut counts)?;
    let mut steps = Vec::new();
    for node in map.list("steps")?.unwrap_or_default() {
        if steps.len() >= STEPS_MAX {
            return Err(node.at.error(Fault::Steps));
        }
        let step = Map::of(node, "a step")?;
        step.only(STEP_KEYS)?;
        let text = step.text("text")?.unwrap_or_default().to_owned();
        steps.push(Step { text, allowed: allowed(&step, &mut counts)? });
    }
    let name = map.text("name")?.unwrap_or_default().to_owned();
    Ok(Plan::from(PlanParts { name, expires_s: expires(map)?, budget: budget(map)?, own, steps }))
}

fn version(map: &Map<'_>) -> Result<(), PlanError> {
    match map.number("castellan_plan")? {
        Some(1) => Ok(()),
        other => {
            let at = map.get("castellan_plan").map_or(map.at, |node| node.at);
            Err(at.error(Fault::Version(other.unwrap_or_default().to_string())))
        }
    }
}

fn expires(map: &Map<'_>) -> Result<Option<i64>, PlanError> {
    let (Some(text), Some(node)) = (map.text("expires")?, map.get("expires")) else { return Ok(None) };
    // The parser also takes the name of a time zone, which RFC 3339 does not have.
    let time = text.parse::<Timestamp>().ok().filter(|_| !text.contains('['));
    let time = time.ok_or_else(|| node.at.error(Fault::Time(shortened(text))))?;
    Ok(Some(time.as_second()))
}

fn budget(map: &Map<'_>) -> Result<Budget, PlanError> {
    let Some(node) = map.get("budget") else { return Ok(Budget::default()) };
    let budget = Map::of(node, "budget")?;
    budget.only(BUDGET_KEYS)?;
    Ok(Budget { calls: budget.number("calls")?, minutes: budget.number("minutes")? })
}

/// Entries of each kind that are read so far.
#[derive(Default)]
struct Counts {
    commands: usize,
    writes: usize,
    hosts: usize,
    branches: usize,
}

fn allowed(map: &Map<'_>, counts: &mut Counts) -> Result<Allowed, PlanError> {
    Ok(Allowed {
        commands: patterns(map, "commands", &mut counts.commands, CommandPattern::parse)?,
        writes: patterns(map, "writes", &mut counts.writes, PathPattern::parse)?,
        hosts: patterns(map, "hosts", &mut counts.hosts, HostPattern::parse)?,
        branches: patterns(map, "branches", &mut counts.branches, BranchPattern::parse)?,
    })
}

fn patterns<T>(
    map: &Map<'_>,
    key: &'static str,
    count: &mut usize,
    parse: fn(&str) -> Result<T, PatternError>,
) -> Result<Option<Vec<T>>, PlanError> {
    let Some(nodes) = map.list(key)? else { return Ok(None) };
    let mut list = Vec::new();
    for node in nodes {
        *count += 1;
        if *count > ENTRIES_MAX {
            return Err(node.at.error(Fault::Entries(key)));
        }
        let text = text(node, key, TEXT_BYTES_MAX)?;
        let wrong = |why| node.at.error(Fault::Pattern { text: shortened(text), why });
        list.push(parse(text).map_err(wrong)?);
    }
    Ok(Some(list))
}
