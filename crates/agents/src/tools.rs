//! The table of tools: each agent's own name, the canonical name, what the tool does and which keys of its input matter.
//! It must not know payloads. A tool that is not here is unknown, which is not the same as harmless.
//!
//! Sources: Claude Code 2.1.330 (`sdk-tools.d.ts`), Codex 0.169.0 (hook payloads and tool names of the binary).

use castellan_event::{Tool, ToolKind};

use crate::agent::AgentId;

/// One tool of an agent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolSpec {
    /// The agent's own name.
    pub(crate) raw: &'static str,
    /// The name that rules see.
    pub(crate) name: &'static str,
    /// What it does.
    pub(crate) kind: ToolKind,
    /// The key that holds shell text, or the patch.
    pub(crate) command: Key,
    /// The key that holds a path.
    pub(crate) path: Key,
}

/// A key of a tool's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    /// The tool has none such.
    No,
    /// It must be a non-empty string.
    Required(&'static str),
    /// It may be left out.
    Optional(&'static str),
    /// It may be left out where the second key is present.
    Unless(&'static str, &'static str),
}

impl Key {
    /// Returns its name, whether or not it may be left out.
    pub(crate) fn name(self) -> Option<&'static str> {
        match self {
            Key::No => None,
            Key::Required(name) | Key::Optional(name) | Key::Unless(name, _) => Some(name),
        }
    }
}

const CLAUDE: &[ToolSpec] = &[
    shell("Bash", "Bash", Key::Required("command")),
    shell("PowerShell", "PowerShell", Key::Required("command")),
    // Monitor watches the output of a command, or a web socket.
    shell("Monitor", "Monitor", Key::Unless("command", "ws")),
    file("Read", "Read", ToolKind::Read, Key::Required("file_path")),
    file("Write", "Write", ToolKind::Write, Key::Required("file_path")),
    file("Edit", "Edit", ToolKind::Edit, Key::Required("file_path")),
    // MultiEdit is gone from 2.1.330; older versions still call it.
    file("MultiEdit", "MultiEdit", ToolKind::Edit, Key::Required("file_path")),
    file("NotebookEdit", "NotebookEdit", ToolKind::Edit, Key::Required("notebook_path")),
    file("Glob", "Glob", ToolKind::Read, Key::Optional("path")),
    file("Grep", "Grep", ToolKind::Read, Key::Optional("path")),
    plain("WebFetch", "WebFetch", ToolKind::Web),
    plain("WebSearch", "WebSearch", ToolKind::Web),
    plain("Agent", "Agent", ToolKind::Subagent),
    plain("Task", "Agent", ToolKind::Subagent),
    plain("ListMcpResourcesTool", "ListMcpResourcesTool", ToolKind::Mcp),
    plain("ReadMcpResourceTool", "ReadMcpResourceTool", ToolKind::Mcp),
    plain("TodoWrite", "TodoWrite", ToolKind::Internal),
    plain("TaskCreate", "TaskCreate", ToolKind::Internal),
    plain("TaskGet", "TaskGet", ToolKind::Internal),
    plain("TaskList", "TaskList", ToolKind::Internal),
    plain("TaskOutput", "TaskOutput", ToolKind::Internal),
    plain("TaskStop", "TaskStop", ToolKind::Internal),
    plain("TaskUpdate", "TaskUpdate", ToolKind::Internal),
    plain("BashOutput", "BashOutput", ToolKind::Internal),
    plain("KillShell", "KillShell", ToolKind::Internal),
    plain("AskUserQuestion", "AskUserQuestion", ToolKind::Internal),
    plain("EnterPlanMode", "EnterPlanMode", ToolKind::Internal),
    plain("ExitPlanMode", "ExitPlanMode", ToolKind::Internal),
    plain("ToolSearch", "ToolSearch", ToolKind::Internal),
    plain("SendUserMessage", "SendUserMessage", ToolKind::Internal),
    plain("SendMessage", "SendMessage", ToolKind::Subagent),
    plain("ListAgents", "ListAgents", ToolKind::Internal),
    plain("ReportFindings", "ReportFindings", ToolKind::Internal),
];

