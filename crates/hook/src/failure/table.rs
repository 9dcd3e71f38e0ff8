//! The form of a denial for each event of each agent, for the case that the daemon cannot be asked. `cargo xtask
//! gen` makes this file from `crates/agents`; do not edit.

use super::Form::{self, Block, Mention, PermissionDeny};

/// Agent, event, form, and the seconds after which the hook answers by itself.
pub(super) const TABLE: &[(&str, &str, Form, u32)] = &[
    ("claude", "PreToolUse", Block, 10),
    ("claude", "PermissionRequest", PermissionDeny, 10),
    ("claude", "PostToolUse", Mention, 5),
    ("claude", "PostToolUseFailure", Mention, 5),
    ("claude", "UserPromptSubmit", Mention, 5),
    ("claude", "SessionStart", Mention, 5),
    ("claude", "SessionEnd", Mention, 1),
    ("claude", "SubagentStop", Mention, 5),
    ("codex", "PreToolUse", Block, 10),
    ("codex", "PermissionRequest", PermissionDeny, 10),
    ("codex", "PostToolUse", Mention, 5),
    ("codex", "UserPromptSubmit", Mention, 5),
    ("codex", "SessionStart", Mention, 5),
    ("codex", "SessionEnd", Mention, 1),
    ("codex", "SubagentStop", Mention, 5),
    ("gemini", "BeforeTool", Block, 10),
    ("gemini", "AfterTool", Mention, 5),
    ("gemini", "BeforeAgent", Mention, 5),
    ("gemini", "SessionStart", Mention, 5),
    ("gemini", "SessionEnd", Mention, 1),
    ("qwen", "PreToolUse", Block, 10),
    ("qwen", "PostToolUse", Mention, 5),
    ("qwen", "PostToolUseFailure", Mention, 5),
    ("qwen", "UserPromptSubmit", Mention, 5),
    ("qwen", "SessionStart", Mention, 5),
    ("qwen", "SessionEnd", Mention, 1),
];
