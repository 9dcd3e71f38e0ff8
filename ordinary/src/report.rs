//! The figures of each profile, the causes of interruptions, and the interrupted calls, as text or JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use castellan_event::Verdict;
use castellan_ordinary::{Interruption, Measured, Project};
use castellan_trial::Asked;
use serde_json::{Value as Json, json};

use crate::target;

/// Examples of each cause.
const EXAMPLES: usize = 2;

/// Characters of an example. A longer command is cut.
const EXAMPLE_CHARS: usize = 240;

/// Returns the tables. `with_list` adds every interrupted call.
pub(crate) fn text(seed: u64, projects: &[Project], measured: &[Measured], with_list: bool) -> String {
    let calls: usize = projects.iter().map(Project::calls).sum();
    let mut out = format!("Ordinary set of seed {seed}: {calls} calls in {} projects.\n\n", projects.len());
    out +=
        "| profile | calls | interrupted | share | at most | standard error | asked | denied | allowed |\n";
    out += "|---|---|---|---|---|---|---|---|---|\n";
    for one in measured {
        let share = target::share(&one.projects);
        let (most, of_allowed) = target::wanted(one.profile);
        let _ = writeln!(
            out,
            "| {} | {} | {} | {:.2} % | {} | {:.2} % | {} | {} | {:.1} %{of_allowed} |",
            one.profile,
            one.calls(),
            one.interruptions.len(),
            share * 100.0,
            most,
            target::error(&one.projects, share) * 100.0,
            one.count(Verdict::Ask),
            one.count(Verdict::Deny),
            percent(one.allowed, one.calls()),
        );
    }
    contained(measured, &mut out);
    for one in measured {
        let _ = write!(out, "\n### {}\n\n", one.profile);
        ecosystems(projects, one, &mut out);
        causes(one, &mut out);
        if with_list {
            one.interruptions.iter().for_each(|call| out += &line(call, usize::MAX));
        }
    }
    out
}

/// Writes the table of calls that run in a sandbox in the place of a question.
fn contained(measured: &[Measured], out: &mut String) {
    *out += "\nWhere castellan runs calls in a sandbox:\n\n| profile | contained | interrupted | share | allowed |\n\
             |---|---|---|---|---|\n";
    for one in measured {
        let contained: usize = one.contained.iter().sum();
        let _ = writeln!(
            out,
            "| {} | {contained} | {} | {:.2} % | {:.1} % |",
            one.profile,
            one.interruptions.len().saturating_sub(contained),
            target::share(&one.with_containment()) * 100.0,
            percent(one.allowed + contained, one.calls()),
        );
    }
}

fn ecosystems(projects: &[Project], measured: &Measured, out: &mut String) {
    let mut by_ecosystem: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (project, (calls, interrupted)) in projects.iter().zip(&measured.projects) {
        let sum = by_ecosystem.entry(project.ecosystem).or_default();
        (sum.0, sum.1) = (sum.0 + calls, sum.1 + interrupted);
    }
    let shown = by_ecosystem.iter().map(|(name, (calls, interrupted))| {
        format!("{name} {:.1} % ({interrupted} of {calls})", percent(*interrupted, *calls))
    });
    let _ = writeln!(out, "{}\n", shown.collect::<Vec<_>>().join(", "));
}

/// Writes the rules or codes that interrupted, the most frequent first.
fn causes(measured: &Measured, out: &mut String) {
    for (cause, calls) in grouped(measured) {
        let _ = writeln!(out, "{:>5}  {cause}", calls.len());
        // The first and the middle one are of different projects.
        let step = calls.len().div_ceil(EXAMPLES).max(1);
        calls.iter().step_by(step).for_each(|call| *out += &line(call, EXAMPLE_CHARS));
    }
}

fn grouped(measured: &Measured) -> Vec<(String, Vec<&Interruption>)> {
    let mut by_cause: BTreeMap<String, Vec<&Interruption>> = BTreeMap::new();
    for call in &measured.interruptions {
        by_cause.entry(call.cause.clone()).or_default().push(call);
    }
    let mut causes: Vec<_> = by_cause.into_iter().collect();
    causes.sort_by_key(|(_, calls)| std::cmp::Reverse(calls.len()));
    causes
}

fn line(call: &Interruption, chars: usize) -> String {
    let text = shown(&call.asked).chars().take(chars).collect::<String>().replace('\n', "\\n");
    let (session, number) = call.at;
    let because = call.because.first().map_or("", String::as_str);
    let contained = if call.is_contained { ", contained" } else { "" };
    format!(
        "       {} {session}.{number} {}{contained}: `{text}`\n           {because}\n",
        call.place, call.verdict
    )
}

fn shown(asked: &Asked) -> String {
    match asked.input.get("command").and_then(Json::as_str) {
        Some(command) => command.to_owned(),
        None => format!("{} {}", asked.tool, Json::from(asked.input.clone())),
    }
}

/// Returns every call, a line for each.
pub(crate) fn calls(projects: &[Project]) -> String {
    let mut out = String::new();
    for project in projects {
        for (number, session) in project.sessions.iter().enumerate() {
            let _ = writeln!(out, "## {} {}, session {}", project.ecosystem, project.directory, number + 1);
            for step in session {
                let _ = writeln!(out, "{}", shown(&step.asked).replace('\n', "\\n"));
            }
        }
    }
    out
}

/// Returns the same as JSON, with every interrupted call.
pub(crate) fn json(seed: u64, measured: &[Measured]) -> Json {
    let profiles = measured.iter().map(|one| {
        let interruptions = one.interruptions.iter().map(|call| {
            json!({
                "place": call.place, "session": call.at.0, "call": call.at.1, "tool": call.asked.tool,
                "input": call.asked.input, "verdict": call.verdict.as_str(), "cause": call.cause,
                "because": call.because, "contained": call.is_contained,
            })
        });
        json!({
            "profile": one.profile, "calls": one.calls(), "asked": one.count(Verdict::Ask),
            "denied": one.count(Verdict::Deny), "allowed": one.allowed,
            "interruptions": interruptions.collect::<Vec<_>>(),
        })
    });
    json!({ "seed": seed, "profiles": profiles.collect::<Vec<_>>() })
}

#[expect(clippy::cast_precision_loss, reason = "counts of calls in memory")]
fn percent(part: usize, whole: usize) -> f64 {
    part as f64 * 100.0 / whole.max(1) as f64
}
