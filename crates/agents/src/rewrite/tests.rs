use super::*;
use crate::payload::{Incoming, Origin, decode};
use crate::reply::{Message, encode, is_denial};

/// A question about a tool call with this input.
fn question(agent: AgentId, event: &str, tool: &str, input: &str) -> Call {
    let payload = format!(
        r#"{{"session_id":"s","transcript_path":"","cwd":"/w","hook_event_name":"{event}","permission_mode":"default","tool_name":"{tool}","tool_input":{input},"tool_use_id":"t"}}"#
    );
    match decode(agent, event, payload.as_bytes(), &Origin::default()) {
        Ok(Incoming::Question(call) | Incoming::Permission(call)) => call,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn check(agent: AgentId, tool: &str, input: &str, verdict: Verdict, stdout: &str) {
    let event = question_event(agent);
    let call = question(agent, event, tool, input);
    let rewrite = rewritten_input(agent, &call, "'/c' contained k");
    assert!(rewrite.is_some());
    let reply = encode(agent, event, &Message { rewrite, ..Message::new(verdict, "r".to_owned()) });
    assert_eq!((reply.exit, str::from_utf8(&reply.stdout).unwrap()), (0, stdout));
}

const BASH: &str = r#"{"timeout":5000,"command":"node x.js","run_in_background":true,"description":"a test","dangerouslyDisableSandbox":true}"#;

/// Measured on Claude Code 2.1.330: an allow runs the rewritten command, and the other keys stay. An ask was not measured.
#[test]
fn claude_gets_the_whole_input_with_another_command() {
    let input = r#""updatedInput":{"timeout":5000,"command":"'/c' contained k","run_in_background":true,"description":"a test","dangerouslyDisableSandbox":true}"#;
    for (verdict, decided) in [
        (Verdict::Allow, r#""permissionDecision":"allow","permissionDecisionReason":"r","#),
        (Verdict::Ask, r#""permissionDecision":"ask","permissionDecisionReason":"r","#),
        // Without a decision Claude's own permissions decide about the rewritten command.
        (Verdict::Defer, ""),
    ] {
        let expected =
            format!(r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse",{decided}{input}}}}}"#);
        check(AgentId::CLAUDE, "Bash", BASH, verdict, &expected);
    }
}

/// Measured on Codex 0.169.0 and Gemini CLI 0.61.0.
#[test]
fn codex_and_gemini_get_an_allow_with_another_command() {
    let codex = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"'/c' contained k"}}}"#;
    check(AgentId::CODEX, "Bash", r#"{"command":"node x.js"}"#, Verdict::Allow, codex);
    let gemini = r#"{"decision":"allow","hookSpecificOutput":{"tool_input":{"command":"'/c' contained k","dir_path":"sub"}}}"#;
    let input = r#"{"command":"node x.js","dir_path":"sub"}"#;
    check(AgentId::GEMINI, "run_shell_command", input, Verdict::Allow, gemini);
}

/// The command of the call must not run where its rewrite would have to.
#[test]
fn a_rewrite_that_an_agent_would_ignore_denies_the_call() {
    let rewrite = || Some(serde_json::json!({ "command": "k" }));
    let denies = |agent: AgentId, event: &str, verdict| {
        let message = Message { rewrite: rewrite(), ..Message::new(verdict, "r".to_owned()) };
        let reply = encode(agent, event, &message);
        let stdout = String::from_utf8(reply.stdout).unwrap();
        assert!(!stdout.contains("\"k\""), "{stdout}");
        assert!(
            is_denial(agent, event, reply.exit.into(), &stdout),
            "{agent:?} {event} {verdict:?}: {stdout}"
        );
    };
    for agent in AgentId::ALL {
        denies(agent, question_event(agent), Verdict::Deny);
        denies(agent, "PermissionRequest", Verdict::Deny);
    }
    for verdict in [Verdict::Defer, Verdict::Ask] {
        denies(AgentId::CODEX, "PreToolUse", verdict);
        denies(AgentId::GEMINI, "BeforeTool", verdict);
    }
    for verdict in [Verdict::Defer, Verdict::Allow, Verdict::Ask] {
        denies(AgentId::QWEN, "PreToolUse", verdict);
        denies(AgentId::CLAUDE, "PermissionRequest", verdict);
        denies(AgentId::CODEX, "PermissionRequest", verdict);
    }
}

#[test]
fn only_the_shell_command_of_a_question_can_be_rewritten() {
    let can = |agent, event: &str, tool: &str, input: &str| {
        let call = question(agent, event, tool, input);
        let new = rewritten_input(agent, &call, "k");
        assert_eq!(new.is_some(), can_rewrite(agent, &call));
        can_rewrite(agent, &call)
    };
    assert!(can(AgentId::CLAUDE, "PreToolUse", "Bash", BASH));
    assert!(!can(AgentId::CLAUDE, "PermissionRequest", "Bash", BASH));
    assert!(!can(AgentId::CLAUDE, "PreToolUse", "Bash", r#"{"command":["node"]}"#));
    assert!(!can(AgentId::CLAUDE, "PreToolUse", "Bash", r#"{"cmd":"node"}"#));
    assert!(!can(AgentId::CLAUDE, "PreToolUse", "Write", r#"{"file_path":"x","content":"y"}"#));
    assert!(!can(AgentId::CODEX, "PreToolUse", "apply_patch", r#"{"command":"*** Begin Patch"}"#));
    assert!(!can(AgentId::QWEN, "PreToolUse", "run_shell_command", r#"{"command":"node"}"#));
}

#[test]
fn the_text_is_the_one_that_the_agent_runs_in_the_directory_of_the_call() {
    let input = r#"{"command":"node x.js","dir_path":"sub"}"#;
    let call = question(AgentId::GEMINI, "BeforeTool", "run_shell_command", input);
    assert_eq!(command_text(AgentId::GEMINI, &call), Some("node x.js"));
    assert_ne!(call.command.as_deref(), Some("node x.js"));
}

/// Measured on Claude Code: a rule for the command that the model wrote does not stop a rewritten one.
#[test]
fn the_agents_own_rules_against_a_command_are_found() {
    let rules = |text: &str| own_rules(AgentId::CLAUDE, text);
    let settings = r#"{"permissions":{"deny":["Bash(npm publish:*)"],"ask":["Bash(* --force)","WebFetch"],"allow":["Bash(ls)"]}}"#;
    assert_eq!(rules(settings), ["Bash(npm publish:*)", "Bash(* --force)", "WebFetch"]);
    assert_eq!(rules(r#"{"permissions":{"deny":[7]}}"#), [""]);
    assert_eq!(rules("{}"), [""; 0]);
    assert_eq!(own_rules(AgentId::GEMINI, settings), [""; 0]);
    let matches = |rule: &str, command: &str| {
        let input = serde_json::json!({ "command": command }).to_string();
        let call = question(AgentId::CLAUDE, "PreToolUse", "Bash", &input);
        may_match_own_rule(AgentId::CLAUDE, rule, &call)
    };
    for (rule, command, expected) in [
        ("Bash(npm publish:*)", "cd x && npm publish", true),
        ("Bash(npm publish:*)", "npm test", false),
        ("Bash(* --force)", "x --force", true),
        ("Bash(*)", "x", true),
        ("Bash", "x", true),
        ("*", "x", true),
        ("", "x", true),
        ("Read(x)", "x", false),
        ("mcp__a__b", "x", false),
    ] {
        assert_eq!(matches(rule, command), expected, "{rule} {command}");
    }
}

#[test]
fn rules_on_the_command_line_are_found() {
    assert!(gives_own_rules(&["claude", "--disallowedTools", "Bash(x)"]));
    assert!(gives_own_rules(&["claude", "--disallowed-tools=Bash"]));
    assert!(!gives_own_rules(&["claude", "-p", "go"]));
}
