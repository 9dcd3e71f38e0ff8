//! Calls that run in a sandbox: the answer, the reports of the agent and the second question show another command than the
//! judged one.

use super::ungoverned::configured;
use super::*;
use crate::live::Runs;
use castellan_policy::Failed;

/// The command in the place of a contained call's own.
const CONTAINED: &str = "sh -c \"$CONTAINED\"";

/// Commands whose code castellan does not know.
const UNKNOWN: &str = "sh -c \"$UNKNOWN\"";
const OTHER: &str = "sh -c \"$OTHER\"";

/// Returns a judge that can run the calls of an agent in a sandbox.
fn running(runs: &Runs, policy: Policy) -> Bench {
    let mut bench = Bench::of(runs, policy);
    bench.judge.containing = Containing { is_able: |_| true, command: |_, _, _, _| Ok(CONTAINED.to_owned()) };
    bench
}

/// Sends an event about a call. Returns the decision in the reply, and the command in its changed input.
fn send(bench: &Bench, (agent, event): (&str, &str), input: Json) -> (String, String) {
    let mut payload = json!({
        "session_id": "s", "permission_mode": "default", "cwd": "/", "hook_event_name": event, "tool_name": "Bash",
        "tool_use_id": "u", "tool_response": {},
    });
    payload["tool_input"] = input;
    let request = Request { agent: agent.into(), ..claude(event, &payload) };
    let output: Json = serde_json::from_slice(&bench.answer(&request).stdout).unwrap_or_default();
    let specific = &output["hookSpecificOutput"];
    let word = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let decision = [&specific["permissionDecision"], &specific["decision"]["behavior"]].map(word).concat();
    (decision, word(&specific["updatedInput"]["command"]))
}

fn command(text: &str) -> Json {
    json!({ "command": text, "description": "d" })
}

fn ask(bench: &Bench, text: &str) -> (String, String) {
    send(bench, ("claude", "PreToolUse"), command(text))
}

const ALLOWED: (&str, &str) = ("allow", CONTAINED);

#[track_caller]
fn check((decision, rewritten): (String, String), expected: (&str, &str)) {
    assert_eq!((decision.as_str(), rewritten.as_str()), expected);
}

#[test]
fn a_call_runs_in_a_sandbox_where_castellan_would_only_ask_because_it_does_not_know_it() {
    let runs = Runs::new();
    let contained = running(&runs, configured(""));
    check(ask(&contained, UNKNOWN), ALLOWED);
    let record = contained.calls().pop().unwrap();
    let obligation = record.obligations.first().unwrap();
    assert_eq!((obligation.kind.as_str(), obligation.detail.as_str()), ("contain", "unread"));
    // The record shows both texts.
    assert_eq!((&record.input["command"], record.rewrite.as_str()), (&json!(UNKNOWN), CONTAINED));
    check(send(&contained, ("codex", "PreToolUse"), command(UNKNOWN)), ALLOWED);
    // At this event the agent has chosen what it runs. The empty reply leaves the call to its prompt.
    check(send(&contained, ("claude", "PermissionRequest"), command(UNKNOWN)), ("", ""));
    // The switch, and a machine without a sandbox.
    check(ask(&running(&runs, configured("[containment]\nmode = \"off\"\n")), UNKNOWN), ("ask", ""));
    check(ask(&Bench::of(&runs, configured("")), UNKNOWN), ("ask", ""));
}

#[test]
fn a_sandbox_that_goes_away_leaves_the_question() {
    let runs = Runs::new();
    let mut bench = running(&runs, configured(""));
    bench.judge.containing.command = |_, _, _, _| Err(Failed::contain("the launcher is missing"));
    check(ask(&bench, UNKNOWN), ("ask", ""));
    let record = bench.calls().pop().unwrap();
    let unmet = record.findings.iter().find(|finding| finding.code == "unmet").unwrap();
    assert!(unmet.message.ends_with("cannot be met: the launcher is missing"), "{}", unmet.message);
    assert_eq!((record.rewrite.as_str(), record.obligations.len()), ("", 0));
}

