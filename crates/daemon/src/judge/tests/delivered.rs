//! An agent that also starts the hook of another agent, whose settings it reads.

use super::*;

/// Codex's payload: it is known by its keys, whichever hook gets it.
fn payload(event: &str, command: &str, use_id: &str) -> Json {
    json!({
        "session_id": "s", "transcript_path": null, "cwd": "/", "hook_event_name": event, "tool_name": "Bash",
        "tool_input": { "command": command }, "turn_id": "t", "model": "m", "permission_mode": "default",
        "tool_use_id": use_id,
    })
}

fn delivered(bench: &Bench, agent: &str, event: &str, payload: &Json) -> Reply {
    let request = Request {
        agent: agent.to_owned(),
        event: event.to_owned(),
        parent_pid: 7,
        cwd: Vec::new(),
        payload: payload.to_string().into_bytes(),
    };
    bench.answer(&request)
}

/// Returns a judge, to which Codex asks by its own hook, or not.
fn bench(asks: bool) -> Bench {
    let mut bench = Bench::new(policy(RULES), Mode::Enforce);
    bench.judge.asks_by_its_own_hook = match asks {
        true => |agent, _, _| agent == AgentId::CODEX,
        false => |_, _, _| false,
    };
    bench
}

fn calls(bench: &Bench) -> usize {
    let malformed = |record: &Record| matches!(record, Record::Call(call) if call.tool_raw.is_empty());
    bench.records().iter().filter(|record| matches!(record, Record::Call(_)) && !malformed(record)).count()
}

#[test]
fn a_call_that_two_hooks_deliver_gets_one_answer() {
    for hooks in [["codex", "claude"], ["claude", "codex"]] {
        for (command, denied) in [("forbidden", true), ("ls", false)] {
            let bench = bench(true);
            let asked = payload("PreToolUse", command, "u1");
            let [first, second] = hooks.map(|hook| delivered(&bench, hook, "PreToolUse", &asked));
            // Their request ids differ.
            let is_silent = |reply: &Reply| reply.stdout.is_empty() && reply.stderr.is_empty();
            assert_eq!(is_silent(&first), is_silent(&second), "{hooks:?} {command}");
            let told = [first.stdout, first.stderr].concat();
            assert_eq!(!told.is_empty(), denied, "{hooks:?} {command}: {}", String::from_utf8_lossy(&told));
            // The second one came after the answer, so it was judged again: its files may be others.
            assert_eq!(calls(&bench), 2, "{hooks:?} {command}");
        }
    }
}

#[test]
fn an_agent_that_does_not_ask_itself_is_denied_at_the_hook_of_another() {
    for hooks in [["codex", "claude"], ["claude", "codex"]] {
        let bench = bench(false);
        let asked = payload("PreToolUse", "ls", "u1");
        for hook in hooks {
            let reply = delivered(&bench, hook, "PreToolUse", &asked);
            let told = String::from_utf8([reply.stdout, reply.stderr].concat()).unwrap();
            let expected = hook == "claude";
            assert_eq!(
                told.contains("Codex has started the hook of Claude Code"),
                expected,
                "{hooks:?} {hook}: {told}"
            );
        }
    }
}

#[test]
fn what_changed_since_the_first_delivery_counts_for_the_second() {
    let bench = bench(true);
    let asked = payload("PreToolUse", "ls", "u1");
    assert_eq!(delivered(&bench, "codex", "PreToolUse", &asked), Reply::default());
    bench.judge.halt(crate::memory::HaltPlace::All, "all agents".to_owned()).unwrap();
    assert_ne!(delivered(&bench, "claude", "PreToolUse", &asked), Reply::default());
}

#[test]
fn other_events_come_by_the_agents_own_hook() {
    let bench = bench(true);
    delivered(&bench, "codex", "PreToolUse", &payload("PreToolUse", "ls", "u1"));
    let mut done = payload("PostToolUse", "ls", "u1");
    done["tool_response"] = json!("x");
    let before = bench.records().len();
    assert_eq!(delivered(&bench, "claude", "PostToolUse", &done), Reply::default());
    assert_eq!(bench.records().len(), before);
    delivered(&bench, "codex", "PostToolUse", &done);
    assert!(bench.records().len() > before);
}
