//! A person's answer while a call is judged, or before its hook is held.

use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::*;
use crate::held::{End, HeldCall};
use crate::requests::GrantScope;

const ASKED: &[(&str, &str, &str)] = &[("asked", "tool.input_command contains doubtful", "coding_agent_ask")];

fn request() -> Request {
    let payload = json!({
        "session_id": "s", "permission_mode": "default", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": { "command": "doubtful" }, "tool_use_id": "u",
    });
    claude("PreToolUse", &payload)
}

/// Grants the only pending call.
fn approve(bench: &Bench, scope: GrantScope) -> String {
    let waiting = bench.judge.waiting();
    let [call] = &waiting[..] else { panic!("{waiting:?}") };
    let id = call.id.to_string();
    bench.judge.approve(&id, &call.shown, scope).unwrap();
    id
}

/// Judges a granted call, with `word` before its consequences. Returns whether the decision is still valid.
fn holds(scope: GrantScope, word: impl FnOnce(&Bench, &str)) -> (Bench, bool) {
    let bench = Bench::new(policy(ASKED), Mode::Enforce);
    assert_eq!(bench.ask("PreToolUse", "s", "doubtful"), "ask");
    let id = approve(&bench, scope);
    let (change, is_settled) = bench.settle_after(&request(), || word(&bench, &id));
    assert!(change.used_grant);
    (bench, is_settled)
}

#[test]
fn what_is_refused_while_it_is_judged_lets_nothing_run() {
    for scope in [GrantScope::Once, GrantScope::Session] {
        let (bench, is_settled) = holds(scope, |bench, id| assert!(bench.judge.refuse(id).is_some()));
        assert!(!is_settled, "{scope:?}");
        assert_eq!(bench.ask("PreToolUse", "s", "doubtful"), "ask", "{scope:?}");
    }
}

#[test]
fn what_is_granted_once_lets_one_call_run() {
    let (bench, is_settled) = holds(GrantScope::Once, |_, _| ());
    assert!(is_settled);
    assert_eq!(bench.ask("PreToolUse", "s", "doubtful"), "ask");
    // A change unrelated to this grant: the call is judged again, and the grant is still there.
    let (bench, is_settled) = holds(GrantScope::Once, |bench, _| bench.judge.set_mode(Mode::Enforce));
    assert!(!is_settled);
    assert_eq!(bench.ask("PreToolUse", "s", "doubtful"), "allow");
    assert_eq!(bench.ask("PreToolUse", "s", "doubtful"), "ask");
}

#[test]
fn an_agent_is_told_that_its_user_has_approved() {
    let bench = Bench::new(policy(ASKED), Mode::Enforce);
    assert_eq!(bench.ask("PreToolUse", "s", "doubtful"), "ask");
    approve(&bench, GrantScope::Once);
    let output: Json = serde_json::from_slice(&bench.answer(&request()).stdout).unwrap();
    let reason = &output["hookSpecificOutput"]["permissionDecisionReason"];
    assert_eq!(reason, "the user has approved this call");
}

#[test]
fn who_refuses_what_is_not_there_changes_nothing() {
    let (bench, is_settled) = holds(GrantScope::Once, |bench, _| assert_eq!(bench.judge.refuse("ZZZ"), None));
    assert!(is_settled);
    assert_eq!(bench.ask("PreToolUse", "s", "doubtful"), "ask");
}

/// Judges `rm` of a file outside the workspace. Returns the answer and the note for the user.
fn delete(bench: &Bench, path: &str) -> (Json, String) {
    let payload = json!({
        "session_id": "s", "permission_mode": "default", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": { "command": format!("rm {path}") }, "tool_use_id": path,
    });
    let output: Json = serde_json::from_slice(&bench.answer(&claude("PreToolUse", &payload)).stdout).unwrap();
    let note = output["systemMessage"].as_str().unwrap_or_default().to_owned();
    (output["hookSpecificOutput"]["permissionDecision"].clone(), note)
}

