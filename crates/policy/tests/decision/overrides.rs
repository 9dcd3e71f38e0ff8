//! Decisions of a program that embeds the agent: they may tighten freely, and their allow weighs as much as any other.

use castellan_event::{Call, Code, Effect, Exemption, Facts, Override, Role, ToolKind, Verdict, Why};
use castellan_policy::{AllowOrDefer, Profile};
use proptest::prelude::*;

use crate::support::{bash, call, judge, layered, policy, rule};

use castellan_event::Layer::User;
use castellan_event::Verdict::{Allow, Ask, Defer, Deny};

fn overridden(verdict: Verdict, call: Call) -> Call {
    let agent = castellan_event::Agent {
        overriding: Some(Override { verdict, reason: "it said so".to_owned() }),
        ..call.agent
    };
    Call { agent, ..call }
}

#[test]
fn the_strictest_of_override_and_rules_wins() {
    let ask = rule("ask", "tool.name = Bash", "coding_agent_ask");
    let deny = rule("deny", "tool.name = Bash", "coding_agent_deny");
    let check = |verdict, rules: &str, expected| {
        let decision =
            judge(&overridden(verdict, bash("x")), &Facts::default(), &policy(rules, AllowOrDefer::Defer));
        assert_eq!(decision.verdict, expected, "{verdict} and {rules}");
    };
    check(Deny, "", Deny);
    check(Ask, "", Ask);
    check(Allow, "", Allow);
    check(Allow, &ask, Ask);
    check(Allow, &deny, Deny);
    check(Ask, &deny, Deny);
    check(Deny, &ask, Deny);
}

/// A grant can only exempt an override that asks, so nothing else is offered to the person.
#[test]
fn a_grant_lifts_nothing_but_an_override_that_asks() {
    for (verdict, expected) in [(Deny, false), (Ask, true), (Allow, false), (Defer, false)] {
        let decision =
            judge(&overridden(verdict, bash("x")), &Facts::default(), &policy("", AllowOrDefer::Defer));
        let admits = |finding: &castellan_event::Finding| finding.is_liftable_by(Exemption::Grant);
        assert_eq!(decision.findings.iter().map(admits).collect::<Vec<_>>(), [expected], "{verdict}");
    }
}

#[test]
fn an_allow_covers_nothing_that_was_not_understood_and_raises_no_level() {
    let opaque = Effect::opaque(Role::Operand, Why::Unsupported, None);
    let facts = Facts { effects: vec![opaque], ..Facts::default() };
    let decision = judge(&overridden(Allow, bash("x")), &facts, &policy("", AllowOrDefer::Defer));
    assert_eq!(decision.verdict, Defer);
    let strict = layered(&[(User, "")], Profile::Strict.settings());
    let decision =
        judge(&overridden(Allow, call("Magic", ToolKind::Unknown, "", &[])), &Facts::default(), &strict);
    assert_eq!(decision.verdict, Deny);
    assert!(decision.findings.iter().any(|finding| finding.code == Code::Access), "{decision:?}");
}

proptest! {
    #[test]
    fn an_override_that_denies_or_asks_never_loosens(
        verdict in prop::sample::select(vec![Deny, Ask]),
        tags in prop::sample::select(vec!["", "coding_agent_deny", "coding_agent_ask", "coding_agent_allow"]),
    ) {
        let policy = policy(&rule("r", "tool.name = Bash", tags), AllowOrDefer::Defer);
        let without = judge(&bash("x"), &Facts::default(), &policy).verdict;
        let with = judge(&overridden(verdict, bash("x")), &Facts::default(), &policy).verdict;
        prop_assert!(with >= without && with >= verdict);
    }
}
