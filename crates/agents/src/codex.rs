//! Codex 0.169.0: its events, its replies and its registration. It must not know how a payload is read or how a settings
//! text is edited.
//!
//! Measured: an ask, an unknown key, or an allow without `updatedInput` on PreToolUse makes the hook "failed", and the call
//! runs. So the reply is a deny or it is empty.

use castellan_event::Verdict;
use serde_json::{Value as Json, json};

use crate::agent::{AgentId, EventKind, Headless, HookEvent};
use crate::asks::{Asks, Objections};
use crate::command_line::{Meaning, Options};
use crate::settings::HookCommand;
use crate::shell_words;
use crate::start::HookStart;
use crate::version::Version;

/// The event at which a call is asked about.
pub(crate) const QUESTION_EVENT: &str = "PreToolUse";

/// Every event that is decoded; more than are registered, as a user may add them.
pub(crate) const EVENTS: &[(&str, EventKind)] = &[
    (QUESTION_EVENT, EventKind::Question),
    ("PermissionRequest", EventKind::Permission),
    ("PostToolUse", EventKind::Done { failed: false }),
    ("UserPromptSubmit", EventKind::Session { text_key: "prompt" }),
    ("SessionStart", EventKind::Session { text_key: "source" }),
    ("SessionEnd", EventKind::Session { text_key: "reason" }),
];

/// It holds an ask nowhere.
pub(crate) const ASKS: Asks = Asks {
    question: (QUESTION_EVENT, &[]),
    prompt: None,
    versions: (Version(0, 169, 0), Version(0, 169, 0)),
    objections: Objections { known_tools: &[], own_servers: &[], keys: &[] },
};

/// The name of its package.
pub(crate) const PACKAGE: &str = "@openai/codex";

/// What of its command line says that nobody is there to be asked. `e` is short for `exec`; `-p` names a profile.
pub(crate) const HEADLESS: Headless = Headless { words: &["exec", "e", "review"], letter: None };

/// Permission modes in which it is not to change anything.
pub(crate) const READ_ONLY_MODES: &[&str] = &["plan"];

/// Arguments that win over a repository's `features.hooks` (measured).
pub(crate) const HOOKS_ON: &[&str] = &["-c", "features.hooks=true"];

/// Names of the feature that hooks are; the second is the old one.
pub(crate) const HOOK_FEATURES: &[&str] = &["hooks", "codex_hooks"];

/// Its options. That no configuration of the user's means no hooks of the user's is not measured.
pub(crate) const OPTIONS: Options = Options {
    flags: &[
        "--full-auto",
        "--dangerously-bypass-approvals-and-sandbox",
        "--dangerously-bypass-hook-trust",
        "--yolo",
        "--skip-git-repo-check",
        "--json",
        "--search",
        "--oss",
        "--ephemeral",
        "--ignore-user-config",
        "--ignore-rules",
        "--no-alt-screen",
        "--no-daemon",
        "--approve-for-me",
        "--strict-config",
        "--worktree",
        "--trust",
    ],
    valued: &[
        "-c",
        "--config",
        "-m",
        "--model",
        "-p",
        "--profile",
        "-s",
        "--sandbox",
        "-a",
        "--ask-for-approval",
        "-C",
        "--cd",
        "-i",
        "--image",
        "-o",
        "--output-last-message",
        "--output-schema",
        "--enable",
        "--disable",
        "--color",
        "--add-dir",
        "--local-provider",
        "--remote",
        "--remote-auth-token-env",
        "--thread-source",
        "--cyber-access-program",
    ],
    lists: &[],
    anywhere: &[],
    meanings: &[
        ("-c", Meaning::Key),
        ("--config", Meaning::Key),
        ("--disable", Meaning::FeatureOff),
        ("-p", Meaning::Profile),
        ("--profile", Meaning::Profile),
        ("--ignore-user-config", Meaning::Off),
        ("--dangerously-bypass-hook-trust", Meaning::TrustsAll),
    ],
};

/// What is registered. The user's trust is stored for the exact entry: a change here makes every user approve it again.
pub(crate) const HOOK_EVENTS: &[HookEvent] =
    &[every_tool(QUESTION_EVENT, 600), every_tool("PermissionRequest", 600), every_tool("PostToolUse", 10)];

/// Returns the reply to PreToolUse; `None` is an empty one, which leaves the call to Codex.
pub(crate) fn answer_question(verdict: Verdict, reason: &str) -> Option<Json> {
    (verdict == Verdict::Deny).then(|| {
        json!({ "hookSpecificOutput": {
            "hookEventName": QUESTION_EVENT,
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
    json!({ "type": "command", "command": line(hook, event.name), "timeout": event.timeout_s })
}

/// Returns how a handler of [`handler`] is started (measured: `-c`, no login flag).
pub(crate) fn start(hook: &HookCommand, event: &str) -> HookStart {
    HookStart::LoginShell { arguments: vec!["-c".to_owned(), line(hook, event)] }
}

/// Returns the command line that is registered for an event.
pub(crate) fn line(hook: &HookCommand, event: &str) -> String {
    shell_words::join(hook.argv(AgentId::Codex, event))
}

/// Returns the command line of a handler, where it is quoted as castellan quotes.
pub(crate) fn argv(handler: &Json) -> Option<Vec<String>> {
    shell_words::split(handler.get("command")?.as_str()?)
}

const fn every_tool(name: &'static str, timeout_s: u64) -> HookEvent {
    HookEvent { name, timeout_s, matcher: Some("*"), blocks_on_failure: false }
}
