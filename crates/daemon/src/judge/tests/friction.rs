//! Prompts for new MCP servers, and the count of sessions' repeated denials.

use castellan_policy::PROBING;

use super::*;
use crate::requests::GrantScope;

/// Returns a judge with a profile. The judge knows the server `old`.
fn bench(profile: &str) -> Bench {
    let config = Config::parse(&format!("version = 1\nprofile = \"{profile}\"\nopaque = \"defer\"")).unwrap();
    let rule = |name: &str, word: &str| {
        format!(
            "- rule: {name}\n  desc: d\n  condition: tool.input_command contains {word}\n  output: out\n  priority: NOTICE\n  \
             source: coding_agent\n  tags: [coding_agent_deny]\n"
        )
    };
    let text = rule("first", "one") + &rule("second", "two");
    let compiled = compile(&[Source { name: "test.yaml".into(), text }], &config);
    let bench = Bench::new(compiled.policy, Mode::Enforce);
    bench.judge.memory().know_servers(vec!["old".to_owned()]);
    bench
}

impl Bench {
    /// Sends an event about a tool of an MCP server. Returns the answer.
    fn mcp(&self, event: &str, session: &str, server: &str) -> String {
        let payload = json!({
            "session_id": session, "permission_mode": "default", "cwd": "/", "hook_event_name": event, "tool_name": format!("mcp__{server}__look"),
            "tool_input": { "at": 1 }, "tool_use_id": format!("{session} {server}"), "tool_response": {},
        });
        let reply = self.answer(&claude(event, &payload));
        let output: Json = serde_json::from_slice(&reply.stdout).unwrap_or_default();
        output["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("defer").to_owned()
    }

    /// Checks the answer for a session's use of a server.
    fn check_server(&self, session: &str, server: &str, expected: &str) {
        assert_eq!(self.mcp("PreToolUse", session, server), expected, "{server} in {session}");
    }

    /// Grants the only pending call.
    fn grant(&self, scope: GrantScope) {
        let waiting = self.judge.waiting();
        let [call] = &waiting[..] else { panic!("{waiting:?}") };
        self.judge.approve(&call.id.to_string(), &call.shown, scope).unwrap();
    }

    fn is_marked(&self) -> bool {
        let calls = self.calls();
        calls.iter().any(|call| call.marks.iter().any(|mark| mark.label == PROBING))
    }
}

#[test]
fn a_new_server_is_asked_about_until_its_call_has_run() {
    let bench = bench("standard");
    bench.check_server("a", "old", "defer");
    bench.check_server("a", "new", "ask");
    // Asked again before any answer.
    bench.check_server("a", "new", "ask");
    bench.mcp("PostToolUse", "a", "new");
    bench.check_server("a", "new", "defer");
    bench.check_server("a", "other", "ask");
    bench.check_server("b", "new", "ask");
    // A new daemon asks again. Servers from before castellan stay known.
    let bench = bench.restarted(policy(&[]));
    bench.check_server("a", "new", "ask");
    bench.check_server("a", "old", "defer");
    // The profile `kit` allows calls without a matching rule.
    assert_eq!(self::bench("kit").mcp("PreToolUse", "a", "new"), "allow");
}

#[test]
fn a_person_agrees_to_a_server_for_a_session_or_for_good() {
    for (scope, in_session, in_other, after_restart) in
        [(GrantScope::Session, "defer", "ask", "ask"), (GrantScope::Always, "defer", "defer", "defer")]
    {
        let bench = bench("standard");
        bench.check_server("a", "new", "ask");
        bench.grant(scope);
        // Another call than the granted one.
        let other = |bench: &Bench, session: &str| {
            let payload = json!({
                "session_id": session, "permission_mode": "default", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "mcp__new__other",
                "tool_input": {}, "tool_use_id": "x",
            });
            let reply = bench.answer(&claude("PreToolUse", &payload));
            let output: Json = serde_json::from_slice(&reply.stdout).unwrap_or_default();
            output["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("defer").to_owned()
        };
        assert_eq!(other(&bench, "a"), in_session, "{scope:?}");
        assert_eq!(other(&bench, "b"), in_other, "{scope:?}");
        assert_eq!(other(&bench.restarted(policy(&[])), "c"), after_restart, "{scope:?}");
    }
}

#[test]
fn what_ran_although_it_was_denied_agrees_to_nothing() {
    let config = Config::parse("version = 1\nnew_mcp_server = \"deny\"").unwrap();
    let bench = Bench::new(compile(&[], &config).policy, Mode::Enforce);
    bench.check_server("a", "new", "deny");
    bench.mcp("PostToolUse", "a", "new");
    bench.check_server("a", "new", "deny");
}

/// Runs commands in a session. Checks whether the session is marked, and the answer to the next command.
fn check_probing(profile: &str, commands: &[&str], is_marked: bool, after: &str) {
    let bench = bench(profile);
    // The profile `strict` also denies calls outside of the workspace; this checks only the mark.
    for command in commands {
        bench.ask("PreToolUse", "s", command);
    }
    assert_eq!(bench.is_marked(), is_marked, "{commands:?}");
    let read = json!({
        "session_id": "s", "permission_mode": "default", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "TodoWrite",
        "tool_input": { "todos": [] }, "tool_use_id": "t",
    });
    let reply = bench.answer(&claude("PreToolUse", &read));
    assert_eq!(reply.exit, 0, "the agent's own state is free");
    assert!(!String::from_utf8_lossy(&reply.stdout).contains("tried again"), "{commands:?}");
    let reported = bench.calls();
    bench.ask("PreToolUse", "s", "three");
    let calls = bench.calls();
    let found: Vec<_> = calls[reported.len()..].iter().flat_map(|call| &call.findings).collect();
    let found = found.iter().find(|finding| finding.code == "probing").map_or("", |finding| &finding.verdict);
    assert_eq!(found, after, "{profile}: {commands:?}");
}

#[test]
fn three_denials_of_one_key_are_probing() {
    check_probing("strict", &["one", "one", "one"], true, "ask");
    check_probing("strict", &["one", "one a", "b one"], true, "ask");
    check_probing("standard", &["one", "one", "one"], true, "defer");
    check_probing("strict", &["one", "two", "one", "two"], false, "");
    check_probing("strict", &["one", "one"], false, "");
}

/// Denies calls before and while another call is judged. Checks whether the decision about that call is still valid.
fn check_meanwhile(before: usize, meanwhile: usize, is_settled: bool) {
    let bench = bench("strict");
    let deny =
        |times: usize| (0..times).for_each(|_| assert_eq!(bench.ask("PreToolUse", "s", "one"), "deny"));
    deny(before);
    let payload = json!({
        "session_id": "s", "permission_mode": "default", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": { "command": "one a" }, "tool_use_id": "v",
    });
    let (_, got) = bench.settle_after(&claude("PreToolUse", &payload), || deny(meanwhile));
    assert_eq!(got, is_settled, "{before} before, {meanwhile} meanwhile");
}

#[test]
fn a_denial_that_would_be_the_third_by_now_is_judged_again() {
    check_meanwhile(0, 1, true);
    check_meanwhile(1, 0, true);
    check_meanwhile(1, 1, false);
    check_meanwhile(0, 2, false);
    // It was the third denial when it was judged, and is the first now.
    check_meanwhile(2, 1, false);
    check_meanwhile(2, 0, true);
}
