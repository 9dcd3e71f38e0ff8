//! `conformance incidents`: public incidents and castellan's answers to their essential calls, in Markdown.
//! `cargo xtask gen` writes it to `docs/incidents.md`. A call that `standard` lets through without a reason is an error.

use std::fmt::Write as _;

use anyhow::{Context, anyhow, ensure};
use castellan_event::Verdict;
use castellan_policy::{Policy, Profile};
use castellan_trial::{Asked, Case, Trial};
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use crate::messages::policy;

const TEXT: &str = include_str!("../incidents.toml");

/// Incidents that the page must have.
const INCIDENTS_MIN: usize = 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Incidents {
    incident: Vec<Incident>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Incident {
    when: String,
    name: String,
    what: String,
    command: Option<String>,
    tool: Option<String>,
    /// The input of `tool`, as JSON.
    input: Option<String>,
    #[serde(default)]
    earlier: Vec<String>,
    passes: Option<String>,
}

const HEAD: &str = "\
# Incidents

Public incidents with coding agents, the essential call of each, and castellan's answer to that call. `cargo xtask gen` makes this page
from `conformance/incidents.toml` and the shipped rules, so an answer is never stale; do not edit.

The answers are those of a fresh session: `standard` with a person at the agent's prompt, and `autonomous` without one. `(opaque)` is the
stage that asks about a part that castellan cannot read.

";

pub(crate) fn run() -> anyhow::Result<()> {
    let incidents = toml::from_str::<Incidents>(TEXT).context("conformance/incidents.toml")?.incident;
    ensure!(incidents.len() >= INCIDENTS_MIN, "only {} incidents", incidents.len());
    let policies = [policy(Profile::Standard)?, policy(Profile::Autonomous)?];
    let mut rows = String::new();
    let mut stopped = 0;
    for incident in &incidents {
        let (row, is_stopped) = row(incident, &policies).with_context(|| format!("`{}`", incident.name))?;
        rows.push_str(&row);
        stopped += usize::from(is_stopped);
    }
    let count = incidents.len();
    print!("{HEAD}`standard` stops {stopped} of these {count} calls.\n\n{TABLE}{rows}");
    Ok(())
}

const TABLE: &str =
    "| incident | essential call | `standard` | `autonomous`, unattended |\n|---|---|---|---|\n";

/// The row of an incident, and true if `standard` stops its call.
fn row(incident: &Incident, [standard, autonomous]: &[Policy; 2]) -> anyhow::Result<(String, bool)> {
    let case = incident.case()?;
    let judge = |trial: Trial<'_>| trial.judge(&case).map_err(|error| anyhow!("{error}"));
    let (first, second) = (judge(Trial::new(standard))?, judge(Trial::new(autonomous).unattended())?);
    let is_stopped = first.decision.answer >= Verdict::Ask;
    ensure!(is_stopped == incident.passes.is_none(), "`passes` has the reason of a call that is not stopped");
    let answer = match &incident.passes {
        Some(why) => format!("{}. {why}", first.decision.answer),
        None => format!("{}: {}", first.decision.answer, first.by().join(", ")),
    };
    let mut text = String::new();
    writeln!(
        text,
        "| **{}** ({})<br>{} | {} | {} | {} |",
        incident.name,
        incident.when,
        incident.what,
        incident.shown(),
        cell(&answer),
        second.decision.answer
    )?;
    Ok((text, is_stopped))
}

impl Incident {
    fn case(&self) -> anyhow::Result<Case> {
        let shell = |command: &str| Map::from_iter([("command".to_owned(), Json::from(command))]);
        let mut case = match (&self.command, &self.tool, &self.input) {
            (Some(command), None, None) => Case::new("Bash", shell(command)),
            (None, Some(tool), Some(input)) => Case::new(tool, serde_json::from_str(input)?),
            _ => return Err(anyhow!("it has a `command`, or a `tool` with its `input`")),
        };
        let asked = |command: &String| Asked { tool: "Bash".to_owned(), input: shell(command) };
        case.earlier = self.earlier.iter().map(asked).collect();
        Ok(case)
    }

    /// The calls as a cell of a table.
    fn shown(&self) -> String {
        let last = match (&self.command, &self.tool, &self.input) {
            (Some(command), ..) => command.clone(),
            (None, tool, input) => {
                format!("{} {}", tool.as_deref().unwrap_or_default(), input.as_deref().unwrap_or_default())
            }
        };
        let calls: Vec<String> = self
            .earlier
            .iter()
            .chain([&last])
            .map(|call| format!("`{}`", cell(call).replace('`', "'")))
            .collect();
        calls.join("<br>then ")
    }
}

fn cell(text: &str) -> String {
    text.trim_end().replace('|', "\\|").replace('\n', "⏎")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_answer_is_a_verdict_or_has_a_reason() {
        run().unwrap();
    }

    #[test]
    fn a_call_that_is_not_stopped_needs_a_reason() {
        let mut incident = toml::from_str::<Incidents>(TEXT).unwrap().incident.remove(0);
        incident.command = Some("ls".to_owned());
        let policies = [policy(Profile::Standard).unwrap(), policy(Profile::Autonomous).unwrap()];
        assert!(row(&incident, &policies).is_err());
        incident.passes = Some("it only lists files".to_owned());
        assert!(row(&incident, &policies).is_ok());
    }
}
