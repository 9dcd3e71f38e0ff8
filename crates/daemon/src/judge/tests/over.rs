//! A grant is for a single run of a call and ends with it. A call stays pending until it has run or its turn is over.
//! Each row is a scenario: steps separated by `;`. After `=` a step has the expected answer or number.

use std::time::Duration;

use super::*;
use crate::held::HeldCall;
use crate::requests::GrantScope;

const ASKED: &[(&str, &str, &str)] = &[("asked", "tool.input_command contains doubtful", "coding_agent_ask")];

/// The words of a step: `ask u1 by codex, in s, of sub, at turn 2, of process 7, "doubtful; ls"`.
struct Step<'a> {
    words: Vec<&'a str>,
    expected: Option<&'a str>,
}

impl<'a> Step<'a> {
    fn of(text: &'a str) -> Step<'a> {
        let (words, expected) = match text.split_once('=') {
            Some((words, expected)) => (words, Some(expected.trim())),
            None => (text, None),
        };
        Step { words: words.split_whitespace().collect(), expected }
    }

    /// Returns the word after another one.
    fn behind(&self, word: &str) -> Option<&'a str> {
        let at = self.words.iter().position(|known| *known == word)?;
        self.words.get(at + 1).copied()
    }
}

/// Returns a hook's request: an agent's event about a call with an id.
fn request(step: &Step<'_>, event: &str, use_id: &str) -> Request {
    let agent = step.behind("by").unwrap_or("claude");
    let cwd = step.behind("at").unwrap_or("/");
    let mut payload = json!({
        "session_id": step.behind("in").unwrap_or("s"), "cwd": cwd, "hook_event_name": event,
        "permission_mode": "default", "tool_name": "Bash", "tool_input": { "command": step.behind("run").unwrap_or("doubtful") },
        "tool_use_id": use_id, "agent_id": step.behind("of").unwrap_or(""),
        "turn_id": step.behind("turn").unwrap_or(""), "tool_response": {}, "error": "it failed",
    });
    match event {
        "UserPromptSubmit" => payload["prompt"] = "go on".into(),
        "SessionEnd" => payload["reason"] = "other".into(),
        _ => {}
    }
    Request {
        agent: agent.into(),
        event: event.into(),
        parent_pid: 7,
        cwd: cwd.into(),
        payload: payload.to_string().into_bytes(),
    }
}

fn reported(reply: &Reply) -> String {
    let output: Json = serde_json::from_slice(&reply.stdout).unwrap_or_default();
    let specific = &output["hookSpecificOutput"];
    let decision =
        specific["permissionDecision"].as_str().or_else(|| specific["decision"]["behavior"].as_str());
    decision.unwrap_or("defer").to_owned()
}

/// Runs a step and returns its result. Adds the agents that it starts to `agents`.
fn step(bench: &mut Bench, step: &Step<'_>, agents: &mut Vec<std::process::Child>) -> String {
    let [what, rest @ ..] = &step.words[..] else { panic!("an empty step") };
    let id = rest.first().copied().unwrap_or_default();
    let session = key_of(step.behind("in").unwrap_or("s"));
    let send = |bench: &Bench, event: &str| reported(&bench.answer(&request(step, event, id)));
    match *what {
        "ask" => send(bench, "PreToolUse"),
        "again" => reported(&bench.answer(&request(step, "PermissionRequest", ""))),
        "done" => send(bench, "PostToolUse"),
        "failed" => send(bench, "PostToolUseFailure"),
        "prompt" => send(bench, "UserPromptSubmit"),
        "end" => send(bench, "SessionEnd"),
        "ran" | "stopped" => {
            bench.judge.transcribed_over(session, id, *what == "ran");
            String::new()
        }
        "process" => {
            // A process that has ended, or this one.
            let own = crate::process::Process::read(std::process::id()).unwrap();
            let started = own.started + u64::from(id == "ended");
            bench.process = AgentProcess { pid: std::process::id(), started };
            String::new()
        }
        "headless" => {
            agents.push(start_headless(bench));
            String::new()
        }
        "hold" => {
            hold(bench, &request(step, "PreToolUse", id));
            String::new()
        }
        "released" => {
            let (call, end) = bench.judge.held().next().unwrap();
            let outcome = bench.judge.answer(&call.request, call.sender, Instant::now(), Holding::Was(end));
            let Outcome::Decided(reply) = outcome else { panic!("{outcome:?}") };
            reported(&reply)
        }
        "approve" => {
            let waiting = bench.judge.waiting();
            let Some(call) = waiting.last() else { panic!("nothing waits") };
            let scope = match id {
                "session" => GrantScope::Session,
                "for" => GrantScope::For(600),
                "always" => GrantScope::Always,
                _ => GrantScope::Once,
            };
            let granted = bench.judge.approve(&call.id.to_string(), &call.shown, scope).unwrap();
            bench.judge.held().answer(granted.id, crate::held::End::Judge);
            String::new()
        }
        "restart" => {
            let placeholder = Bench::new(Policy::missing("test"), Mode::Enforce);
            let before = std::mem::replace(bench, placeholder);
            *bench = before.restarted(policy(ASKED));
            String::new()
        }
        "waiting" => bench.judge.waiting().len().to_string(),
        "granted" => bench.judge.granted().len().to_string(),
        other => panic!("no step is called `{other}`"),
    }
}

