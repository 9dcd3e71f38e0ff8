//! Verdicts of the stages on a call's matches.

use castellan_event::{Answer, Call, Facts, IntakeProblem, Mode, Query, Recorder, ToolKind, Verdict, World};
use castellan_policy::{AllowOrDefer, Policy, drive};
use proptest::prelude::*;

use crate::support::{Lexical, bash, call, policy, rule, state};

/// Answers nothing, like a replay without its record.
struct Silent;

impl World for Silent {
    fn answer(&self, _query: &Query) -> Option<Answer> {
        None
    }
}

const RULES: &[(&str, &str, &str)] = &[
    ("no rm", "tool.input_command contains rm", "coding_agent_deny"),
    ("ask git", "tool.input_command contains git", "coding_agent_ask"),
    ("review npm", "tool.input_command contains npm", "coding_agent_review"),
    ("allow ls", "tool.input_command contains ls", "coding_agent_allow"),
    ("allow tmp", "tool.real_file_path startswith /tmp/", "coding_agent_allow"),
    ("see all", "tool.name exists", "coding_agent_seen"),
    ("note cat", "tool.input_command contains cat", ""),
];

fn rules() -> String {
    RULES.iter().map(|(name, condition, tags)| rule(name, condition, tags)).collect()
}

/// Checks verdict, answer and the number of findings.
fn check(call: &Call, mode: Mode, agent_asks: bool, expected: (Verdict, Verdict, usize)) {
    let (decision, _) = drive(
        call,
        &Facts::default(),
        &policy(&rules(), AllowOrDefer::Defer),
        &state(mode, agent_asks),
        &mut Recorder::new(&Lexical),
    );
    let got = (decision.verdict, decision.answer, decision.findings.len());
    assert_eq!(got, expected, "{:?} {:?} in {mode}", call.command, call.files);
}

#[test]
fn verdict_answer_and_findings() {
    use Mode::{Enforce, Monitor, Passthrough};
    use Verdict::{Allow, Ask, Defer, Deny};
    check(&bash("rm x"), Enforce, true, (Deny, Deny, 1));
    check(&bash("git x; rm x"), Enforce, true, (Deny, Deny, 2));
    check(&bash("git x"), Enforce, true, (Ask, Ask, 1));
    check(&bash("git x"), Enforce, false, (Ask, Deny, 1));
    check(&bash("npm x"), Enforce, true, (Ask, Ask, 1));
    check(&bash("echo"), Enforce, true, (Defer, Defer, 0));
    check(&bash("cat x"), Enforce, true, (Defer, Defer, 1));
    check(&bash("rm x"), Monitor, true, (Deny, Defer, 1));
    check(&bash("git x"), Monitor, false, (Ask, Defer, 1));
    check(&bash("rm x"), Passthrough, true, (Defer, Defer, 0));
    // A rule on the whole text covers none of its commands: `ls; curl x` is not `ls`.
    check(&bash("ls"), Enforce, true, (Defer, Defer, 1));
    check(&call("Write", ToolKind::Write, "", &["/tmp/a"]), Enforce, true, (Allow, Allow, 1));
    check(&call("Edit", ToolKind::Patch, "", &["/tmp/a", "/tmp/b"]), Enforce, true, (Allow, Allow, 1));
    // One file without an allow rule prevents the allow.
    check(&call("Edit", ToolKind::Patch, "", &["/tmp/a", "/etc/b"]), Enforce, true, (Defer, Defer, 1));
    check(&call("Magic", ToolKind::Unknown, "", &[]), Enforce, true, (Defer, Defer, 1));
}

#[test]
fn an_unknown_tool_is_never_allowed_by_default() {
    let policy = policy("", AllowOrDefer::Allow);
    let verdict = |call: &Call| {
        drive(call, &Facts::default(), &policy, &state(Mode::Enforce, true), &mut Recorder::new(&Lexical))
            .0
            .verdict
    };
    assert_eq!(verdict(&call("Magic", ToolKind::Unknown, "", &[])), Verdict::Defer);
    assert_eq!(verdict(&call("TodoWrite", ToolKind::Internal, "", &[])), Verdict::Allow);
}

#[test]
fn a_malformed_call_is_denied_and_still_matched() {
    let nul = Call { problems: vec![IntakeProblem::NulByte], ..bash("git \0") };
    check(&nul, Mode::Enforce, true, (Verdict::Deny, Verdict::Deny, 2));
    check(&nul, Mode::Monitor, true, (Verdict::Deny, Verdict::Defer, 2));
}

#[test]
fn without_a_policy_only_reading_is_left_to_the_agent() {
    let missing = Policy::missing("rules/x.yaml:3:1: LOAD_ERR_YAML_PARSE");
    let (decision, _) = drive(
        &bash("ls"),
        &Facts::default(),
        &missing,
        &state(Mode::Enforce, true),
        &mut Recorder::new(&Lexical),
    );
    assert_eq!(decision.answer, Verdict::Deny);
    assert_eq!(
        decision.reason,
        "castellan has no rules to judge it by: rules/x.yaml:3:1: LOAD_ERR_YAML_PARSE"
    );
    let read = call("Read", ToolKind::Read, "", &["/w/a"]);
    let (decision, _) =
        drive(&read, &Facts::default(), &missing, &state(Mode::Enforce, true), &mut Recorder::new(&Lexical));
    assert_eq!(decision.answer, Verdict::Defer);
}

#[test]
fn a_world_that_does_not_answer_denies() {
    let policy = policy("", AllowOrDefer::Allow);
    let (decision, _) = drive(
        &bash("ls"),
        &Facts::default(),
        &policy,
        &state(Mode::Enforce, true),
        &mut Recorder::new(&Silent),
    );
    assert_eq!(decision.answer, Verdict::Deny);
    let (decision, _) = drive(
        &bash("ls"),
        &Facts::default(),
        &policy,
        &state(Mode::Monitor, true),
        &mut Recorder::new(&Silent),
    );
    assert_eq!((decision.verdict, decision.answer), (Verdict::Deny, Verdict::Defer));
}

#[test]
fn the_hash_names_rules_and_settings() {
    let hash = |text: &str, default| policy(text, default).hash().to_owned();
    let rules = rules();
    assert_eq!(hash(&rules, AllowOrDefer::Defer), hash(&rules, AllowOrDefer::Defer));
    assert_ne!(hash(&rules, AllowOrDefer::Defer), hash(&rules, AllowOrDefer::Allow));
    assert_ne!(hash(&rules, AllowOrDefer::Defer), hash(&format!("{rules}\n"), AllowOrDefer::Defer));
}

proptest! {
    #[test]
    fn adding_a_rule_that_is_no_allow_never_loosens(
        words in prop::collection::vec(prop::sample::select(vec!["rm", "git", "npm", "ls", "cat", "x"]), 0..4),
        picked in prop::collection::btree_set(0..RULES.len(), 0..RULES.len()),
        added in prop::sample::select(vec![0usize, 1, 2, 5, 6]),
    ) {
        let text = |picked: &std::collections::BTreeSet<usize>| {
            picked.iter().map(|i| rule(RULES[*i].0, RULES[*i].1, RULES[*i].2)).collect::<String>()
        };
        let judge = |picked: &std::collections::BTreeSet<usize>| {
            let policy = policy(&text(picked), AllowOrDefer::Defer);
            drive(&bash(&words.join(" ")), &Facts::default(), &policy, &state(Mode::Enforce, true), &mut Recorder::new(&Lexical)).0.verdict
        };
        let mut more = picked.clone();
        more.insert(added);
        prop_assert!(judge(&more) >= judge(&picked));
    }
}
