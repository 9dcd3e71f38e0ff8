//! Findings of rules, by the verdicts of their tags. Does not depend on the matching of rules.

use std::collections::BTreeSet;

use castellan_event::{Code, Exemption, Finding, Verdict};

use crate::case::{Case, Reading};
use crate::policy::RuleMatch;
use crate::rule_state::RuleState;
use crate::stages::{Found, allow};
use crate::tags::RuleVerdict;

/// Rules tagged deny.
pub(super) fn deny(_: &Case<'_>, reading: &Reading<'_>) -> Found {
    findings(&reading.matches, RuleVerdict::Deny, Verdict::Deny, Code::DenyRule)
}

/// Rules tagged ask.
pub(super) fn ask(_: &Case<'_>, reading: &Reading<'_>) -> Found {
    findings(&reading.matches, RuleVerdict::Ask, Verdict::Ask, Code::AskRule)
}

/// Rules tagged contain: they ask unless the call runs in a sandbox.
pub(super) fn contain(_: &Case<'_>, reading: &Reading<'_>) -> Found {
    findings(&reading.matches, RuleVerdict::Contain, Verdict::Ask, Code::ContainRule)
}

/// Rules tagged review: soft denials, harmless if the user asked for the call.
pub(super) fn review(_: &Case<'_>, reading: &Reading<'_>) -> Found {
    findings(&reading.matches, RuleVerdict::Review, Verdict::Ask, Code::ReviewRule)
}

/// Rules tagged allow: they apply only if together they cover every leaf of the call.
pub(super) fn allow(case: &Case<'_>, reading: &Reading<'_>) -> Found {
    let is_meant =
        |m: &&RuleMatch<'_>| m.of.verdict == RuleVerdict::Allow && m.of.state == RuleState::Enforce;
    let allows: Vec<_> = reading.matches.iter().filter(is_meant).collect();
    let is_covered = allow::cover(case.call, reading.rows(), &allows);
    let verdict = if is_covered { Verdict::Allow } else { Verdict::Defer };
    findings(&reading.matches, RuleVerdict::Allow, verdict, Code::AllowRule)
}

/// Rules without a verdict tag: only recorded.
pub(super) fn notices(_: &Case<'_>, reading: &Reading<'_>) -> Found {
    findings(&reading.matches, RuleVerdict::Notice, Verdict::Defer, Code::Notice)
}

/// Labels of the marks that the matching rules set, independently of their verdicts.
pub(crate) fn marks(matches: &[RuleMatch<'_>]) -> BTreeSet<String> {
    matches.iter().flat_map(|m| m.of.marks).cloned().collect()
}

fn findings(matches: &[RuleMatch<'_>], kind: RuleVerdict, verdict: Verdict, code: Code) -> Found {
    let fired = matches.iter().filter(|m| m.of.verdict == kind);
    let finding = |m: &RuleMatch<'_>| Finding {
        remedy_at: m.remedy_at,
        values: m.values.clone(),
        rule: m.of.rule.name.clone(),
        layer: Some(m.of.layer),
        is_firm: m.of.is_firm,
        rows: m.rows.clone(),
        lifted: (m.of.state == RuleState::Observe).then_some(Exemption::Observe),
        ..Finding::new(verdict, code, m.message.clone())
    };
    fired.map(finding).collect()
}
