//! One call, one decision: the stages in order.

use castellan_event::{
    Answers, Call, Code, Decision, Facts, Finding, Mode, Query, Recorder, Session, Verdict, rows,
};

use crate::limits::ROUNDS_MAX;
use crate::policy::Policy;
use crate::request::RequestId;
use crate::stages;

/// What the decision must know besides the call and the policy.
#[derive(Debug, Clone, Copy)]
pub struct State<'s> {
    /// How decisions are carried out.
    pub mode: Mode,
    /// Whether the agent, told "ask" at this event, asks a person. Where it would run the call instead, ask becomes deny.
    pub agent_asks: bool,
    /// The id for this call, should a person have to look at it.
    pub next_request: RequestId,
    /// What earlier calls of the session left behind.
    pub session: &'s Session,
}

/// What is to be remembered of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateChange {
    /// The request id that was given to the agent, if one was.
    pub request: Option<RequestId>,
    /// What was answered, for the agent's second question about the same call.
    pub answer: Verdict,
    /// Labels of the marks that the call sets on its session, sorted, each once. A call that is denied sets none.
    pub marks: Vec<String>,
}

/// One step of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// These queries must be answered first.
    Needs(Vec<Query>),
    /// Decided.
    Done(Decision, StateChange),
}

/// Judges one call. Pure: the same call, facts, policy, state and answers give the same step.
pub fn decide(call: &Call, facts: &Facts, policy: &Policy, state: &State<'_>, answers: &Answers) -> Step {
    let mut findings = stages::intake(call);
    let mut marks = Vec::new();
    if state.mode != Mode::Passthrough {
        let rows = match rows(call, facts, state.session, answers) {
            Ok(rows) => rows,
            Err(missing) => return Step::Needs(missing),
        };
        let matches = policy.matches(&rows);
        findings.extend(stages::policy_present(policy, call));
        findings.extend(stages::deny_floor(&matches));
        findings.extend(stages::ask_rules(&matches));
        findings.extend(stages::review_rules(&matches));
        findings.extend(stages::unknown_tool(call));
        findings.extend(stages::allow_rules(call, &rows, &matches));
        findings.extend(stages::notices(&matches));
        marks = stages::marks(&matches);
    }
    let (decision, change) = conclude(findings, marks, policy.default_for(call), state);
    Step::Done(decision, change)
}

/// Decides with a world at hand: answers what is asked until the decision is made. A decision that cannot be completed is
/// a deny.
pub fn drive(
    call: &Call,
    facts: &Facts,
    policy: &Policy,
    state: &State<'_>,
    world: &mut Recorder<'_>,
) -> (Decision, StateChange) {
    for _ in 0..ROUNDS_MAX {
        match decide(call, facts, policy, state, world.answers()) {
            Step::Done(decision, change) => return (decision, change),
            Step::Needs(queries) => {
                if !queries.into_iter().all(|query| world.ask(query).is_some()) {
                    break;
                }
            }
        }
    }
    let message = "the call could not be looked into far enough to judge it";
    let incomplete = Finding::new(Verdict::Deny, Code::FailClosed, message);
    conclude(vec![incomplete], Vec::new(), Verdict::Deny, state)
}

/// The strictest finding decides, the first of equals; without one, the default. A call that is denied leaves no mark: it
/// does not happen.
fn conclude(
    findings: Vec<Finding>,
    marks: Vec<String>,
    default: Verdict,
    state: &State<'_>,
) -> (Decision, StateChange) {
    let mut decisive: Option<&Finding> = None;
    for finding in findings.iter().filter(|finding| finding.verdict > Verdict::Defer) {
        if decisive.is_none_or(|strictest| finding.verdict > strictest.verdict) {
            decisive = Some(finding);
        }
    }
    let verdict = decisive.map_or(default, |finding| finding.verdict);
    let reason = decisive.map(reason).unwrap_or_default();
    let answer = told(verdict, state);
    let request = (verdict >= Verdict::Ask).then_some(state.next_request);
    let marks = if answer == Verdict::Deny { Vec::new() } else { marks };
    (Decision { verdict, answer, reason, findings, mode: state.mode }, StateChange { request, answer, marks })
}

/// What the agent is told: first what it can be told, then the mode.
fn told(verdict: Verdict, state: &State<'_>) -> Verdict {
    let tellable = if verdict == Verdict::Ask && !state.agent_asks { Verdict::Deny } else { verdict };
    match state.mode {
        Mode::Enforce => tellable,
        Mode::Monitor | Mode::Passthrough => Verdict::Defer,
    }
}

fn reason(finding: &Finding) -> String {
    if finding.rule.is_empty() {
        finding.message.clone()
    } else {
        format!("{}: {}", finding.rule, finding.message)
    }
}