#[test]
fn two_like_approvals_offer_a_grant_for_the_class_in_this_session() {
    let bench = Bench::new(policy(&[("asked", "cmd.name = rm", "coding_agent_ask")]), Mode::Enforce);
    for name in ["a", "b"] {
        let (answer, note) = delete(&bench, &format!("/srv/x/cache/{name}"));
        assert_eq!((answer, note.contains("--session")), (json!("ask"), false), "{name}");
        approve(&bench, GrantScope::Once);
    }
    let (answer, note) = delete(&bench, "/srv/x/cache/c");
    assert_eq!((answer, note.contains("--session")), (json!("ask"), true), "{note}");
    // A grant for one call stays a grant for one call.
    approve(&bench, GrantScope::Once);
    assert_eq!(delete(&bench, "/srv/x/cache/d").0, "ask");
    let id = approve(&bench, GrantScope::Session);
    assert_eq!(delete(&bench, "/srv/x/cache/e").0, "allow");
    assert_eq!(delete(&bench, "/srv/x/other/e").0, "ask", "another root");
    assert_eq!(bench.ask("PreToolUse", "other", "rm /srv/x/cache/f"), "ask", "another session");
    assert!(bench.judge.refuse(&id).is_some());
    assert_eq!(delete(&bench, "/srv/x/cache/g").0, "ask", "the grant is revoked");
}

/// Checks how a call ends if a person's answer comes before it is held.
fn check_word(word: impl FnOnce(&Judge, &str), expected: Option<End>) {
    let config = Config::parse("version = 1\nask_wait = 120\nask = [\"Bash(doubtful)\"]").unwrap();
    let bench = Bench::new(compile(&[], &config).policy, Mode::Enforce);
    let sender = Sender::default();
    let outcome = bench.judge.answer(&request(), sender, Instant::now(), Holding::May);
    let Outcome::Held { id, .. } = outcome else { panic!("{outcome:?}") };
    word(&bench.judge, &id.to_string());
    let (stream, _hook) = UnixStream::pair().unwrap();
    let until = Instant::now() + Duration::from_secs(600);
    let session = key_of("s");
    bench.judge.hold(HeldCall { id, stream, request: request(), sender, session, until }).unwrap();
    assert_eq!(bench.judge.held().holds(id), expected.is_none());
    if expected.is_some() {
        assert_eq!(
            bench.judge.held().next().map(|(call, end)| (call.id, end)),
            expected.map(|end| (id, end))
        );
    }
}

#[test]
fn a_person_may_be_quicker_than_the_hold() {
    check_word(|_, _| (), None);
    check_word(|judge, id| assert!(judge.refuse(id).is_some()), Some(End::Refused));
    let approve = |judge: &Judge, id: &str| {
        let shown = judge.waiting_as(id).unwrap().shown;
        judge.approve(id, &shown, GrantScope::Once).unwrap();
    };
    check_word(approve, Some(End::Judge));
}

#[test]
fn what_was_refused_while_it_was_held_waits_for_nobody() {
    let bench = Bench::new(policy(ASKED), Mode::Enforce);
    let held = |holding| bench.judge.answer(&request(), bench.process.into(), Instant::now(), holding);
    assert_ne!(held(Holding::Was(End::Refused)), Outcome::Decided(Reply::default()));
    assert_eq!(bench.judge.waiting(), []);
    held(Holding::Was(End::Judge));
    assert_eq!(bench.judge.waiting().len(), 1, "its time is over");
}

#[test]
fn a_second_question_uses_up_nothing_that_the_agent_may_not_hear_of() {
    let bench = Bench::new(policy(ASKED), Mode::Enforce);
    assert_eq!(bench.ask("PreToolUse", "s", "doubtful"), "ask");
    approve(&bench, GrantScope::Once);
    assert_ne!(bench.ask("PermissionRequest", "s", "doubtful"), "allow");
    assert_eq!(bench.ask("PreToolUse", "s", "doubtful"), "allow");
    assert_eq!(bench.ask("PreToolUse", "s", "doubtful"), "ask");
}

#[test]
fn what_is_too_long_to_be_shown_cannot_be_granted() {
    let bench = Bench::new(policy(ASKED), Mode::Enforce);
    let long = "x".repeat(crate::limits::GRANTABLE_INPUT_BYTES_MAX);
    assert_eq!(bench.ask("PreToolUse", "s", &format!("doubtful {long}")), "ask");
    assert_eq!(bench.judge.waiting(), []);
    assert_eq!(bench.ask("PreToolUse", "s", "doubtful"), "ask");
    assert_eq!(bench.judge.waiting().len(), 1);
}
