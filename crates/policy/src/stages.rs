//! The stages. Each looks at the call and its matches and returns what it finds; none knows of the others, and no order
//! among them can loosen a decision, because the strictest finding wins.

mod access;
mod allow;
mod arguments;
mod opaque;
mod orders;
mod own_code;
mod own_parts;
mod understood;
mod variables;

use std::collections::BTreeSet;

use castellan_event::{
    Answers, Call, CallRow, Code, Finding, Layer, Level, Override, Relief, Row as _, Session, ToolKind,
    Verdict,
};

use crate::decide::{PROBING, Standing};
use crate::operator::ShortMatch;
use crate::operators::Operators;
use crate::policy::{Policy, RuleMatch};
use crate::rule_state::RuleState;
use crate::settings::Settings;
use crate::tags::RuleVerdict;
use crate::ungoverned::Bar;

pub(crate) use access::{active_level, level, need};
pub(crate) use opaque::opaque;
pub(crate) use orders::unknown_orders;
pub(crate) use own_code::OwnCode;
pub(crate) use own_parts::OwnParts;
pub(crate) use understood::{is_safe, understood};

/// What is wrong with the payload denies: two readers of it might see two different calls.
pub(crate) fn intake(call: &Call) -> Vec<Finding> {
    let problems = call.problems.iter();
    problems.map(|problem| Finding::new(Verdict::Deny, Code::Malformed, problem.to_string())).collect()
}

/// The rows of what the call does now. What files would do that it writes comes last, and is for rules that name it.
pub(crate) fn done<'r, 'c>(rows: &'r [CallRow<'c>]) -> &'r [CallRow<'c>] {
    rows.get(..rows.partition_point(|row| row.level() <= Level::Effect)).unwrap_or(rows)
}

/// A session that has no tools.
pub(crate) fn session_gate(settings: &Settings) -> Option<Finding> {
    let message = || format!("sessions of the profile {} have no tools", settings.profile);
    (!settings.tools).then(|| Finding::new(Verdict::Deny, Code::NoTools, message()))
}

/// A workspace in which sessions may do nothing.
pub(crate) fn workspace_gate(standing: Standing) -> Option<Finding> {
    let message = "sessions in this workspace are denied";
    (standing == Standing::Denied).then(|| Finding::new(Verdict::Deny, Code::DeniedWorkspace, message))
}

/// A session that may do nothing more. Nothing lifts it at run time.
pub(crate) fn barred(bar: Option<&Bar>) -> Option<Finding> {
    bar.map(|bar| Finding::new(Verdict::Deny, bar.code, bar.message.clone()))
}

/// Without a policy nothing but reading is let through.
pub(crate) fn policy_present(policy: &Policy, call: &Call) -> Option<Finding> {
    let problem = policy.problem().filter(|_| call.tool.kind != ToolKind::Read)?;
    Some(Finding::new(Verdict::Deny, Code::NoPolicy, format!("no rules could be loaded: {problem}")))
}

