//! Codex 0.169.0: its events, its replies and its registration. It must not know how a payload is read or how a settings
//! text is edited.
//!
//! Measured: an ask, an unknown key, or an allow without `updatedInput` on PreToolUse makes the hook "failed", and the call
//! runs. So the reply is a deny or it is empty.

use castellan_event::Verdict;
use serde_json::{Value as Json, json};

use crate::agent::{EventKind, HookEvent};
use crate::payload::NoticeKind;
use crate::settings::HookCommand;
use crate::shell_words;

/// Every event that is decoded; more than are registered, as a user may add them.
pub(crate) const EVENTS: &[(&str, EventKind)] = &[
    ("PreToolUse", EventKind::Question),
    ("PermissionRequest", EventKind::Permission),
    ("PostToolUse", EventKind::Done { failed: false }),
    ("UserPromptSubmit", EventKind::Notice(NoticeKind::Prompt)),
    ("SessionStart", EventKind::Notice(NoticeKind::SessionStart)),
    ("SessionEnd", EventKind::Notice(NoticeKind::SessionEnd)),
];

/// Codex carries out an ask nowhere.
pub(crate) const ASKS_AT: &[&str] = &[];

/// What is registered. The user's trust is stored for the exact entry: a change here makes every user approve it again.
pub(crate) const HOOK_EVENTS: &[HookEvent] =
    &[every_tool("PreToolUse", 600), every_tool("PermissionRequest", 600), every_tool("PostToolUse", 10)];

/// Returns the reply to PreToolUse; `None` is an empty one, which leaves the call to Codex.
pub(crate) fn answer_question(verdict: Verdict, reason: &str) -> Option<Json> {
    (verdict == Verdict::Deny).then(|| {
        json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        }})
    })
}

/// Returns the reply to PermissionRequest: Codex's allow belongs here.
pub(crate) fn answer_permission(verdict: Verdict, reason: &str) -> Option<Json> {
    let decision = match verdict {
        Verdict::Defer => return None,
        Verdict::Allow => json!({ "behavior": "allow" }),
        Verdict::Ask | Verdict::Deny => json!({ "behavior": "deny", "message": reason }),
    };
    Some(json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": decision } }))
}

/// Returns the handler that is registered for `event`. Codex hands the command to the user's login shell.
pub(crate) fn handler(hook: &HookCommand, event: &HookEvent) -> Json {
    let command = shell_words::join(&hook.argv("codex", event.name));
    json!({ "type": "command", "command": command, "timeout": event.timeout_s })
}

/// Returns the command line of a handler, where it is quoted as castellan quotes.
pub(crate) fn argv(handler: &Json) -> Option<Vec<String>> {
    shell_words::split(handler.get("command")?.as_str()?)
}

const fn every_tool(name: &'static str, timeout_s: u64) -> HookEvent {
    HookEvent { name, timeout_s, matcher: Some("*"), blocks_on_failure: false }
}
