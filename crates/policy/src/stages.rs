//! The stages. Each looks at the call and its matches and returns what it finds; none knows of the others, and no order
//! among them can loosen a decision, because the strictest finding wins.

use castellan_event::{Call, Code, Finding, ToolKind, Verdict};

use crate::policy::{Policy, RuleMatch, RuleVerdict};

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

/// Rules tagged allow: they count only if together they cover every row, and never for shell text, of which a rule on the
/// whole call understands nothing.
pub(crate) fn allow_rules(call: &Call, rows: usize, matches: &[RuleMatch<'_>]) -> Vec<Finding> {
    let covered = |row| matches.iter().any(|m| m.verdict == RuleVerdict::Allow && m.rows.contains(&row));
    let counts = call.tool.kind != ToolKind::Shell && (0..rows).all(covered);
    let verdict = if counts { Verdict::Allow } else { Verdict::Defer };
    of(matches, RuleVerdict::Allow, verdict, Code::AllowRule)
}

/// Rules without a verdict tag are recorded.
pub(crate) fn notices(matches: &[RuleMatch<'_>]) -> Vec<Finding> {
    of(matches, RuleVerdict::Notice, Verdict::Defer, Code::Notice)
}

fn of(matches: &[RuleMatch<'_>], kind: RuleVerdict, verdict: Verdict, code: Code) -> Vec<Finding> {
    let fired = matches.iter().filter(|m| m.verdict == kind);
    fired.map(|m| Finding { verdict, code, rule: m.rule.name.clone(), message: m.message.clone() }).collect()
}
