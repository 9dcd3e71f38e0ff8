//! The families of Gemini CLI (0.61.0): its replies, and its registration as a line for `bash`, which Qwen Code
//! (0.24.4) shares. This module must not know how a payload is read or how a settings text is edited.

use castellan_event::Verdict;
use serde_json::{Value as Json, json};

use super::codex;
use super::{HookCommand, HookStart};
use crate::agent::AgentId;
use crate::spec::HookEvent;

/// Returns the reply to BeforeTool. `None` is an empty reply, which leaves the call to Gemini's own policy; an allow
/// changes nothing there. An ask becomes a deny, see `[asks]` in `agents/gemini.toml`.
pub(crate) fn answer_question(
    verdict: Verdict,
    reason: &str,
    user_note: &str,
    rewrite: Option<&Json>,
) -> Option<Json> {
    match (verdict, rewrite) {
        (Verdict::Defer | Verdict::Allow, None) => return None,
        (Verdict::Defer | Verdict::Allow, Some(input)) => {
            return Some(json!({ "decision": "allow", "hookSpecificOutput": { "tool_input": input } }));
        }
        (Verdict::Ask | Verdict::Deny, _) => {}
    }
    let mut reply = json!({ "decision": "deny", "reason": reason });
    if let (false, Some(fields)) = (user_note.trim().is_empty(), reply.as_object_mut()) {
        fields.insert("systemMessage".to_owned(), json!(user_note));
    }
    Some(reply)
}

/// Returns the handler for `event`. The time limit is in milliseconds: newer versions of Qwen Code read a number below
/// 1000 as seconds. The handler has no `name`, so `hooksConfig.disabled` can only name its command, which contains the
/// user's home.
pub(crate) fn handler(agent: AgentId, hook: &HookCommand, event: &HookEvent) -> Json {
    let timeout_ms = event.timeout_s.saturating_mul(1000);
    json!({ "type": "command", "command": codex::line(agent, hook, event.name), "timeout": timeout_ms })
}

/// Returns how the agent starts a handler of [`handler`]: with the `bash` of its `PATH`, which reads no startup file.
pub(crate) fn start(agent: AgentId, hook: &HookCommand, event: &str) -> HookStart {
    let line = codex::line(agent, hook, event);
    HookStart::Direct { argv: vec!["bash".to_owned(), "-c".to_owned(), line] }
}
