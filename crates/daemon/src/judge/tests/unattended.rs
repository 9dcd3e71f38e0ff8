//! An ask with nobody at the agent's prompt: the model gets the request id for its user, and the desktop shows the
//! call.

use std::cell::RefCell;
use std::process::Child;

use super::over::start_headless;
use super::*;

const ASKED: &[(&str, &str, &str)] = &[("asked", "tool.input_command contains doubtful", "coding_agent_ask")];

thread_local! {
    /// Request ids that this test's judge showed on the desktop.
    static SHOWN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Returns a judge, and its agent if that runs with `-p`.
fn bench(policy: Policy, is_headless: bool) -> (Bench, Option<Child>) {
    let mut bench = Bench::new(policy, Mode::Enforce);
    bench.judge.notify = |_, _, id, _| SHOWN.with_borrow_mut(|shown| shown.push(id.to_string()));
    SHOWN.take();
    let agent = is_headless.then(|| start_headless(&mut bench));
    (bench, agent)
}

/// Asks about a call. Returns the answer, the message for the agent, and the id of the pending call.
fn ask(bench: &Bench, use_id: &str) -> (String, String, String) {
    let payload = json!({
        "session_id": "s", "permission_mode": "default", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": { "command": "doubtful" }, "tool_use_id": use_id,
    });
    let output: Json = serde_json::from_slice(&bench.answer(&claude("PreToolUse", &payload)).stdout).unwrap();
    let text = |name: &str| output["hookSpecificOutput"][name].as_str().unwrap_or_default().to_owned();
    let waiting = bench.judge.waiting();
    let id = waiting.last().map(|call| call.id.to_string()).unwrap_or_default();
    (text("permissionDecision"), text("permissionDecisionReason"), id)
}

#[test]
fn a_model_without_a_person_is_told_the_request_and_the_desktop_shows_it() {
    let (bench, agent) = bench(policy(ASKED), true);
    let (answer, message, id) = ask(&bench, "u1");
    // Claude Code with `-p` refuses an asked call by itself, and gives this message to its model.
    assert_eq!(answer, "ask");
    assert_eq!(message, format!("castellan blocked this; tell the user: request {id}. out"));
    assert_eq!(SHOWN.take(), [id.as_str()]);
    // A repeated call is shown once.
    assert_eq!(ask(&bench, "u2").2, id);
    assert_eq!(SHOWN.take(), [""; 0]);
    end(agent);
}

#[test]
fn a_person_at_the_prompt_is_asked_there_alone() {
    let (bench, agent) = bench(policy(ASKED), false);
    let (answer, message, id) = ask(&bench, "u1");
    assert_eq!((answer.as_str(), message), ("ask", format!("castellan asks: out. Allow? ({id})")));
    assert_eq!(SHOWN.take(), [""; 0]);
    end(agent);
}

#[test]
fn a_program_that_embeds_an_agent_has_no_prompt_that_castellan_knows() {
    let (bench, agent) = bench(policy(ASKED), false);
    let payload = json!({
        "session_id": "s", "permission_mode": "default", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": { "command": "doubtful" }, "tool_use_id": "u1",
    });
    let sender = Sender { is_embedding: true, ..bench.process.into() };
    let asked = claude("PreToolUse", &payload);
    let outcome = bench.judge.answer(&asked, sender, Instant::now(), Holding::May);
    let Outcome::Decided(reply) = outcome else { panic!("{outcome:?}") };
    let told = String::from_utf8(reply.stdout).unwrap();
    let id = bench.judge.waiting().last().unwrap().id;
    // The SDK holds an ask. A program without a person gives this message to its model.
    assert!(told.contains("\"ask\"") && told.contains(&format!("tell the user: request {id}")), "{told}");
    assert_eq!(SHOWN.take(), [id.to_string()]);
    end(agent);
}

#[test]
fn the_desktop_shows_nothing_where_the_user_does_not_want_it() {
    let config = Config::parse("version = 1\nnotify = false\nask = [\"Bash(doubtful)\"]").unwrap();
    let (bench, agent) = bench(compile(&[], &config).policy, true);
    let (_, message, id) = ask(&bench, "u1");
    assert!(message.contains(&format!("tell the user: request {id}")), "{message}");
    assert_eq!(SHOWN.take(), [""; 0]);
    end(agent);
}

fn end(agent: Option<Child>) {
    if let Some(mut agent) = agent {
        agent.kill().unwrap();
        agent.wait().unwrap();
    }
}