/// Rules tagged deny. Nothing lifts them at run time.
pub(crate) fn deny_floor(matches: &[RuleMatch<'_>]) -> Vec<Finding> {
    of(matches, RuleVerdict::Deny, Verdict::Deny, Code::DenyRule)
}

/// Rules tagged ask.
pub(crate) fn ask_rules(matches: &[RuleMatch<'_>]) -> Vec<Finding> {
    of(matches, RuleVerdict::Ask, Verdict::Ask, Code::AskRule)
}

/// Rules tagged review: soft denials, fine if the user asked for it. Asked as long as nobody else can judge that.
pub(crate) fn review_rules(matches: &[RuleMatch<'_>]) -> Vec<Finding> {
    of(matches, RuleVerdict::Review, Verdict::Ask, Code::ReviewRule)
}

/// What leaves the bounds of a session's sandbox. Sessions have none yet.
pub(crate) fn boundary(_call: &Call, _rows: &[CallRow<'_>]) -> Option<Finding> {
    None
}

/// What an approved plan does not name. Sessions have none yet.
pub(crate) fn plan(_call: &Call, _rows: &[CallRow<'_>]) -> Option<Finding> {
    None
}

/// What a program that embeds the agent, or another hook, has decided. Its allow is one among others, and like those it
/// covers nothing that was not understood.
pub(crate) fn overriding(call: &Call, rows: &[CallRow<'_>]) -> Option<Finding> {
    let Override { verdict, reason } = call.agent.overriding.as_ref()?;
    let is_understood = || !allow::leaves(rows).any(|leaf| allow::is_opaque(leaf.row));
    let (verdict, code) = match verdict {
        Verdict::Deny => (Verdict::Deny, Code::OverrideDeny),
        Verdict::Ask => (Verdict::Ask, Code::OverrideAsk),
        Verdict::Allow if is_understood() => (Verdict::Allow, Code::OverrideAllow),
        Verdict::Allow | Verdict::Defer => (Verdict::Defer, Code::OverrideAllow),
    };
    let reason = if reason.is_empty() { "it says no more" } else { reason };
    Some(Finding::new(verdict, code, format!("decided before castellan was asked: {reason}")))
}

/// The operators' deny patterns that fired. Nothing lifts them at run time.
pub(crate) fn operator_denies(
    operators: &Operators,
    call: &Call,
    rows: &[CallRow<'_>],
    answers: &Answers,
) -> Vec<Finding> {
    let of = |(layer, list)| of_operator(layer, list, Verdict::Deny, Code::OperatorDeny);
    operators.denies(call, rows, answers).flat_map(of).collect()
}

/// The operators' ask patterns that fired. Nothing lifts the organisation's.
pub(crate) fn operator_asks(
    operators: &Operators,
    call: &Call,
    rows: &[CallRow<'_>],
    answers: &Answers,
) -> Vec<Finding> {
    let of = |(layer, list)| of_operator(layer, list, Verdict::Ask, Code::OperatorAsk);
    operators.asks(call, rows, answers).flat_map(of).collect()
}

/// A tool that this version does not know is recorded and, where the profile says nothing else, left to the agent's prompt.
pub(crate) fn unknown_tool(call: &Call, verdict: Verdict) -> Option<Finding> {
    let unknown = call.tool.kind == ToolKind::Unknown;
    unknown
        .then(|| Finding::new(verdict, Code::UnknownTool, format!("unknown tool `{}`", call.tool.name_raw)))
}

/// A tool of an MCP server that is new here: asked about until somebody has agreed.
pub(crate) fn new_server(call: &Call, is_new: bool, verdict: Verdict) -> Option<Finding> {
    let (server, _) = call.tool.mcp.as_ref().filter(|_| is_new)?;
    let message =
        format!("the MCP server `{server}` was not there before castellan, and nobody has agreed to it yet");
    Some(Finding::new(verdict, Code::NewServer, message))
}

/// A session that tries again and again what is denied. What changes the agent's own state alone is free.
pub(crate) fn probing(call: &Call, session: &Session, verdict: Verdict) -> Option<Finding> {
    session.marks.get(PROBING).filter(|_| call.tool.kind != ToolKind::Internal)?;
    let message = "this session has tried again and again what was denied";
    Some(Finding::new(verdict, Code::Probing, message))
}

/// Rules tagged allow: they count only if together they cover every leaf of the call.
pub(crate) fn allow_rules(call: &Call, rows: &[CallRow<'_>], matches: &[RuleMatch<'_>]) -> Vec<Finding> {
    let is_meant =
        |m: &&RuleMatch<'_>| m.of.verdict == RuleVerdict::Allow && m.of.state == RuleState::Enforce;
    let allows: Vec<_> = matches.iter().filter(is_meant).collect();
    let verdict = if allow::cover(call, rows, &allows) { Verdict::Allow } else { Verdict::Defer };
    of(matches, RuleVerdict::Allow, verdict, Code::AllowRule)
}

/// The layers whose allow patterns cover every leaf of the call. What was not understood is never covered.
pub(crate) fn operator_allows(
    operators: &Operators,
    call: &Call,
    rows: &[CallRow<'_>],
    answers: &Answers,
) -> Vec<(Layer, Finding)> {
    let covers = |layer: &Layer| {
        allow::leaves(rows)
            .all(|leaf| !allow::is_opaque(leaf.row) && operators.cover(*layer, call, leaf.row, answers))
    };
    let message = "the operator's allow list covers the whole call";
    let finding =
        |layer| Finding { layer: Some(layer), ..Finding::new(Verdict::Allow, Code::OperatorAllow, message) };
    operators.allowing().filter(covers).map(|layer| (layer, finding(layer))).collect()
}

/// Rules without a verdict tag are recorded.
pub(crate) fn notices(matches: &[RuleMatch<'_>]) -> Vec<Finding> {
    of(matches, RuleVerdict::Notice, Verdict::Defer, Code::Notice)
}

/// The labels of the marks that the call's rules set, sorted, each once, whatever else the rules say.
pub(crate) fn marks(matches: &[RuleMatch<'_>]) -> Vec<String> {
    let labels: BTreeSet<&String> = matches.iter().flat_map(|m| m.of.marks).collect();
    labels.into_iter().cloned().collect()
}

fn of(matches: &[RuleMatch<'_>], kind: RuleVerdict, verdict: Verdict, code: Code) -> Vec<Finding> {
    let fired = matches.iter().filter(|m| m.of.verdict == kind);
    let finding = |m: &RuleMatch<'_>| Finding {
        rule: m.of.rule.name.clone(),
        layer: Some(m.of.layer),
        is_firm: m.of.is_firm,
        rows: m.rows.clone(),
        lifted: (m.of.state == RuleState::Observe).then_some(Relief::Observe),
        ..Finding::new(verdict, code, m.message.clone())
    };
    fired.map(finding).collect()
}

fn of_operator(layer: Layer, list: Vec<ShortMatch<'_>>, verdict: Verdict, code: Code) -> Vec<Finding> {
    let finding = |ShortMatch { rule, rows }: ShortMatch<'_>| Finding {
        rule: rule.to_owned(),
        layer: Some(layer),
        is_firm: layer == Layer::Organisation,
        rows,
        ..Finding::new(verdict, code, format!("the {layer}'s {verdict} list names it"))
    };
    list.into_iter().map(finding).collect()
}
