//! Held calls, and their effects while they wait.

use super::*;
use crate::held::End;
use crate::limits::{GRANTABLE_INPUT_BYTES_MAX, HOLDABLE_PAYLOAD_BYTES_MAX};
use crate::requests::GrantScope;

const WAITS: &str = "version = 1\nask_wait = 120\nopaque = \"defer\"\nask = [\"Bash(doubtful:*)\"]\n";

fn request(event: &str, command: &str, filling: usize) -> Request {
    let payload = json!({
        "session_id": "s", "permission_mode": "default", "cwd": "/", "hook_event_name": event, "tool_name": "Bash",
        "tool_input": { "command": command }, "tool_use_id": "u", "more": "x".repeat(filling),
    });
    claude(event, &payload)
}

fn bench(config: &str, mode: Mode) -> Bench {
    Bench::new(compile(&[], &Config::parse(config).unwrap()).policy, mode)
}

fn check(config: &str, mode: Mode, request: &Request, expected: bool) {
    let bench = bench(config, mode);
    let outcome = bench.judge.answer(request, bench.process.into(), Instant::now(), Holding::May);
    let is_waiting = matches!(outcome, Outcome::Held { .. });
    assert_eq!(is_waiting, expected, "{config} in {mode:?}, {} bytes", request.payload.len());
}

#[test]
fn what_a_person_could_grant_is_held_where_decisions_are_carried_out() {
    let asked = request("PreToolUse", "doubtful", 0);
    check(WAITS, Mode::Enforce, &asked, true);
    check(WAITS, Mode::Monitor, &asked, false);
    check(WAITS, Mode::Passthrough, &asked, false);
    check(&WAITS.replace("120", "0"), Mode::Enforce, &asked, false);
    check(WAITS, Mode::Enforce, &request("PreToolUse", "ls", 0), false);
    // A denied call can be granted afterwards; its agent gets the denial at once.
    let denies = "version = 1\nask_wait = 120\nopaque = \"deny\"\n";
    check(denies, Mode::Enforce, &request("PreToolUse", "\"$X\"", 0), false);
    check(&denies.replace("deny", "ask"), Mode::Enforce, &request("PreToolUse", "\"$X\"", 0), true);
    // A call that is too long to be shown whole cannot be granted.
    let long = format!("doubtful {}", "x".repeat(GRANTABLE_INPUT_BYTES_MAX));
    check(WAITS, Mode::Enforce, &request("PreToolUse", &long, 0), false);
    // The payload of a held call is limited.
    check(WAITS, Mode::Enforce, &request("PreToolUse", "doubtful", HOLDABLE_PAYLOAD_BYTES_MAX), false);
}

#[test]
fn a_call_that_was_answered_is_not_held_when_it_is_asked_about_again() {
    let bench = bench(WAITS, Mode::Enforce);
    let ask = |event, holding| {
        bench.judge.answer(&request(event, "doubtful", 0), bench.process.into(), Instant::now(), holding)
    };
    assert!(matches!(ask("PreToolUse", Holding::No), Outcome::Decided(_)));
    bench.judge.set_mode(Mode::Enforce);
    assert!(matches!(ask("PermissionRequest", Holding::May), Outcome::Decided(_)));
    // A call without an earlier question is held.
    let other = request("PermissionRequest", "doubtful 2", 0);
    let outcome = bench.judge.answer(&other, bench.process.into(), Instant::now(), Holding::May);
    assert!(matches!(outcome, Outcome::Held { .. }), "{outcome:?}");
}

#[test]
fn a_call_marks_its_session_when_it_is_answered_and_not_while_it_waits() {
    let rule = "- rule: marks\n  desc: d\n  condition: tool.input_command contains doubtful\n  output: out\n  \
                priority: NOTICE\n  source: coding_agent\n  tags: [\"coding_agent_mark:asked\"]\n";
    let sources = [Source { name: "test.yaml".into(), text: rule.to_owned() }];
    let compiled = compile(&sources, &Config::parse(WAITS).unwrap());
    assert_eq!(compiled.error(), None);
    let bench = Bench::new(compiled.policy, Mode::Enforce);
    let ask = |holding| {
        bench.judge.answer(
            &request("PreToolUse", "doubtful", 0),
            bench.process.into(),
            Instant::now(),
            holding,
        )
    };
    assert!(matches!(ask(Holding::May), Outcome::Held { .. }));
    let call = bench.judge.waiting().pop().unwrap();
    bench.judge.approve(&call.id.to_string(), &call.shown, GrantScope::Once).unwrap();
    assert!(matches!(ask(Holding::Was(End::Judge)), Outcome::Decided(_)));
    let marks: Vec<usize> = bench.calls().iter().map(|call| call.marks.len()).collect();
    assert_eq!(marks, [0, 1]);
}

/// Checks the obligations in the record of a call, and the unmet ones. `before`: the call was held first.
fn check_record(before: bool, holding: Holding, obligations: &[&str], unmet: &[&str]) {
    let bench = bench(WAITS, Mode::Enforce);
    let ask = |holding| {
        bench.judge.answer(
            &request("PreToolUse", "doubtful", 0),
            bench.process.into(),
            Instant::now(),
            holding,
        )
    };
    if before {
        ask(Holding::May);
    }
    ask(holding);
    let call = bench.calls().pop().unwrap();
    let recorded =
        call.obligations.iter().map(|one| format!("{} {} else {}", one.kind, one.detail, one.or_else));
    assert_eq!(recorded.collect::<Vec<_>>(), obligations, "{holding:?}");
    let found = call.findings.iter().filter(|finding| finding.code == "unmet");
    assert_eq!(found.map(|finding| &finding.message).collect::<Vec<_>>(), unmet, "{holding:?}");
    assert_eq!(call.verdict, "ask");
}

#[test]
fn a_hold_is_recorded_and_so_is_why_it_ended() {
    check_record(false, Holding::May, &["hold 120 else defer"], &[]);
    let none = "the obligation `hold 120` cannot be met: no more calls can wait";
    check_record(true, Holding::No, &[], &[none]);
    let late = "the obligation `hold 120` cannot be met: no person has approved the call in time";
    check_record(true, Holding::Was(End::Judge), &[], &[late]);
    check_record(true, Holding::Was(End::Refused), &[], &[]);
}