const CODEX: &[ToolSpec] = &[
    // Every shell tool (`shell`, `shell_command`, `exec_command`) reaches the hook under this name.
    shell("Bash", "Bash", Key::Required("command")),
    ToolSpec { command: Key::Required("command"), ..plain("apply_patch", "apply_patch", ToolKind::Patch) },
    file("view_image", "view_image", ToolKind::Read, Key::Required("path")),
    // Tools of a group reach the hook as group and name run together. Which group there is depends on the model.
    plain("spawn_agent", "Agent", ToolKind::Subagent),
    plain("collaborationspawn_agent", "Agent", ToolKind::Subagent),
    // What is sent to another agent is work for it.
    plain("collaborationsend_message", "SendMessage", ToolKind::Subagent),
    plain("collaborationfollowup_task", "SendMessage", ToolKind::Subagent),
    plain("multi_agent_v1send_input", "SendMessage", ToolKind::Subagent),
    plain("multi_agent_v1resume_agent", "SendMessage", ToolKind::Subagent),
    plain("list_mcp_resources", "list_mcp_resources", ToolKind::Mcp),
    plain("list_mcp_resource_templates", "list_mcp_resource_templates", ToolKind::Mcp),
    plain("read_mcp_resource", "read_mcp_resource", ToolKind::Mcp),
    plain("update_plan", "update_plan", ToolKind::Internal),
    plain("request_user_input", "request_user_input", ToolKind::Internal),
    plain("collaborationwait_agent", "wait_agent", ToolKind::Internal),
    plain("collaborationlist_agents", "list_agents", ToolKind::Internal),
    plain("collaborationinterrupt_agent", "interrupt_agent", ToolKind::Internal),
    plain("multi_agent_v1wait_agent", "wait_agent", ToolKind::Internal),
    plain("multi_agent_v1close_agent", "close_agent", ToolKind::Internal),
    plain("clocksleep", "clocksleep", ToolKind::Internal),
    plain("clockcurr_time", "clockcurr_time", ToolKind::Internal),
    plain("get_goal", "get_goal", ToolKind::Internal),
    plain("create_goal", "create_goal", ToolKind::Internal),
    plain("update_goal", "update_goal", ToolKind::Internal),
    plain("tool_search", "tool_search", ToolKind::Internal),
];

/// Returns every known tool of an agent, its shell first.
pub(crate) fn specs(agent: AgentId) -> &'static [ToolSpec] {
    match agent {
        AgentId::Claude => CLAUDE,
        AgentId::Codex => CODEX,
    }
}

/// Finds a tool by the agent's own name.
pub(crate) fn spec(agent: AgentId, raw: &str) -> Option<&'static ToolSpec> {
    specs(agent).iter().find(|spec| spec.raw == raw)
}

/// Describes a tool by the agent's own name: from the table, as a tool of an MCP server, or as unknown.
pub(crate) fn tool(agent: AgentId, raw: &str, use_id: String) -> Tool {
    let mcp = mcp_parts(raw);
    let (name, kind) = match (spec(agent, raw), &mcp) {
        (Some(spec), _) => (spec.name, spec.kind),
        (None, Some(_)) => (raw, ToolKind::Mcp),
        (None, None) => (raw, ToolKind::Unknown),
    };
    Tool { name: name.to_owned(), name_raw: raw.to_owned(), use_id, kind, mcp }
}

fn mcp_parts(raw: &str) -> Option<(String, String)> {
    let (server, tool) = raw.strip_prefix("mcp__")?.split_once("__")?;
    let named = !server.is_empty() && !tool.is_empty();
    named.then(|| (server.to_owned(), tool.to_owned()))
}

const fn plain(raw: &'static str, name: &'static str, kind: ToolKind) -> ToolSpec {
    ToolSpec { raw, name, kind, command: Key::No, path: Key::No }
}

const fn shell(raw: &'static str, name: &'static str, command: Key) -> ToolSpec {
    ToolSpec { command, ..plain(raw, name, ToolKind::Shell) }
}

const fn file(raw: &'static str, name: &'static str, kind: ToolKind, path: Key) -> ToolSpec {
    ToolSpec { path, ..plain(raw, name, kind) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_map_to_one_word_per_thing() {
        let check = |agent, raw: &str, name: &str, kind, mcp: Option<(&str, &str)>| {
            let tool = tool(agent, raw, String::new());
            assert_eq!((tool.name.as_str(), tool.kind), (name, kind), "{raw}");
            assert_eq!(tool.name_raw, raw);
            assert_eq!(tool.mcp, mcp.map(|(server, tool)| (server.to_owned(), tool.to_owned())), "{raw}");
        };
        check(AgentId::Claude, "Task", "Agent", ToolKind::Subagent, None);
        check(AgentId::Codex, "spawn_agent", "Agent", ToolKind::Subagent, None);
        check(AgentId::Codex, "collaborationspawn_agent", "Agent", ToolKind::Subagent, None);
        check(AgentId::Claude, "Monitor", "Monitor", ToolKind::Shell, None);
        check(AgentId::Claude, "bash", "bash", ToolKind::Unknown, None);
        check(AgentId::Claude, "apply_patch", "apply_patch", ToolKind::Unknown, None);
        check(AgentId::Codex, "Write", "Write", ToolKind::Unknown, None);
        check(AgentId::Codex, "write_stdin", "write_stdin", ToolKind::Unknown, None);
        check(AgentId::Claude, "mcp__git__push", "mcp__git__push", ToolKind::Mcp, Some(("git", "push")));
        check(AgentId::Codex, "mcp__a__b__c", "mcp__a__b__c", ToolKind::Mcp, Some(("a", "b__c")));
        check(AgentId::Claude, "mcp__git__", "mcp__git__", ToolKind::Unknown, None);
        check(AgentId::Claude, "mcp____x", "mcp____x", ToolKind::Unknown, None);
        check(AgentId::Claude, "", "", ToolKind::Unknown, None);
    }

    #[test]
    fn no_tool_stands_twice() {
        for table in [CLAUDE, CODEX] {
            for (i, spec) in table.iter().enumerate() {
                assert!(table[..i].iter().all(|other| other.raw != spec.raw), "{}", spec.raw);
            }
        }
    }
}
