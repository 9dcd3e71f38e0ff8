//! The states that need a person: pending calls, ungoverned ones, broken hooks, stale rules.

use castellan_daemon::{HaltStatus, OutsideStatus, StatusReport};

use crate::output::{counted, printable};
use crate::protection::Protection;

/// A state that needs a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Need {
    pub(super) subject: String,
    pub(super) what: String,
    /// The remedy; empty if the text has it.
    pub(super) remedy: String,
}

/// Returns the needs, the most urgent first: calls that wait, what is bad, and the rest.
pub(super) fn of(protection: &Protection) -> Vec<Need> {
    let status = protection.status.as_ref().ok();
    let mut needs: Vec<Need> = status.into_iter().flat_map(waiting).collect();
    let checks = protection.checks().into_iter().filter(|check| check.outcome > crate::check::Outcome::Good);
    needs.extend(checks.map(|check| Need {
        subject: check.subject.clone(),
        what: check.what.clone(),
        remedy: check.remedy.clone(),
    }));
    needs.extend(status.into_iter().flat_map(noticed));
    needs
        .extend(protection.guards.iter().filter_map(|guard| Some(need(guard.agent.title(), guard.newer()?))));
    needs
}

fn need(subject: &str, what: String) -> Need {
    Need { subject: subject.to_owned(), what, remedy: String::new() }
}

/// Returns the needs of agents that wait.
fn waiting(status: &StatusReport) -> Vec<Need> {
    let mut needs = Vec::new();
    if status.waiting > 0 {
        let calls = counted(status.waiting, "call");
        needs.push(need("waiting", format!("{calls} for you: `castellan pending`")));
    }
    for HaltStatus { of, .. } in &status.halts {
        let what = format!("every call of {} is denied until `castellan resume`", printable(of));
        needs.push(need("halt", what));
    }
    needs
}

/// Returns a need for each other state that the daemon reports.
fn noticed(report: &StatusReport) -> Vec<Need> {
    let mut needs = Vec::new();
    let mut add = |is_so: bool, subject: &str, what: String| {
        if is_so {
            needs.push(need(subject, what));
        }
    };
    let events = counted(report.ungoverned, "event");
    add(report.ungoverned > 0, "ungoverned", format!("{events}; the last: {}", report.last_ungoverned));
    let (calls, last) = (counted(report.unknown_tools, "call"), &report.last_unknown_tool);
    let unknown = format!("{calls} of tools that castellan does not know; the last: `{last}`");
    add(report.unknown_tools > 0, "unknown", unknown);
    let (requests, last) = (counted(report.refused, "request"), &report.last_refused);
    add(report.refused > 0, "refused", format!("{requests} to loosen something; the last: {last}"));
    let rules = counted(report.on_trial, "rule");
    let on_trial = format!("{rules} new since an upgrade, for two weeks: `castellan packs --enforce-new`");
    add(report.on_trial > 0, "observed", on_trial);
    let limit =
        "the denied calls do not fit for as long as they are kept: raise `log.notable_mib` in config.toml";
    add(report.log_limit_reached, "log", limit.to_owned());
    let OutsideStatus { to: _, problem, waiting, lost } = &report.outside;
    let (waiting, lost) = (counted(*waiting as u64, "line"), counted(*lost, "line"));
    let problem = if problem.is_empty() { "lines were dropped" } else { problem.as_str() };
    let copy = format!("the copy of the record in the system's log: {problem}; {waiting} wait, {lost} lost");
    add(!report.outside.problem.is_empty() || report.outside.lost > 0, "outside", copy);
    let undo = &report.undo;
    let failed = counted(undo.failures, "checkpoint");
    let failed = format!("{failed} could not be made, the last: {}", undo.last_failure);
    add(undo.failures > 0, "undo", failed);
    // A policy that is missing is a check.
    if report.policy_origin != "missing" {
        needs.extend(report.problems.iter().map(|problem| need("problem", problem.clone())));
    }
    needs
}
