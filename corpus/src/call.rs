//! The call for a text of the corpus.

use castellan_event::{Agent, Call, Tool, ToolKind};
use castellan_trial::WORKSPACE;

/// Returns a call of a shell tool in the workspace.
pub fn shell_call(command: &str) -> Call {
    let input = serde_json::json!({ "command": command });
    Call {
        correlation_id: 1,
        agent: Agent {
            name: "claude_code".to_owned(),
            pid: 4242,
            event: "PreToolUse".to_owned(),
            session_id: "corpus".to_owned(),
            permission_mode: "default".to_owned(),
            cwd: WORKSPACE.to_owned(),
            ..Agent::default()
        },
        tool: Tool {
            name: "Bash".to_owned(),
            name_raw: "Bash".to_owned(),
            use_id: "toolu_corpus".to_owned(),
            kind: ToolKind::Shell,
            mcp: None,
        },
        input_text: input.to_string(),
        input,
        command: Some(command.to_owned()),
        files: Vec::new(),
        in_background: false,
        problems: Vec::new(),
    }
}
