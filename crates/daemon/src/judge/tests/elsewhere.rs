//! A hook from another namespace: castellan would read other files than the agent.

use super::*;

fn asked_from(bench: &Bench, connected: AgentProcess, is_elsewhere: bool) -> (u8, String) {
    let payload = json!({
        "session_id": "s", "permission_mode": "default", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": { "command": "ls" }, "tool_use_id": "u1",
    });
    let sender = Sender { is_elsewhere, connected, ..bench.process.into() };
    let request = claude("PreToolUse", &payload);
    let outcome = bench.judge.answer(&request, sender, Instant::now(), Holding::May);
    let Outcome::Decided(reply) = outcome else { panic!("{outcome:?}") };
    (reply.exit, String::from_utf8(reply.stdout).unwrap() + &String::from_utf8(reply.stderr).unwrap())
}

#[test]
fn a_hook_of_a_container_is_denied_with_the_reason() {
    let bench = Bench::new(policy(RULES), Mode::Enforce);
    let own = AgentProcess::of(std::process::id());
    let (_, here) = asked_from(&bench, own, false);
    assert!(!here.contains("container"), "{here}");
    let (exit, told) = asked_from(&bench, own, true);
    assert!(exit == 2 || told.contains("deny"), "{exit} {told}");
    assert!(told.contains("the agent runs in a container, and castellan outside of it"), "{told}");
    let records = bench.records();
    let is_told =
        |record: &Record| matches!(record, Record::Failure(failure) if failure.code.as_str() == "namespace");
    assert!(records.iter().any(is_told), "{records:?}");
}

/// castellan's own sandbox is believed only if a run of a person says so; see `control_server/runs.rs`.
#[test]
fn castellans_own_sandbox_is_no_container() {
    let bench = Bench::new(policy(RULES), Mode::Enforce);
    let own = AgentProcess::of(std::process::id());
    bench.judge.start_run(own, None, false).unwrap();
    assert!(asked_from(&bench, own, true).1.contains("container"));
    bench.judge.start_run(own, None, true).unwrap();
    let (_, told) = asked_from(&bench, own, true);
    assert!(!told.contains("container"), "{told}");
}