#[test]
fn the_rest_of_the_input_stays_as_it_is() {
    let runs = Runs::new();
    let bench = running(&runs, configured(""));
    let input = json!({ "command": UNKNOWN, "timeout": 5, "run_in_background": true });
    let payload = json!({
        "session_id": "s", "permission_mode": "default", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": input, "tool_use_id": "u",
    });
    let reply = bench.answer(&claude("PreToolUse", &payload));
    let output: Json = serde_json::from_slice(&reply.stdout).unwrap();
    let rewritten = json!({ "command": CONTAINED, "timeout": 5, "run_in_background": true });
    assert_eq!(output["hookSpecificOutput"]["updatedInput"], rewritten);
}

#[test]
fn a_contained_call_that_ran_as_it_was_is_ungoverned() {
    for (ran, why) in [(CONTAINED, None), (UNKNOWN, Some("rewrite_ignored")), (OTHER, Some("other_input"))] {
        let runs = Runs::new();
        let bench = running(&runs, configured(""));
        check(ask(&bench, UNKNOWN), ALLOWED);
        send(&bench, ("claude", "PostToolUse"), command(ran));
        let found = bench.ungoverned();
        let whys: Vec<_> = found.iter().map(|record| record.why.as_str()).collect();
        assert_eq!(whys, why.into_iter().collect::<Vec<_>>(), "{ran}");
    }
}

#[test]
fn the_second_question_shows_the_command_that_runs() {
    let runs = Runs::new();
    let bench = running(&runs, configured(""));
    check(ask(&bench, UNKNOWN), ALLOWED);
    // Claude's prompt has a reason of its own, which castellan does not answer. No second record is written.
    check(send(&bench, ("claude", "PermissionRequest"), command(CONTAINED)), ("", ""));
    assert_eq!(bench.calls().len(), 1);
    let codex = |event, text| send(&bench, ("codex", event), command(text));
    check(codex("PreToolUse", UNKNOWN), ALLOWED);
    check(codex("PermissionRequest", CONTAINED), ("allow", ""));
    assert_eq!(bench.calls().len(), 2);
    // Codex holds no ask, so the question about the call's own text is a deny.
    check(codex("PermissionRequest", UNKNOWN), ("deny", ""));
}

#[test]
fn an_answer_about_a_contained_call_ends_with_its_policy() {
    let runs = Runs::new();
    let bench = running(&runs, configured(""));
    let codex = |event, text| send(&bench, ("codex", event), command(text));
    check(codex("PreToolUse", UNKNOWN), ALLOWED);
    bench.judge.put(Mode::Enforce, Terms::new(Arc::new(configured("opaque = \"deny\"\n")), Mode::Enforce));
    // It is judged as a call of its own: castellan does not know this program either.
    check(codex("PermissionRequest", CONTAINED), ("deny", ""));
}

/// The files that a contained call may write are those of its own text.
#[test]
fn the_session_remembers_what_the_contained_text_writes() {
    let runs = Runs::new();
    let bench = running(&runs, configured(""));
    check(ask(&bench, "sh -c \"$UNKNOWN\" > /tmp/made-by-contained"), ALLOWED);
    let changed = bench.judge.memory().changed(&key_of("s"), None);
    assert!(format!("{changed:?}").contains("/tmp/made-by-contained"), "{changed:?}");
}

/// The agent compares its own rules with the rewritten command alone.
#[test]
fn the_agents_own_rules_are_not_evaded() {
    let runs = Runs::new();
    let bench = running(&runs, configured(""));
    check(ask(&bench, UNKNOWN), ALLOWED);
    runs.write(r#"{"permissions":{"deny":["Bash(sh -c $UNKNOWN:*)"]}}"#);
    check(ask(&bench, UNKNOWN), ("ask", ""));
    check(ask(&bench, OTHER), ALLOWED);
    runs.write(r#"{"permissions":{"ask":["Bash"]}}"#);
    check(ask(&bench, OTHER), ("ask", ""));
    let given = Runs::with(&["--disallowedTools", "Bash(x)"]);
    check(ask(&running(&given, configured("")), UNKNOWN), ("ask", ""));
    // Nothing shows the settings of this agent.
    let mut unseen = Bench::new(configured(""), Mode::Enforce);
    unseen.judge.containing = bench.judge.containing;
    check(ask(&unseen, UNKNOWN), ("ask", ""));
}
