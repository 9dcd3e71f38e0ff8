//! Calls for the tables, all made in the workspace `/w`.

use castellan_event::{Agent, Call, Tool, ToolKind};

pub(crate) fn shell(agent: &str, text: &str) -> Call {
    Call { command: Some(text.to_owned()), ..of_tool(agent, "Bash", ToolKind::Shell) }
}

/// A call of a tool without input.
pub(crate) fn of_tool(agent: &str, name: &str, kind: ToolKind) -> Call {
    Call {
        correlation_id: 1,
        agent: Agent { name: agent.to_owned(), pid: 7, cwd: "/w".to_owned(), ..Agent::default() },
        tool: Tool {
            name: name.to_owned(),
            name_raw: name.to_owned(),
            use_id: String::new(),
            kind,
            mcp: None,
        },
        input: serde_json::Value::Null,
        input_text: String::new(),
        command: None,
        files: Vec::new(),
        in_background: false,
        problems: Vec::new(),
    }
}
