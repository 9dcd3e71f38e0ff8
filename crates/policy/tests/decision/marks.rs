//! Marks: those that a call sets on its session, and their effect on later calls.

use castellan_event::{Call, Facts, Mark, Mode, Recorder, Session, ToolKind, Verdict};
use castellan_policy::{AllowOrDefer, Policy, State, drive};

use crate::support::{Lexical, bash, call, layered, policy, rule, state};

fn rules() -> String {
    [
        ("secret", "tool.input_command contains secret", "coding_agent_mark:secret"),
        ("both", "tool.input_command contains both", "\"coding_agent_mark:b\", \"coding_agent_mark:a\""),
        ("asked", "tool.input_command contains git", "coding_agent_ask, \"coding_agent_mark:git\""),
        ("seen", "tool.input_command contains seen", "coding_agent_seen, \"coding_agent_mark:seen\""),
        ("each", "tool.file_path startswith /tmp", "\"coding_agent_mark:tmp\""),
        ("empty", "tool.input_command contains empty", "\"coding_agent_mark:\""),
        ("no rm", "tool.input_command contains rm", "coding_agent_deny, \"coding_agent_mark:rm\""),
        ("twice", "tool.input_command contains also", "\"coding_agent_mark:secret\""),
        (
            "no push",
            "tool.input_command contains push and session.mark_count[secret] > 0",
            "coding_agent_deny",
        ),
        (
            "lately",
            "tool.input_command contains curl and session.mark_age_ms[secret] < 1000",
            "coding_agent_ask",
        ),
    ]
    .map(|(name, condition, tags)| rule(name, condition, tags))
    .concat()
}

fn check(call: &Call, mode: Mode, agent_asks: bool, expected: &[&str]) {
    let policy = policy(&rules(), AllowOrDefer::Defer);
    let (decision, change) =
        drive(call, &Facts::default(), &policy, &state(mode, agent_asks), &mut Recorder::new(&Lexical));
    assert_eq!(change.marks, expected, "{:?} in {mode}: {decision:?}", call.command);
}

#[test]
fn a_call_sets_each_of_its_marks_once_unless_it_is_denied() {
    use Mode::{Enforce, Monitor, Passthrough};
    check(&bash("x"), Enforce, true, &[]);
    check(&bash("secret"), Enforce, true, &["secret"]);
    check(&bash("both"), Enforce, true, &["a", "b"]);
    check(&bash("secret also"), Enforce, true, &["secret"]);
    check(&bash("seen"), Enforce, true, &["seen"]);
    check(&bash("empty"), Enforce, true, &[]);
    check(&call("Edit", ToolKind::Patch, "", &["/tmp/a", "/tmp/b"]), Enforce, true, &["tmp"]);
    check(&bash("git"), Enforce, true, &["git"]);
    // The verdict for the agent decides.
    check(&bash("git"), Enforce, false, &[]);
    check(&bash("rm"), Enforce, true, &[]);
    check(&bash("rm secret"), Enforce, true, &[]);
    check(&bash("rm secret"), Monitor, true, &["rm", "secret"]);
    check(&bash("git"), Monitor, false, &["git"]);
    check(&bash("secret"), Passthrough, true, &[]);
}

/// Checks the verdict on a call in a session with `count` marks `secret`, the last at `at_ms`.
fn check_later(command: &str, count: u64, at_ms: u64, now_ms: u64, expected: Verdict) {
    let marks = if count == 0 { vec![] } else { vec![("secret".to_owned(), Mark { count, at_ms })] };
    let session = Session { marks: marks.into_iter().collect(), now_ms };
    let state = State { session: &session, ..state(Mode::Enforce, true) };
    let policy = policy(&rules(), AllowOrDefer::Defer);
    let decision = drive(&bash(command), &Facts::default(), &policy, &state, &mut Recorder::new(&Lexical)).0;
    assert_eq!(decision.verdict, expected, "{command} with {session:?}");
}

#[test]
fn later_calls_see_how_often_and_how_long_ago() {
    check_later("push", 0, 0, 5, Verdict::Defer);
    check_later("push", 1, 0, 5, Verdict::Deny);
    // A call does not see its own mark.
    check_later("secret push", 0, 0, 5, Verdict::Defer);
    check_later("curl", 0, 0, 5, Verdict::Defer);
    check_later("curl", 1, 1000, 1999, Verdict::Ask);
    check_later("curl", 1, 1000, 2000, Verdict::Defer);
    check_later("curl", 1, 1000, 999, Verdict::Ask);
}

#[test]
fn a_rule_that_only_marks_is_a_notice() {
    let policy = policy(&rules(), AllowOrDefer::Defer);
    let decision = drive(
        &bash("secret"),
        &Facts::default(),
        &policy,
        &state(Mode::Enforce, true),
        &mut Recorder::new(&Lexical),
    )
    .0;
    let found: Vec<_> = decision.findings.iter().map(|finding| finding.code.as_str()).collect();
    assert_eq!((decision.verdict, found), (Verdict::Defer, vec!["notice"]));
}

#[test]
fn nothing_is_marked_without_rules() {
    for policy in [Policy::missing("x"), layered(&[], castellan_policy::Settings::default())] {
        let change = drive(
            &bash("secret"),
            &Facts::default(),
            &policy,
            &state(Mode::Monitor, true),
            &mut Recorder::new(&Lexical),
        )
        .1;
        assert_eq!(change.marks, [""; 0]);
    }
}
