//! One call, one decision: the stages in order.

use castellan_event::{
    AccessLevel, Answers, Call, Code, Decision, Facts, Finding, Mode, Query, Recorder, Relief, Session,
    Verdict, rows,
};

use crate::grant::Grant;
use crate::limits::ROUNDS_MAX;
use crate::policy::Policy;
use crate::purpose;
use crate::relief;
use crate::request::RequestId;
use crate::stages::{self, OwnCode, OwnParts};
use crate::ungoverned::Bar;

/// The label of the mark of a session that tries again and again what is denied.
pub const PROBING: &str = "probing";

/// What a person has said of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standing {
    /// Sessions may work there as the profile says.
    Trusted,
    /// Nothing. Some profiles let sessions only look around there.
    Unknown,
    /// Sessions there have no tools.
    Denied,
}

/// What the decision must know besides the call and the policy.
#[derive(Debug, Clone, Copy)]
pub struct State<'s> {
    /// How decisions are carried out.
    pub mode: Mode,
    /// Whether the agent, told "ask" at this event, asks a person. Where it would run the call instead, ask becomes deny.
    pub agent_asks: bool,
    /// Nobody is there to be asked.
    pub headless: bool,
    /// The highest access level that the session may have, whatever the profile says: the agent's own mode lowers it.
    pub ceiling: AccessLevel,
    /// What a person has said of the session's workspace.
    pub standing: Standing,
    /// The call is of an MCP server that came after castellan and that nobody has agreed to.
    pub is_new_server: bool,
    /// Why the session may do nothing, where that is so.
    pub bar: Option<&'s Bar>,
    /// The id for this call, should a person have to look at it.
    pub next_request: RequestId,
    /// What earlier calls of the session left behind.
    pub session: &'s Session,
    /// What a person has granted of this call.
    pub grant: Option<&'s Grant>,
}

impl<'s> State<'s> {
    /// The state in which a call is judged that no agent makes now: enforced, somebody can be asked, nothing is held back.
    pub fn plain(session: &'s Session) -> State<'s> {
        State {
            mode: Mode::Enforce,
            agent_asks: true,
            headless: false,
            ceiling: AccessLevel::FullAccess,
            standing: Standing::Trusted,
            is_new_server: false,
            bar: None,
            next_request: RequestId::from_seed(0),
            session,
            grant: None,
        }
    }
}

/// What is to be remembered of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateChange {
    /// The request id that was given to the agent, if one was.
    pub request: Option<RequestId>,
    /// What was answered, for the agent's second question about the same call.
    pub answer: Verdict,
    /// The grant has let the call happen.
    pub used_grant: bool,
    /// Labels of the marks that the call sets on its session, sorted, each once. A call that is denied sets none.
    pub marks: Vec<String>,
    /// What a denied call was about, to recognise it in other words; and that a call asks what castellan would answer.
    pub purposes: Vec<String>,
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
    let settings = policy.settings();
    let mut findings = stages::intake(call);
    findings.extend(stages::session_gate(settings));
    findings.extend(stages::workspace_gate(state.standing));
    findings.extend(stages::barred(state.bar));
    let mut seen = Seen::default();
    if state.mode != Mode::Passthrough {
        let rows = match rows(call, facts, state.session, answers) {
            Ok(rows) => rows,
            Err(missing) => return Step::Needs(missing),
        };
        let matches = policy.matches(&rows);
        let rows = stages::done(&rows);
        let operators = &settings.operators;
        let own_code_if = |allows: bool| OwnCode::of(rows, &facts.scripts, stages::is_safe, allows);
        let own_code = own_code_if(settings.allow_understood);
        let leaves = settings.leaves_own_code(state.headless);
        let own_parts = if leaves { OwnParts::of(rows, facts) } else { OwnParts::default() };
        let need = stages::need(call, rows, &own_code);
        let level = stages::active_level(settings, state.standing, state.ceiling);
        findings.extend(stages::policy_present(policy, call));
        findings.extend(stages::operator_denies(operators, call, rows, answers));
        findings.extend(stages::deny_floor(&matches));
        findings.extend(stages::boundary(call, rows));
        findings.extend(stages::plan(call, rows));
        findings.extend(stages::overriding(call, rows));
        findings.extend(stages::operator_asks(operators, call, rows, answers));
        findings.extend(stages::ask_rules(&matches));
        findings.extend(stages::opaque(
            rows,
            settings.opaque_verdict(state.headless),
            settings.minds_missing_code(),
            &own_parts,
        ));
        let orders = stages::unknown_orders(rows, settings.opaque_verdict(state.headless));
        findings.extend(orders.filter(|_| settings.minds_missing_code()));
        findings.extend(stages::unknown_tool(call, settings.unknown_tool));
        findings.extend(stages::new_server(call, state.is_new_server, settings.new_server));
        findings.extend(stages::probing(call, state.session, settings.probing));
        findings.extend(stages::review_rules(&matches));
        findings.extend(stages::level(&need, level, settings, |allows| {
            stages::need(call, rows, &own_code_if(allows))
        }));
        findings.extend(stages::allow_rules(call, rows, &matches));
        findings.extend(stages::understood(
            call,
            rows,
            &need,
            &own_code,
            level.filter(|_| settings.allow_understood),
        ));
        for (layer, allowed) in stages::operator_allows(operators, call, rows, answers) {
            findings.push(allowed);
            relief::by_operator(&mut findings, layer);
        }
        if let Some(grant) = state.grant {
            relief::by_grant(&mut findings, grant, facts);
        }
        findings.extend(stages::notices(&matches));
        seen = Seen {
            marks: stages::marks(&matches),
            required: Some(need.level),
            active: level,
            about: purpose::of_denied(call, &findings, rows),
            asks: purpose::of_asking(facts),
        };
    }
    let (decision, change) = conclude(findings, seen, policy.default_for(call, state.headless), state);
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
    let gates = [stages::session_gate(policy.settings()), stages::workspace_gate(state.standing)];
    let findings = gates.into_iter().flatten().chain([incomplete]).collect();
    conclude(findings, Seen::default(), Verdict::Deny, state)
}

