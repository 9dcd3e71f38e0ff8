//! From findings and obligations to the decision and its state changes. Independent of the inputs of stages.

use castellan_event::{
    Action, Code, Command, Effect, EffectKind, Exemption, Facts, Fallback, Finding, Mode, Obligation,
    ObligationKind, Verdict,
};
use castellan_programs::Trait;

use crate::call_class::CallClass;
use crate::case::Case;
use crate::decision::{Decision, DecisionParts};
use crate::denial_key;
use crate::grant::Grant;
use crate::obligations::unmet;
use crate::request::RequestId;
use crate::stages::marks;
use crate::state::{State, StateChange};
use crate::{FOREIGN, PROBING};

/// The strictest finding that is not exempt decides; the first of equals. Without such a finding the default decides,
/// or allow if a person granted the call.
pub(crate) fn conclude(
    case: &Case<'_>,
    mut findings: Vec<Finding>,
    mut obligations: Vec<Obligation>,
) -> (Decision, StateChange) {
    let state = case.state;
    let decisive = strictest(&findings);
    let is_granted = findings.iter().any(|finding| finding.lifted == Some(Exemption::Grant));
    let default =
        if is_granted { Verdict::Allow } else { case.policy.default_for(case.call, state.headless) };
    let verdict = decisive.map_or(default, |finding| finding.verdict);
    let reason = decisive.map(reason).unwrap_or_default();
    let answer = answer(verdict, &findings, state);
    let stops = verdict >= Verdict::Ask;
    let grant = if stops { Grant::of_findings(&findings, case.facts) } else { None };
    let request = stops.then(|| request(grant.as_ref(), state));
    let class = CallClass::of(&case.call.tool.name, case.facts, &findings).filter(|_| grant.is_some());
    let is_offered = class.as_ref().is_some_and(|class| state.offered_classes.contains(class));
    let class = class.map(Box::new);
    let hold = hold(verdict, grant.as_ref(), state);
    findings.extend(hold.as_ref().and_then(|hold| hold.as_ref().err().cloned()));
    if verdict.max(answer) == Verdict::Deny {
        obligations.clear();
    }
    obligations.extend(hold.and_then(Result::ok));
    let (required, active) =
        case.reading().map_or((None, None), |reading| (Some(reading.need.level), reading.level));
    let mode = state.mode;
    let parts = DecisionParts { verdict, answer, reason, findings, obligations, mode, required, active };
    let decision = Decision::new(parts);
    let denial_keys = denial_keys(case, &decision);
    let marks = marks_of(case, &decision, &denial_keys);
    let used_grant = is_granted && verdict < Verdict::Ask;
    (decision, StateChange { request, answer, class, is_offered, used_grant, marks, denial_keys })
}

/// Returns the strictest finding that is not exempt; the first of equals.
pub(crate) fn strictest(findings: &[Finding]) -> Option<&Finding> {
    let counting = findings.iter().filter(|finding| finding.counts());
    counting
        .reduce(|strictest, finding| if finding.verdict > strictest.verdict { finding } else { strictest })
}

fn reason(finding: &Finding) -> String {
    if finding.rule.is_empty() {
        finding.message.clone()
    } else {
        format!("{}: {}", finding.rule, finding.message)
    }
}

/// The verdict that the agent receives: first limited to the verdicts that the agent carries out, then to the mode. The
/// mode suspends everything except a halt and a session without tools.
fn answer(verdict: Verdict, findings: &[Finding], state: &State<'_>) -> Verdict {
    if findings.iter().any(|finding| matches!(finding.code, Code::NoTools | Code::Halted)) {
        return verdict;
    }
    let is_asked = state.agent_asks && !state.is_refused;
    match state.mode {
        Mode::Enforce if verdict == Verdict::Ask && !is_asked => Verdict::Deny,
        Mode::Enforce if verdict == Verdict::Allow && !state.honours_allow => Verdict::Defer,
        Mode::Enforce => verdict,
        Mode::Monitor | Mode::Passthrough => Verdict::Defer,
    }
}

/// The id of a pending call. A person may be reading the pending call, so a call with another grant gets a new id.
fn request(grant: Option<&Grant>, state: &State<'_>) -> RequestId {
    match state.pending {
        Some(pending) if grant.is_none_or(|grant| *grant == pending.grant) => pending.id,
        Some(_) | None => state.next_request,
    }
}

/// The obligation to hold a call that a person could grant, or the finding with the reason why it is not met.
fn hold(verdict: Verdict, grant: Option<&Grant>, state: &State<'_>) -> Option<Result<Obligation, Finding>> {
    let is_able = state.able.contains(&ObligationKind::Hold);
    let is_held = is_able && verdict == Verdict::Ask && state.mode == Mode::Enforce && grant.is_some();
    let action = Action::Hold { wait: state.hold.filter(|_| is_held)? };
    // The verdict is already ask.
    let or_else = Fallback::Findings;
    let failed = state.failed.iter().find(|failed| failed.kind == ObligationKind::Hold);
    Some(match failed {
        Some(failed) => Err(unmet(&action, or_else, &failed.why)),
        None => Ok(Obligation { action, exempts: Vec::new(), or_else }),
    })
}

/// The denial keys to count for a call that gets its first answer now. A call that a person refused is no attempt.
fn denial_keys(case: &Case<'_>, decision: &Decision) -> Vec<String> {
    let Some(reading) = case.reading().filter(|_| is_first_answer(case, decision)) else { return Vec::new() };
    let refused_by_person =
        case.state.is_refused && case.state.agent_asks && decision.verdict == Verdict::Ask;
    let is_denied = decision.answer == Verdict::Deny && !refused_by_person;
    let about = || denial_key::of_denied(case.call, &decision.findings, reading.rows());
    let about = if is_denied { about() } else { Vec::new() };
    about.into_iter().chain(denial_key::of_asking(case.facts)).collect()
}

/// A denied call does not happen, so it sets no mark of its rules.
fn marks_of(case: &Case<'_>, decision: &Decision, denial_keys: &[String]) -> Vec<String> {
    let Some(reading) = case.reading().filter(|_| is_first_answer(case, decision)) else { return Vec::new() };
    let happens = decision.answer != Verdict::Deny;
    let mut labels = if happens { marks(&reading.matches) } else { Default::default() };
    if happens && has_foreign_text(case.facts) {
        labels.insert(FOREIGN.to_owned());
    }
    if case.state.tries.is_probing_with(denial_keys) {
        labels.insert(PROBING.to_owned());
    }
    labels.into_iter().collect()
}

/// Reports whether a call gives the agent text from the network or from an MCP server. Files that version control or a
/// package manager fetches are no such text.
fn has_foreign_text(facts: &Facts) -> bool {
    let is_foreign = |effect: &Effect| {
        effect.kind() == EffectKind::Mcp || effect.kind() == EffectKind::Download && effect.system().is_none()
    };
    let prints_foreign = |command: &Command| {
        let is_given = |sign: &&str| command.args.iter().any(|arg| arg == sign);
        let signs = command.name.as_deref().and_then(|name| Trait::OutputsNetwork.signs(name));
        signs.is_some_and(|signs| signs.is_empty() || signs.iter().any(is_given))
    };
    facts.effects.iter().any(is_foreign) || facts.commands.iter().any(prints_foreign)
}

/// A held call is answered later. A repeated call was answered before.
fn is_first_answer(case: &Case<'_>, decision: &Decision) -> bool {
    !case.state.is_repeated && decision.hold().is_none()
}
