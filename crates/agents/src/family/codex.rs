//! Codex's (0.169.0) families: its replies, and its registration as a line for a shell. This module must not know how a
//! payload is read or how a settings text is edited.
//!
//! Measured: an ask, an unknown key, or an allow without `updatedInput` on PreToolUse makes the hook "failed", and the
//! call runs. So the reply is a deny, an allow with a rewritten input, or it is empty.

use castellan_event::Verdict;
use serde_json::{Value as Json, json};

use super::{HookCommand, HookStart};
use crate::agent::AgentId;
use crate::shell_words;
use crate::spec::HookEvent;

/// Returns the reply to PreToolUse. `None` is an empty reply, which leaves the call to Codex. Measured: an allow with a
/// `rewrite` replaces the command that the hook saw and leaves the model's other arguments as they are.
pub(crate) fn answer_question(
    event: &str,
    verdict: Verdict,
    reason: &str,
    rewrite: Option<&Json>,
) -> Option<Json> {
    let specific = match (verdict, rewrite) {
        (Verdict::Deny, _) => json!({
            "hookEventName": event,
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        }),
        (Verdict::Defer | Verdict::Allow | Verdict::Ask, Some(input)) => json!({
            "hookEventName": event,
            "permissionDecision": "allow",
            "updatedInput": input,
        }),
        (Verdict::Defer | Verdict::Allow | Verdict::Ask, None) => return None,
    };
    Some(json!({ "hookSpecificOutput": specific }))
}

/// Returns the reply to PermissionRequest: Codex's allow belongs here.
pub(crate) fn answer_permission(event: &str, verdict: Verdict, reason: &str) -> Option<Json> {
    let decision = match verdict {
        Verdict::Defer => return None,
        Verdict::Allow => json!({ "behavior": "allow" }),
        Verdict::Ask | Verdict::Deny => json!({ "behavior": "deny", "message": reason }),
    };
    Some(json!({ "hookSpecificOutput": { "hookEventName": event, "decision": decision } }))
}

/// Returns the handler for `event`. Codex passes the command to the user's login shell.
pub(crate) fn handler(agent: AgentId, hook: &HookCommand, event: &HookEvent) -> Json {
    json!({ "type": "command", "command": line(agent, hook, event.name), "timeout": event.timeout_s })
}

/// Returns how a handler of [`handler`] is started (measured: `-c`, no login flag).
pub(crate) fn start(agent: AgentId, hook: &HookCommand, event: &str) -> HookStart {
    HookStart::LoginShell { arguments: vec!["-c".to_owned(), line(agent, hook, event)] }
}

/// Returns the command line that is registered for an event.
pub(crate) fn line(agent: AgentId, hook: &HookCommand, event: &str) -> String {
    shell_words::join(hook.argv(agent, event))
}

/// Returns the command line of a handler that is quoted in castellan's way.
pub(crate) fn argv(handler: &Json) -> Option<Vec<String>> {
    shell_words::split(handler.get("command")?.as_str()?)
}