/// What the rules saw of a call besides findings.
#[derive(Debug, Default)]
struct Seen {
    marks: Vec<String>,
    required: Option<AccessLevel>,
    active: Option<AccessLevel>,
    /// What the call is about, where something stops it.
    about: Vec<String>,
    /// It asks what castellan would answer.
    asks: Option<String>,
}

/// The strictest finding decides, the first of equals; without one, the default, and what a person granted is allowed. A call that is denied leaves no mark: it
/// does not happen.
fn conclude(
    findings: Vec<Finding>,
    Seen { marks, required, active, about, asks }: Seen,
    default: Verdict,
    state: &State<'_>,
) -> (Decision, StateChange) {
    let mut decisive: Option<&Finding> = None;
    for finding in findings.iter().filter(|finding| finding.counts()) {
        if decisive.is_none_or(|strictest| finding.verdict > strictest.verdict) {
            decisive = Some(finding);
        }
    }
    let is_granted = findings.iter().any(|finding| finding.lifted == Some(Relief::Grant));
    let default = if is_granted { Verdict::Allow } else { default };
    let verdict = decisive.map_or(default, |finding| finding.verdict);
    let used_grant = is_granted && verdict < Verdict::Ask;
    let reason = decisive.map(reason).unwrap_or_default();
    let answer = told(verdict, &findings, state);
    let request = (verdict >= Verdict::Ask).then_some(state.next_request);
    let marks = if answer == Verdict::Deny { Vec::new() } else { marks };
    let about = if answer == Verdict::Deny { about } else { Vec::new() };
    let purposes = about.into_iter().chain(asks).collect();
    let decision = Decision { verdict, answer, reason, findings, mode: state.mode, required, active };
    (decision, StateChange { request, answer, used_grant, marks, purposes })
}

/// What the agent is told: first what it can be told, then the mode, which suspends everything but a session without tools.
fn told(verdict: Verdict, findings: &[Finding], state: &State<'_>) -> Verdict {
    if findings.iter().any(|finding| finding.code == Code::NoTools) {
        return verdict;
    }
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
