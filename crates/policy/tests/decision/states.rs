//! Rules that are off or only observed: their findings decide nothing and hide nothing.

use castellan_event::{Exemption, Facts, Layer, Mode, Recorder, ToolKind, Verdict};
use castellan_policy::{Decision, Policy, RuleState, Settings, StateChange, drive};
use castellan_rules::{Matching, Options};

use crate::support::{Lexical, call, loaded_with, rule, state};

use castellan_event::Verdict::{Allow, Ask, Defer, Deny};

/// Three rules about the same file, each named after its verdict.
fn rules() -> String {
    let of = |name: &str, tags: &str| rule(name, "tool.file_path endswith x", tags);
    of("deny", "coding_agent_deny")
        + &of("ask", "coding_agent_ask, \"coding_agent_mark:asked\"")
        + &of("allow", "coding_agent_allow")
}

fn judge(held: &[(&str, RuleState)], matching: Matching) -> (Policy, Decision, StateChange) {
    let options = Options { matching, ..Options::default() };
    let policy = loaded_with(&options, &[(Layer::User, &rules())], Settings::default());
    let state_of = |name: &str| {
        held.iter().find(|(rule, _)| *rule == name).map_or(RuleState::Enforce, |(_, state)| *state)
    };
    let policy = policy.with_states(|of| state_of(&of.rule.name));
    let (decision, change) = drive(
        &call("Read", ToolKind::Read, "", &["/w/x"]),
        &Facts::default(),
        &policy,
        &state(Mode::Enforce, true),
        &mut Recorder::new(&Lexical),
    );
    (policy, decision, change)
}

/// Checks the verdict and the observed rules.
fn check(
    held: &[(&str, RuleState)],
    matching: Matching,
    verdict: Verdict,
    observed: &[(&str, Verdict)],
) -> StateChange {
    let (_, decision, change) = judge(held, matching);
    let found = decision.findings.iter().filter(|finding| finding.lifted == Some(Exemption::Observe));
    let found: Vec<_> = found.map(|finding| (finding.rule.as_str(), finding.verdict)).collect();
    assert_eq!((decision.verdict, found), (verdict, observed.to_vec()), "{held:?}");
    change
}

const OFF: RuleState = RuleState::Off;
const OBSERVE: RuleState = RuleState::Observe;

#[test]
fn what_is_held_back_decides_nothing() {
    let all = Matching::All;
    check(&[], all, Deny, &[]);
    check(&[("deny", OFF)], all, Ask, &[]);
    check(&[("deny", OBSERVE)], all, Ask, &[("deny", Deny)]);
    check(&[("deny", OBSERVE), ("ask", OBSERVE)], all, Allow, &[("deny", Deny), ("ask", Ask)]);
    check(&[("deny", OFF), ("ask", OFF), ("allow", OFF)], all, Defer, &[]);
    // An observed allow does not allow the call either.
    check(&[("deny", OFF), ("ask", OFF), ("allow", OBSERVE)], all, Defer, &[("allow", Defer)]);
}

#[test]
fn where_the_first_alone_counts_it_is_the_first_that_is_enforced() {
    let first = Matching::First;
    check(&[], first, Deny, &[]);
    check(&[("deny", OFF)], first, Ask, &[]);
    check(&[("deny", OBSERVE)], first, Ask, &[("deny", Deny)]);
    check(&[("ask", OBSERVE)], first, Deny, &[]);
}

#[test]
fn an_observed_rule_marks_its_session_and_one_that_is_off_does_not() {
    let marks = |state| {
        check(
            &[("deny", OFF), ("ask", state)],
            Matching::All,
            Allow,
            &[("ask", Ask)][usize::from(state == OFF)..],
        )
        .marks
    };
    assert_eq!(marks(OBSERVE), ["asked"]);
    assert_eq!(marks(OFF), [""; 0]);
}

#[test]
fn the_hash_tells_states_apart() {
    let hash = |held: &[(&str, RuleState)]| judge(held, Matching::All).0.hash().to_owned();
    let all = [
        &[][..],
        &[("deny", OFF)],
        &[("deny", OBSERVE)],
        &[("ask", OBSERVE)],
        &[("deny", OFF), ("ask", OFF)],
    ];
    let hashes: std::collections::BTreeSet<String> = all.map(hash).into();
    assert_eq!(hashes.len(), all.len());
    assert_eq!(hash(&[("deny", RuleState::Enforce)]), hash(&[]));
}