/// Starts an agent as a program starts Claude Code: with `-p`.
pub(super) fn start_headless(bench: &mut Bench) -> std::process::Child {
    let mut claude = std::process::Command::new("sh");
    let claude = claude.args(["-c", "read x", "-p"]).stdin(std::process::Stdio::piped());
    let claude = claude.spawn().unwrap();
    // The kernel lets the parent continue before the child has its arguments.
    while crate::process::arguments_of(claude.id()).is_none() {
        std::thread::yield_now();
    }
    let started = crate::process::Process::read(claude.id()).unwrap().started;
    bench.process = AgentProcess { pid: claude.id(), started };
    claude
}

/// Sends a call that is held for a person.
fn hold(bench: &Bench, request: &Request) {
    let outcome = bench.judge.answer(request, bench.process.into(), Instant::now(), Holding::May);
    let Outcome::Held { id, time, .. } = outcome else { panic!("{outcome:?}") };
    let (stream, hook) = std::os::unix::net::UnixStream::pair().unwrap();
    std::mem::forget(hook);
    let until = Instant::now() + time;
    let (request, sender, session) = (request.clone(), bench.process.into(), key_of("s"));
    bench.judge.hold(HeldCall { id, stream, request, sender, session, until }).unwrap();
}

fn play(bench: &mut Bench, text: &str) {
    let mut agents = Vec::new();
    for one in text.split(';') {
        let read = Step::of(one);
        let came = step(bench, &read, &mut agents);
        if let Some(expected) = read.expected {
            assert_eq!(came, expected, "`{}` in `{text}`", one.trim());
        }
    }
    for mut agent in agents {
        // The end of its input.
        drop(agent.stdin.take());
        agent.wait().unwrap();
    }
}

fn check(plays: &[&str]) {
    for text in plays {
        play(&mut Bench::new(policy(ASKED), Mode::Enforce), text);
    }
}

