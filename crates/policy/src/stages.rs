//! The stages. Each looks at the call and its matches and returns what it finds; none knows of the others, and no order
//! among them can loosen a decision, because the strictest finding wins.

mod allow;

use std::collections::BTreeSet;

use castellan_event::{Call, CallRow, Code, Finding, ToolKind, Verdict};

use crate::policy::{Policy, RuleMatch};
use crate::tags::RuleVerdict;

/// What is wrong with the payload denies: two readers of it might see two different calls.
pub(crate) fn intake(call: &Call) -> Vec<Finding> {
    let problems = call.problems.iter();
    problems.map(|problem| Finding::new(Verdict::Deny, Code::Malformed, problem.to_string())).collect()
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

/// A tool that this version does not know is recorded and left to the agent's own prompt.
pub(crate) fn unknown_tool(call: &Call) -> Option<Finding> {
    let unknown = call.tool.kind == ToolKind::Unknown;
    unknown.then(|| {
        Finding::new(Verdict::Defer, Code::UnknownTool, format!("unknown tool `{}`", call.tool.name_raw))
    })
}

/// Rules tagged allow: they count only if together they cover every leaf of the call.
pub(crate) fn allow_rules(call: &Call, rows: &[CallRow<'_>], matches: &[RuleMatch<'_>]) -> Vec<Finding> {
    let allows: Vec<_> = matches.iter().filter(|m| m.of.verdict == RuleVerdict::Allow).collect();
    let verdict = if allow::cover(call, rows, &allows) { Verdict::Allow } else { Verdict::Defer };
    of(matches, RuleVerdict::Allow, verdict, Code::AllowRule)
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
        verdict,
        code,
        rule: m.of.rule.name.clone(),
        layer: Some(m.of.layer),
        rows: m.rows.clone(),
        message: m.message.clone(),
    };
    fired.map(finding).collect()
}
