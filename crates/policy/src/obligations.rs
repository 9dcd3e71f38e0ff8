//! Obligations of a decision: selects those that will be met, and applies the fallbacks of the others. Does not depend
//! on the way an obligation is met.

use castellan_event::{Action, Code, Exemption, Fallback, Finding, Obligation, ObligationKind, Verdict};

use crate::case::Case;
use crate::exemptions;
use crate::state::{Failed, State};

/// Settles the obligations that stages demand. Returns the findings and the obligations to meet. The findings include
/// the exemptions of these obligations and a new finding for each other obligation.
pub(crate) fn settle(
    mut findings: Vec<Finding>,
    demanded: Vec<Obligation>,
    case: &Case<'_>,
) -> (Vec<Finding>, Vec<Obligation>) {
    if demanded.is_empty() {
        return (findings, demanded);
    }
    let needed: Vec<Obligation> = demanded.into_iter().filter(|one| is_needed(one, &findings)).collect();
    let problems: Vec<Option<Failed>> = needed.iter().map(|one| problem(one, &needed, case.state)).collect();
    let (mut not_met, mut to_meet) = (Vec::new(), Vec::new());
    let mut pairs: Vec<_> = needed.into_iter().zip(problems).collect();
    // A call that runs contained needs no review of its code.
    pairs.sort_by_key(|(one, _)| one.action.kind() != ObligationKind::Contain);
    for (obligation, problem) in pairs {
        if obligation.action == Action::Review && !is_needed(&obligation, &findings) {
            continue;
        }
        match problem {
            Some(failed) if failed.denies => not_met.push(refused(&failed)),
            Some(failed) => not_met.push(unmet(&obligation.action, fallback(&obligation), &failed.why)),
            None => {
                let kind = obligation.action.kind();
                findings = exemptions::by_obligation(findings, kind, &obligation.exempts);
                findings.extend(contained(&obligation));
                to_meet.push(obligation);
            }
        }
    }
    findings.extend(exemptions::exempt(not_met, case));
    to_meet.sort_by_key(|one| ObligationKind::ALL.iter().position(|kind| *kind == one.action.kind()));
    (findings, to_meet)
}

/// The finding for an obligation that is not met. A person may let the call run without it, unless its fallback denies.
pub(crate) fn unmet(action: &Action, or_else: Fallback, why: &str) -> Finding {
    let message = format!("the obligation `{action}` cannot be met: {why}");
    let liftable_by: &[Exemption] = match or_else {
        Fallback::Findings | Fallback::Ask => &[Exemption::Grant],
        Fallback::Deny => &[],
    };
    Finding { liftable_by, ..Finding::new(or_else.verdict(), Code::Unmet, message) }
}

/// The finding for a call that runs contained in the place of a question. Only an allow changes the call's input without
/// a prompt of the agent, which would show a command that no person understands.
fn contained(obligation: &Obligation) -> Option<Finding> {
    let message = "castellan runs this call in a sandbox, because it would else ask about it";
    let is_instead = matches!(obligation.action, Action::Contain { .. }) && !obligation.exempts.is_empty();
    is_instead.then(|| Finding::new(Verdict::Allow, Code::Contained, message))
}

/// The finding for a call that a reviewer refused. Nothing exempts the call: a person asks for it in a prompt instead.
fn refused(failed: &Failed) -> Finding {
    let message = "the reviewer denies this call, because the user did not ask for it: ";
    let finding = Finding::new(Verdict::Deny, Code::Unmet, message).with_value(&failed.why);
    finding.with_remedy("ask the user to request it in a prompt")
}

/// A call that a stage wants held is at least asked about, because only an ask that a person can answer is held.
fn fallback(obligation: &Obligation) -> Fallback {
    match obligation.action {
        Action::Hold { .. } => obligation.or_else.max(Fallback::Ask),
        Action::Contain { .. } | Action::Checkpoint | Action::Review => obligation.or_else,
    }
}

/// Reports whether an obligation has a finding to exempt, if exemptions are its only purpose. A review costs money and
/// time, so it is dropped if another finding stops the call anyway. castellan contains no call that it asks about: the
/// person decides about the command that the agent shows.
fn is_needed(obligation: &Obligation, findings: &[Finding]) -> bool {
    let met = Exemption::Met(obligation.action.kind());
    let is_exempt = |finding: &Finding| {
        finding.counts() && finding.is_liftable_by(met) && obligation.exempts.contains(&finding.code)
    };
    let is_stopped = |finding: &Finding| finding.counts() && finding.stops() && !is_exempt(finding);
    match obligation.action {
        _ if obligation.exempts.is_empty() => true,
        Action::Review | Action::Contain { .. } => {
            findings.iter().any(is_exempt) && !findings.iter().any(is_stopped)
        }
        Action::Checkpoint | Action::Hold { .. } => findings.iter().any(is_exempt),
    }
}

/// The reason why an obligation cannot be met; `None` if it can.
fn problem(obligation: &Obligation, needed: &[Obligation], state: &State<'_>) -> Option<Failed> {
    let action = &obligation.action;
    let kind = action.kind();
    let failed = |why: String| Some(Failed { kind, why, denies: false });
    if kind == ObligationKind::Hold {
        return failed("no person has decided yet".to_owned());
    }
    if let Some(other) = needed.iter().find(|other| other.action.excludes(action)) {
        return failed(format!("the obligation `{}` excludes it", other.action));
    }
    if let Some(failed) = state.failed.iter().find(|failed| failed.kind == kind) {
        return Some(failed.clone());
    }
    if state.able.contains(&kind) {
        return None;
    }
    failed("this agent or this version of castellan cannot meet it".to_owned())
}

#[cfg(test)]
mod tests;
