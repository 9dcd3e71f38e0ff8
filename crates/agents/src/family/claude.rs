//! Claude Code's (2.1.330) families: its replies, and its registration in exec form. This module must not know how a
//! payload is read or how a settings text is edited.

use castellan_event::Verdict;
use serde_json::{Value as Json, json};

use super::{HookCommand, HookStart};
use crate::agent::AgentId;
use crate::spec::HookEvent;

/// Returns the reply to PreToolUse. `None` is an empty reply, which leaves the call to Claude's own permissions, like one
/// with a note alone. Measured: a `rewrite` takes the place of the whole input with every verdict but deny, also without
/// a decision. Claude's own permissions, its prompt and the reports after the call then see it alone.
pub(crate) fn answer_question(
    event: &str,
    verdict: Verdict,
    (reason, user_note): (&str, &str),
    rewrite: Option<&Json>,
) -> Option<Json> {
    let word = match verdict {
        // Claude's own `defer` has another meaning.
        Verdict::Defer if rewrite.is_none() => return noted(user_note),
        Verdict::Defer => None,
        Verdict::Allow => Some("allow"),
        Verdict::Ask => Some("ask"),
        Verdict::Deny => Some("deny"),
    };
    let mut specific = json!({ "hookEventName": event });
    if let (Some(word), Some(fields)) = (word, specific.as_object_mut()) {
        fields.insert("permissionDecision".to_owned(), json!(word));
        fields.insert("permissionDecisionReason".to_owned(), json!(reason));
    }
    if let (Some(input), Some(fields)) = (rewrite, specific.as_object_mut()) {
        fields.insert("updatedInput".to_owned(), input.clone());
    }
    Some(reply(specific, user_note))
}

/// Returns a reply that only shows the user a note; `None` without one.
fn noted(user_note: &str) -> Option<Json> {
    (!user_note.trim().is_empty()).then(|| json!({ "systemMessage": user_note }))
}

/// Returns the reply to PermissionRequest. Verdicts other than deny keep Claude's prompt: Claude has a reason to ask.
pub(crate) fn answer_permission(
    event: &str,
    verdict: Verdict,
    reason: &str,
    user_note: &str,
) -> Option<Json> {
    let decision = json!({ "behavior": "deny", "message": reason });
    (verdict == Verdict::Deny)
        .then(|| reply(json!({ "hookEventName": event, "decision": decision }), user_note))
}

/// Returns the handler for `event`. In exec form no shell and no startup file runs before the hook.
pub(crate) fn handler(agent: AgentId, hook: &HookCommand, event: &HookEvent) -> Json {
    let mut argv = hook.argv(agent, event.name).into_iter();
    let mut handler = json!({
        "type": "command",
        "command": argv.next(),
        "args": argv.collect::<Vec<_>>(),
        "timeout": event.timeout_s,
    });
    if let (true, Some(fields)) = (event.blocks_on_failure, handler.as_object_mut()) {
        fields.insert("onFailure".to_owned(), json!("block"));
    }
    handler
}

/// Returns how a handler of [`handler`] is started.
pub(crate) fn start(agent: AgentId, hook: &HookCommand, event: &str) -> HookStart {
    HookStart::Direct { argv: hook.argv(agent, event) }
}

/// Returns the command line of a handler in exec form.
pub(crate) fn argv(handler: &Json) -> Option<Vec<String>> {
    let program = handler.get("command")?.as_str()?;
    let args = handler.get("args")?.as_array()?.iter().map(|arg| arg.as_str().map(str::to_owned));
    std::iter::once(Some(program.to_owned())).chain(args).collect()
}

fn reply(specific: Json, user_note: &str) -> Json {
    let mut reply = json!({ "hookSpecificOutput": specific });
    if let (false, Some(fields)) = (user_note.trim().is_empty(), reply.as_object_mut()) {
        fields.insert("systemMessage".to_owned(), json!(user_note));
    }
    reply
}
