//! Identity of calls: an answer and a grant are valid for exactly one call. An answer is valid at the second question
//! as long as the same answer would be given again.

use castellan_agents::Origin;

use super::*;
use crate::requests::GrantScope;

const ASKED: (&str, &str, &str) = ("asked", "tool.input_command contains doubtful", "coding_agent_ask");

/// A call with everything that distinguishes it from others.
#[derive(Debug, Clone, Copy)]
struct Made {
    agent: &'static str,
    session: &'static str,
    subagent: &'static str,
    cwd: &'static str,
    command: &'static str,
}

const MADE: Made = Made { agent: "claude", session: "s", subagent: "", cwd: "/", command: "doubtful" };

impl Made {
    fn request(self, event: &str) -> Request {
        let payload = json!({
            "session_id": self.session, "permission_mode": "default", "cwd": self.cwd, "hook_event_name": event, "tool_name": "Bash",
            "tool_input": { "command": self.command }, "tool_use_id": "u", "agent_id": self.subagent,
        });
        Request {
            agent: self.agent.into(),
            event: event.into(),
            parent_pid: 7,
            cwd: self.cwd.into(),
            payload: payload.to_string().into_bytes(),
        }
    }
}

/// Asks about a call, and a second time about another. Returns the number of judged calls.
fn judged(first: Made, second: Made) -> usize {
    let bench = Bench::new(policy(&[ASKED]), Mode::Enforce);
    bench.answer(&first.request("PreToolUse"));
    bench.answer(&second.request("PermissionRequest"));
    bench.calls().len()
}

#[test]
fn an_answer_is_one_to_its_call_alone() {
    let others = [
        Made { agent: "codex", ..MADE },
        Made { session: "t", ..MADE },
        Made { subagent: "b", ..MADE },
        Made { cwd: "/tmp", ..MADE },
        Made { command: "doubtful; ls", ..MADE },
    ];
    for other in others {
        assert_eq!((judged(MADE, other), judged(other, MADE)), (2, 2), "{other:?}");
        assert_eq!(judged(other, other), 1, "{other:?}: asked and answered");
    }
}

/// The target of a symlink may change without any decision.
#[test]
fn what_would_be_answered_more_strictly_by_now_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().canonicalize().unwrap().join(name);
    let lead_to = |name: &str| {
        let _ = std::fs::remove_file(path("link"));
        std::os::unix::fs::symlink(path(name), path("link")).unwrap();
    };
    let firm = ("firm", "fx.kind = write and fx.path endswith /firm", "coding_agent_deny");
    let bench = Bench::new(policy(&[firm]), Mode::Enforce);
    let command = format!("echo x > {}", path("link").display());
    let second = |answer: &str, records: usize| {
        assert_eq!(bench.ask("PermissionRequest", "s", &command), answer);
        assert_eq!(bench.calls().len(), records);
    };
    lead_to("soft");
    bench.check("s", &command, "defer", &[]);
    second("defer", 1);
    lead_to("firm");
    second("deny", 2);
}

#[test]
fn a_denied_call_that_is_allowed_by_now_is_a_new_one() {
    let firm = ("firm", "tool.input_command contains secret", "coding_agent_deny");
    let bench = Bench::new(policy(&[RULES, &[firm]].concat()), Mode::Enforce);
    bench.check("a", "git push secret", "deny", &[]);
    bench.judge.put(Mode::Enforce, Terms::new(Arc::new(policy(RULES)), Mode::Enforce));
    assert_eq!(bench.ask("PermissionRequest", "a", "git push secret"), "defer");
    // The call runs now, so its mark counts.
    bench.check("a", "git push", "deny", &[]);
}

#[test]
fn what_somebody_says_while_it_is_compared_is_not_passed_over() {
    let bench = Bench::new(policy(&[ASKED]), Mode::Enforce);
    bench.answer(&MADE.request("PreToolUse"));
    let request = MADE.request("PermissionRequest");
    let asked = bench.asked(&request);
    let origin = Origin { correlation_id: 1, agent_pid: 7, hook_cwd: "/".to_owned() };
    let decoded = agents::decode(AgentId::CLAUDE, "PermissionRequest", &request.payload, &origin);
    let Ok(Incoming::Permission(call)) = decoded else { panic!("{decoded:?}") };
    let Ok(whose) = bench.judge.whose(&asked, &call.agent) else { panic!("no session") };
    let stands = || {
        bench.judge.second_question(&asked, &call, &whose).ok().map(|attempt| attempt != Attempt::JudgeAgain)
    };
    assert_eq!(stands(), Some(true));
    bench.judge.set_mode(Mode::Monitor);
    assert_eq!(stands(), Some(false), "it is to be judged again");
}

/// Codex got a denial, and asks again before its own reviewer.
#[test]
fn what_is_approved_in_between_counts_at_the_second_question() {
    let codex = Made { agent: "codex", ..MADE };
    let bench = Bench::new(policy(&[ASKED]), Mode::Enforce);
    bench.answer(&codex.request("PreToolUse"));
    let call = bench.judge.waiting().pop().unwrap();
    bench.judge.approve(&call.id.to_string(), &call.shown, GrantScope::Session).unwrap();
    let reply = bench.answer(&codex.request("PermissionRequest"));
    let output: Json = serde_json::from_slice(&reply.stdout).unwrap();
    assert_eq!(output["hookSpecificOutput"]["decision"]["behavior"], "allow", "{output}");
}

#[test]
fn what_is_granted_for_always_is_granted_of_its_call_alone() {
    let bench = Bench::new(policy(&[ASKED]), Mode::Enforce);
    let verdict = |made: Made| {
        bench.answer(&made.request("PreToolUse"));
        bench.calls().pop().unwrap().answer
    };
    assert_eq!(verdict(MADE), "ask");
    let call = bench.judge.waiting().pop().unwrap();
    bench.judge.approve(&call.id.to_string(), &call.shown, GrantScope::Always).unwrap();
    assert_eq!(verdict(Made { session: "t", ..MADE }), "allow");
    assert_eq!(verdict(Made { agent: "codex", ..MADE }), "deny", "which cannot ask");
    assert_eq!(verdict(Made { cwd: "/tmp", ..MADE }), "ask");
    assert_eq!(verdict(Made { command: "doubtful; ls", ..MADE }), "ask");
}
