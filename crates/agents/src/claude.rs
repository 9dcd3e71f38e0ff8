//! Claude Code 2.1.330: its events, its replies and its registration. It must not know how a payload is read or how a
//! settings text is edited.
//!
//! Measured: a hook that exits 1, dies or runs out of time lets the call run, unless `"onFailure":"block"` is set; exit 2
//! blocks PreToolUse but does not deny PermissionRequest.

use castellan_event::Verdict;
use serde_json::{Value as Json, json};

use crate::agent::{AgentId, EventKind, Headless, HookEvent};
use crate::command_line::{Meaning, Options};
use crate::settings::HookCommand;
use crate::start::HookStart;

/// The event at which a call is asked about.
pub(crate) const QUESTION_EVENT: &str = "PreToolUse";

/// Every event that is decoded.
pub(crate) const EVENTS: &[(&str, EventKind)] = &[
    (QUESTION_EVENT, EventKind::Question),
    ("PermissionRequest", EventKind::Permission),
    ("PostToolUse", EventKind::Done { failed: false }),
    ("PostToolUseFailure", EventKind::Done { failed: true }),
    ("UserPromptSubmit", EventKind::Session { text_key: "prompt" }),
    ("SessionStart", EventKind::Session { text_key: "source" }),
    ("SessionEnd", EventKind::Session { text_key: "reason" }),
];

/// Events at which an ask reaches the user: by its JSON, and by the prompt that PermissionRequest precedes.
pub(crate) const ASKS_AT: &[&str] = &[QUESTION_EVENT, "PermissionRequest"];

/// What of its command line says that nobody is there to be asked.
pub(crate) const HEADLESS: Headless = Headless { words: &["--print"], letter: Some(b'p') };

/// Permission modes in which it is not to change anything.
pub(crate) const READ_ONLY_MODES: &[&str] = &["plan"];

/// Arguments that win over a repository's settings (measured): its `disableAllHooks` no longer counts.
pub(crate) const HOOKS_ON: &[&str] = &["--settings", r#"{"disableAllHooks":false}"#];

/// Its options. One whose value may be left out (`--resume`, `--debug`) is in neither of the first two lists.
pub(crate) const OPTIONS: Options = Options {
    flags: &[
        "-p",
        "--print",
        "-c",
        "--continue",
        "-cp",
        "-pc",
        "--verbose",
        "--dangerously-skip-permissions",
        "--allow-dangerously-skip-permissions",
        "--include-partial-messages",
        "--include-hook-events",
        "--replay-user-messages",
        "--fork-session",
        "--no-session-persistence",
        "--strict-mcp-config",
        "--disable-slash-commands",
        "--ide",
        "--bare",
        "--safe-mode",
    ],
    valued: &[
        "--add-dir",
        "--agent",
        "--agents",
        "--allowed-tools",
        "--allowedTools",
        "--append-system-prompt",
        "--betas",
        "--disallowed-tools",
        "--disallowedTools",
        "--effort",
        "--fallback-model",
        "--input-format",
        "--json-schema",
        "--max-budget-usd",
        "--max-turns",
        "--mcp-config",
        "--model",
        "--output-format",
        "--permission-mode",
        "--permission-prompt-tool",
        "--plugin-dir",
        "--plugin-url",
        "--session-id",
        "--setting-sources",
        "--settings",
        "--system-prompt",
        "--tools",
    ],
    // That the first two start it without hooks is what it says of itself.
    meanings: &[
        ("--bare", Meaning::Off),
        ("--safe-mode", Meaning::Off),
        ("--setting-sources", Meaning::SettingKinds),
        ("--settings", Meaning::Settings),
        ("--plugin-dir", Meaning::Plugin),
        ("--plugin-url", Meaning::FarPlugin),
        ("--add-dir", Meaning::Folder),
        ("--agents", Meaning::Subagents),
    ],
};

/// What is registered. SessionEnd hooks share 1.5 s, whatever stands here; the hook itself gives up after 1 s.
pub(crate) const HOOK_EVENTS: &[HookEvent] = &[
    asking(QUESTION_EVENT),
    asking("PermissionRequest"),
    telling("PostToolUse", 10),
    telling("PostToolUseFailure", 10),
    telling("UserPromptSubmit", 10),
    telling("SessionStart", 10),
    telling("SessionEnd", 3),
];

/// Returns the reply to PreToolUse; `None` is an empty one, which leaves the call to Claude's own permissions.
pub(crate) fn answer_question(verdict: Verdict, reason: &str, user_note: &str) -> Option<Json> {
    let word = match verdict {
        // Claude has a `defer` of its own, which means something else.
        Verdict::Defer => return None,
        Verdict::Allow => "allow",
        Verdict::Ask => "ask",
        Verdict::Deny => "deny",
    };
    Some(reply(
        json!({
            "hookEventName": QUESTION_EVENT,
            "permissionDecision": word,
            "permissionDecisionReason": reason,
        }),
        user_note,
    ))
}

/// Returns the reply to PermissionRequest. All but a deny leave the prompt to Claude: its user has been asked for a reason.
pub(crate) fn answer_permission(verdict: Verdict, reason: &str, user_note: &str) -> Option<Json> {
    let decision = json!({ "behavior": "deny", "message": reason });
    (verdict == Verdict::Deny)
        .then(|| reply(json!({ "hookEventName": "PermissionRequest", "decision": decision }), user_note))
}

/// Returns the handler that is registered for `event`: exec form, so that no shell and no startup file stands between.
pub(crate) fn handler(hook: &HookCommand, event: &HookEvent) -> Json {
    let mut argv = hook.argv(AgentId::Claude, event.name).into_iter();
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
pub(crate) fn start(hook: &HookCommand, event: &str) -> HookStart {
    HookStart::Direct { argv: hook.argv(AgentId::Claude, event) }
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

const fn asking(name: &'static str) -> HookEvent {
    HookEvent { name, timeout_s: 600, matcher: None, blocks_on_failure: true }
}

const fn telling(name: &'static str, timeout_s: u64) -> HookEvent {
    HookEvent { name, timeout_s, matcher: None, blocks_on_failure: false }
}