#[test]
fn once_is_one_run() {
    check(&[
        // Approved, and answered with yes at the agent's own prompt.
        "ask u1 = ask; approve once; done u1; granted = 0; ask u2 = ask",
        "ask u1 = ask; approve once; failed u1; granted = 0; ask u2 = ask",
        // Its input is another text afterwards: the id identifies the call.
        "ask u1 = ask; approve once; done u1 run doubtful,changed; granted = 0; ask u2 = ask",
        "ask u1 = ask; approve once; done u1 at /tmp; granted = 0; ask u2 = ask",
        // The transcript replaces a lost event of the hook.
        "ask u1 = ask; approve once; ran u1; granted = 0; ask u2 = ask",
        "ask u1 = ask; approve once; ran u1; done u1; ask u2 = ask",
        // A sub-agent's call, and the main agent's next call.
        "ask u1 of sub = ask; approve once; done u1 of sub; ask u2 = ask",
        "ask u1 = ask; approve once; done u1; ask u2 of sub = ask",
        // Asked about twice before any answer: the grant is for one of the two.
        "ask u1 = ask; ask u2 = ask; approve once; done u1; granted = 0; ask u3 = ask",
        "ask u1 = ask; ask u2 = ask; approve once; done u2; granted = 0; ask u3 = ask",
        // The agent's second question, before and after the grant.
        "ask u1 = ask; again = defer; approve once; again = defer; done u1; ask u2 = ask",
        "ask u1 = ask; approve once; done u1; again = defer; ask u2 = ask",
        // The daemon was killed in between.
        "ask u1 = ask; approve once; restart; granted = 1; done u1; granted = 0; ask u2 = ask",
        // An agent of an older version gives no ids.
        "ask = ask; approve once; done; granted = 0; ask = ask",
    ]);
}

#[test]
fn what_was_denied_and_is_made_again_uses_its_grant_up_by_that() {
    check(&[
        "ask u1 by codex = deny; approve once; ask u2 by codex = defer; done u2 by codex; ask u3 by codex = deny",
        // In another turn, in another process, after the session's end.
        "ask u1 by codex turn 1 = deny; approve once; ask u2 by codex turn 2 = defer; ask u3 by codex turn 2 = deny",
        "ask u1 by codex = deny; approve once; end; prompt; ask u2 by codex = defer; ask u3 by codex = deny",
        "ask u1 by codex = deny; approve once; restart; ask u2 by codex = defer; ask u3 by codex = deny",
        // A reviewer of the agent asks about the same call, and about no other.
        "ask u1 by codex = deny; approve once; ask u2 by codex = defer; again by codex = allow; done u2 by codex; \
         again by codex = deny",
        // The transcript shows that the first call was stopped, which is true.
        "ask u1 by codex = deny; approve once; stopped u1; ask u2 by codex = defer; ask u3 by codex = deny",
        // The end of a call with its own grant uses up no other grant.
        "ask u1 by codex = deny; approve once; ask u2 by codex = defer; ask u3 by codex = deny; approve once; \
         done u2 by codex; granted = 1; ask u4 by codex = defer",
    ]);
}

/// Claude Code without a person denies an asked call by itself, as its transcript shows.
#[test]
fn what_an_agent_without_a_person_is_asked_about_can_be_approved_after_its_session() {
    check(&[
        "headless; ask u1 = ask; stopped u1; waiting = 1; end; waiting = 1; approve once; ask u2 = allow; ask u3 = ask",
        "headless; ask u1 = ask; approve once; stopped u1; granted = 1; end; ask u2 = allow; ask u3 = ask",
        "headless; ask u1 = ask; approve once; done u1; granted = 0; ask u2 = ask",
        "headless; ask u1 = ask; prompt; waiting = 0",
    ]);
}

#[test]
fn a_no_at_the_agents_prompt_and_its_end_take_back_what_was_granted_once() {
    check(&[
        "ask u1 = ask; approve once; stopped u1; granted = 0; ask u2 = ask",
        "ask u1 = ask; approve once; prompt; granted = 0; ask u2 = ask",
        "ask u1 = ask; approve once; end; granted = 0; ask u2 = ask",
        "ask u1 = ask; approve once; restart; prompt; granted = 0; ask u2 = ask",
        // No event in another session ends the call.
        "ask u1 = ask; approve once; prompt in t; end in t; granted = 1; ask u2 = allow",
        "ask u1 = ask; ask u1 in t = ask; approve once; done u1; granted = 1; ask u2 in t = allow",
    ]);
}

#[test]
fn what_is_granted_for_longer_lasts() {
    for scope in ["session", "for", "always"] {
        check(&[
            &format!("ask u1 = ask; approve {scope}; done u1; ask u2 = allow; done u2; ask u3 = allow"),
            &format!("ask u1 = ask; approve {scope}; stopped u1; prompt; end; ask u2 = allow"),
            &format!("ask u1 = ask; approve {scope}; failed u1; restart; ask u2 = allow; again = defer"),
        ]);
    }
}

