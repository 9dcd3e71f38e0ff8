//! Decisions after a person's refusal, and about a repeated call.

use castellan_event::{Facts, Mode, Recorder, Verdict};
use castellan_policy::{AllowOrDefer, State, StateChange, drive};

use crate::support::{Lexical, bash, policy, rule, state};

/// The state change of a call on which one rule fires, with a mark.
fn change(tags: &str, state: &State<'_>) -> StateChange {
    let tags = format!("{tags}, \"coding_agent_mark:seen\"");
    let policy = policy(&rule("r", "tool.name = Bash", &tags), AllowOrDefer::Defer);
    drive(&bash("x"), &Facts::default(), &policy, state, &mut Recorder::new(&Lexical)).1
}

#[test]
fn a_call_that_a_person_refused_is_denied_and_is_no_try() {
    let (ask, deny) = ("coding_agent_ask", "coding_agent_deny");
    for (tags, mode, agent_asks, expected, is_counted) in [
        (ask, Mode::Enforce, true, Verdict::Deny, false),
        // The agent cannot ask, so the answer is deny anyway.
        (ask, Mode::Enforce, false, Verdict::Deny, true),
        (deny, Mode::Enforce, true, Verdict::Deny, true),
        ("coding_agent_allow", Mode::Enforce, true, Verdict::Defer, false),
        (ask, Mode::Monitor, true, Verdict::Defer, false),
    ] {
        let change = change(tags, &State { is_refused: true, ..state(mode, agent_asks) });
        let got = (change.answer, !change.denial_keys.is_empty());
        assert_eq!(got, (expected, is_counted), "{tags} in {mode:?}, agent asks: {agent_asks}");
        assert_eq!(change.marks.is_empty(), expected == Verdict::Deny, "{tags} in {mode:?}");
    }
}

#[test]
fn a_call_that_is_asked_about_again_sets_no_mark_and_is_no_try() {
    for (tags, marks) in [("coding_agent_ask", 1), ("coding_agent_deny", 0)] {
        let first = change(tags, &state(Mode::Enforce, true));
        assert_eq!(first.marks.len(), marks, "{tags}");
        let again = change(tags, &State { is_repeated: true, ..state(Mode::Enforce, true) });
        assert_eq!(
            (again.marks.len(), again.denial_keys.len(), again.answer),
            (0, 0, first.answer),
            "{tags}"
        );
    }
}
