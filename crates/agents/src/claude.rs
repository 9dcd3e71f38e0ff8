//! Claude Code 2.1.330: its events, its replies and its registration. It must not know how a payload is read or how a
//! settings text is edited.
//!
//! Measured: a hook that exits 1, dies or runs out of time lets the call run, unless `"onFailure":"block"` is set; exit 2
//! blocks PreToolUse but does not deny PermissionRequest.

use castellan_event::Verdict;
use serde_json::{Value as Json, json};

use crate::agent::{AgentId, EventKind, Headless, HookEvent};
use crate::asks::{Asks, Holds, Mode, Objections};
use crate::command_line::{Meaning, Options};
use crate::settings::HookCommand;
use crate::start::HookStart;
use crate::version::Version;

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

/// Which asks it holds, measured on 2.1.204 and 2.1.330 (`corpus/asks`).
///
/// `plan` skips prompts where the session may switch to `bypassPermissions`, which the payload does not say. `auto` asks a model, and in
/// 2.1.204 that one lets pass what the hook asked about. In `dontAsk` an ask opens a prompt at a terminal, but what its own check objects
/// to is refused without one.
pub(crate) const ASKS: Asks = Asks {
    question: (
        QUESTION_EVENT,
        &[
            Mode { name: "default", holds: Holds::All, is_attended: true },
            Mode { name: "acceptEdits", holds: Holds::All, is_attended: true },
            Mode { name: "dontAsk", holds: Holds::All, is_attended: false },
            Mode { name: "plan", holds: Holds::Unobjected, is_attended: true },
            Mode { name: "auto", holds: Holds::Unobjected, is_attended: true },
            Mode { name: "bypassPermissions", holds: Holds::Unobjected, is_attended: true },
        ],
    ),
    prompt: Some("PermissionRequest"),
    versions: (Version(2, 1, 204), Version(2, 1, 330)),
    objections: Objections {
        known_tools: &["Agent", "Bash", "Read", "WebFetch", "WebSearch"],
        own_servers: &["claude", "design", "ide"],
        // `sandboxOverride` and the hosts of a sandboxed command, by the client's program text.
        keys: &["dangerouslyDisableSandbox", "allowed_domains"],
    },
};

/// The name of its package.
pub(crate) const PACKAGE: &str = "@anthropic-ai/claude-code";

/// What of its command line says that nobody is there to be asked.
pub(crate) const HEADLESS: Headless = Headless { words: &["--print"], letter: Some(b'p') };

/// Permission modes in which it is not to change anything.
pub(crate) const READ_ONLY_MODES: &[&str] = &["plan"];

/// Arguments that win over a repository's settings (measured): its `disableAllHooks` no longer counts.
pub(crate) const HOOKS_ON: &[&str] = &["--settings", r#"{"disableAllHooks":false}"#];

/// Its options, as its own first look at a command line knows them. Those of the first list take no word that begins with `-`; the first
/// two that switch hooks off are looked for among all words before `--`, values included.
pub(crate) const OPTIONS: Options = Options {
    flags: &[
        "-p",
        "--print",
        "-c",
        "--continue",
        "-cp",
        "-pc",
        "-d",
        "--debug",
        "-r",
        "--resume",
        "--from-pr",
        "-w",
        "--worktree",
        "--teleport",
        "--cloud",
        "--remote",
        "--project",
        "--remote-control",
        "--rc",
        "--prompt-suggestions",
        "--verbose",
        "--dangerously-skip-permissions",
        "--allow-dangerously-skip-permissions",
        "--include-partial-messages",
        "--include-hook-events",
        "--replay-user-messages",
        "--forward-subagent-text",
        "--fork-session",
        "--no-session-persistence",
        "--strict-mcp-config",
        "--disable-slash-commands",
        "--exclude-dynamic-system-prompt-sections",
        "--ide",
        "--tmux",
        "--brief",
        "--chrome",
        "--no-chrome",
        "--bg",
        "--background",
        "--desktop",
        "--ax-screen-reader",
        "--bare",
        "--safe-mode",
        "--restricted",
    ],
    valued: &[
        "--add-dir",
        "--advisor",
        "--agent",
        "--agent-color",
        "--agent-id",
        "--agent-name",
        "--agent-type",
        "--agents",
        "--allowed-tools",
        "--allowedTools",
        "--append-subagent-system-prompt",
        "--append-subagent-system-prompt-file",
        "--append-system-prompt",
        "--append-system-prompt-file",
        "--attach-serve",
        "--autocompact",
        "--betas",
        "--channels",
        "--client-data-url",
        "--correlation-id",
        "--dangerously-load-development-channels",
        "--debug-file",
        "--deep-link-cwd-b64",
        "--deep-link-last-fetch",
        "--disallowed-tools",
        "--disallowedTools",
        "--effort",
        "--environment",
        "--exec",
        "--fallback-model",
        "--fast-mode",
        "--file",
        "--forward-home-settings",
        "--handle-uri",
        "--inherit-permission-mode",
        "--initialize-fields",
        "--input-format",
        "--json-schema",
        "--lead-verify-key",
        "--managed-settings",
        "--max-budget-usd",
        "--max-thinking-tokens",
        "--max-turns",
        "--mcp-config",
        "--messaging-socket-path",
        "--metadata",
        "--model",
        "--name",
        "--on-branch",
        "--output-format",
        "--parent-session-id",
        "--permission-mode",
        "--permission-prompt-tool",
        "--permission-prompts",
        "--plan-mode-instructions",
        "--plugin-dir",
        "--plugin-dir-no-mcp",
        "--plugin-url",
        "--pool",
        "--proactivity",
        "--project-config-root",
        "--ref",
        "--remote-control-session-name-prefix",
        "--resume-drops-turn",
        "--resume-session-at",
        "--rewind-files",
        "--routine",
        "--runner-declares",
        "--sdk-url",
        "--session-began-as-copy",
        "--session-id",
        "--setting-sources",
        "--settings",
        "--system-prompt",
        "--system-prompt-file",
        "--system-prompt-snapshot",
        "--task-budget",
        "--team-name",
        "--teammate-mode",
        "--thinking",
        "--thinking-display",
        "--tools",
        "--watch-artifact",
        "--watch-artifact-no-autoreact",
        "--workload",
        "-m",
        "-n",
    ],
    lists: &["--add-dir"],
    anywhere: &["--bare", "--safe-mode", "--restricted"],
    meanings: &[
        ("--bare", Meaning::Off),
        ("--safe-mode", Meaning::Off),
        ("--restricted", Meaning::Off),
        ("--setting-sources", Meaning::SettingKinds),
        ("--settings", Meaning::Settings),
        ("--managed-settings", Meaning::Policy),
        ("--project-config-root", Meaning::Elsewhere),
        ("--plugin-dir", Meaning::Plugin),
        ("--plugin-dir-no-mcp", Meaning::Plugin),
        ("--plugin-url", Meaning::FarPlugin),
        ("--add-dir", Meaning::Folder),
        ("--agents", Meaning::Subagents),
    ],
};

/// Variables of its environment that do what `--bare`, `--safe-mode` and `--restricted` do.
pub(crate) const OFF_VARIABLES: &[&str] =
    &["CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE", "CLAUDE_CODE_RESTRICTED"];

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