#[test]
fn a_call_that_ran_waits_no_more() {
    check(&[
        "ask u1 = ask; waiting = 1; done u1; waiting = 0",
        "ask u1 = ask; failed u1; waiting = 0",
        "ask u1 = ask; ran u1; waiting = 0",
        "ask u1 = ask; stopped u1; waiting = 0",
        "ask u1 = ask; again = defer; done u1; waiting = 0",
        "ask u1 of sub = ask; done u1 of sub; waiting = 0",
        "ask u1 = ask; done u1 at /tmp; waiting = 0",
        "ask = ask; done; waiting = 0",
        // Two calls: the other prompt is still open.
        "ask u1 = ask; ask u2 = ask; waiting = 1; done u1; waiting = 1; done u2; waiting = 0",
        "ask u1 = ask; done u2; waiting = 1; done u1 in t; waiting = 1; done u1 run ls in u; waiting = 1",
        // It was denied, as the transcript shows: the agent can repeat it.
        "ask u1 by codex = deny; stopped u1; waiting = 1",
        "ask u1 by codex = deny; ask u2 by codex = deny; approve once; waiting = 0; ask u3 by codex = defer",
    ]);
}

#[test]
fn a_call_whose_turn_is_over_waits_no_more() {
    check(&[
        "ask u1 = ask; prompt; waiting = 0",
        "ask u1 = ask; prompt in t; waiting = 1",
        "ask u1 = ask; end; waiting = 0",
        "ask u1 of sub = ask; prompt; waiting = 1; end; waiting = 0",
        "ask u1 by codex turn 1 = deny; ask u2 by codex turn 2 run ls; waiting = 0",
        "ask u1 by codex turn 1 = deny; ask u2 by codex turn 1 run ls; waiting = 1",
        "ask u1 by codex turn 1 = deny; ask u2 by codex turn 2 = deny; waiting = 1",
        // The agent does not wait for it, and can repeat it when its user continues.
        "ask u1 by codex = deny; end by codex; waiting = 1; approve once; ask u2 by codex = defer",
        "ask u1 by codex = deny; prompt by codex; waiting = 0",
    ]);
}

/// Checks the number of pending calls after a scenario and a further time.
fn check_later(text: &str, later: Duration, expected: usize) {
    let mut bench = Bench::new(policy(ASKED), Mode::Enforce);
    play(&mut bench, text);
    let now = SystemTime::now() + later;
    bench.judge.memory().requests_mut().drop_over(now, AgentProcess::lives);
    assert_eq!(bench.judge.waiting().len(), expected, "{text}, {later:?} later");
}

#[test]
fn what_waits_at_an_agent_that_has_ended_waits_no_more() {
    const SOON: Duration = Duration::from_secs(1);
    let (ended, denied) = (crate::limits::ENDED_AGENT_TIME, crate::limits::DENIED_TIME);
    check_later("process lives; ask u1 = ask", denied, 1);
    check_later("process ended; ask u1 = ask", ended - SOON, 1);
    check_later("process ended; ask u1 = ask", ended, 0);
    check_later("ask u1 = ask", denied, 1);
    check_later("process ended; ask u1 by codex = deny", denied - SOON, 1);
    check_later("process lives; ask u1 by codex = deny", denied, 0);
}

#[test]
fn a_call_that_is_held_waits_until_its_hook_is_told() {
    let config = Config::parse("version = 1\nask_wait = 120\nask = [\"Bash(doubtful)\"]").unwrap();
    let held = |text: &str| play(&mut Bench::new(compile(&[], &config).policy, Mode::Enforce), text);
    held("hold u1; prompt; waiting = 1; approve once; released = allow; granted = 0; waiting = 0");
    // Repeated while it is held, and approved: one of the two runs.
    held("hold u1; hold u2; approve once; released = allow; released = ask; waiting = 1");
    held("hold u1; hold u2; approve session; released = allow; released = allow; waiting = 0");
    held("hold u1; approve once; released = allow; done u1; granted = 0; hold u2; waiting = 1");
}
