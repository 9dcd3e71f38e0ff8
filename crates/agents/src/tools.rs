//! Looks up a tool of an agent: its canonical name, its kind and the relevant keys of its input. The tables are in
//! `agents/*.toml`. This module must not know payloads. A tool outside the table is unknown, which does not mean
//! harmless.

use castellan_event::{Tool, ToolKind};

use crate::agent::AgentId;
use crate::mcp_servers::as_in_tools;
use crate::spec::{Key, McpFamily, ToolSpec};

/// Returns every known tool of an agent, its shell first.
pub(crate) fn specs(agent: AgentId) -> &'static [ToolSpec] {
    agent.spec().tools
}

/// Finds a tool by the agent's own name.
pub(crate) fn spec(agent: AgentId, raw: &str) -> Option<&'static ToolSpec> {
    specs(agent).iter().find(|spec| spec.raw == raw)
}

/// Describes a tool by the agent's own name: from the table, as a tool of an MCP server, or as unknown.
pub(crate) fn tool(agent: AgentId, raw: &str, use_id: String) -> Tool {
    let mcp = match agent.spec().families.mcp {
        McpFamily::Name => mcp_parts(raw),
        McpFamily::Context => None,
    };
    let (name, kind) = match (spec(agent, raw), &mcp) {
        (Some(spec), _) => (spec.name, spec.kind),
        (None, Some(_)) => (raw, ToolKind::Mcp),
        (None, None) => (raw, ToolKind::Unknown),
    };
    Tool { name: name.to_owned(), name_raw: raw.to_owned(), use_id, kind, mcp }
}

/// Describes a tool outside the table as an MCP tool, by the names of the server and its tool.
pub(crate) fn of_server(tool: &mut Tool, server: &str, name: &str) {
    if tool.kind == ToolKind::Unknown && !server.is_empty() && !name.is_empty() {
        let server = as_in_tools(server);
        tool.name = format!("mcp__{server}__{name}");
        tool.kind = ToolKind::Mcp;
        tool.mcp = Some((server, name.to_owned()));
    }
}

fn mcp_parts(raw: &str) -> Option<(String, String)> {
    let (server, tool) = raw.strip_prefix("mcp__")?.split_once("__")?;
    let named = !server.is_empty() && !tool.is_empty();
    named.then(|| (server.to_owned(), tool.to_owned()))
}

impl Key {
    /// Returns the key's name, whether required or optional.
    pub(crate) fn name(self) -> Option<&'static str> {
        match self {
            Key::No => None,
            Key::Required(name) | Key::Optional(name) | Key::Unless(name, _) => Some(name),
        }
    }
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
        check(AgentId::CLAUDE, "Task", "Agent", ToolKind::Subagent, None);
        check(AgentId::CODEX, "spawn_agent", "Agent", ToolKind::Subagent, None);
        check(AgentId::CODEX, "collaborationspawn_agent", "Agent", ToolKind::Subagent, None);
        check(AgentId::CLAUDE, "Monitor", "Monitor", ToolKind::Shell, None);
        check(AgentId::CLAUDE, "bash", "bash", ToolKind::Unknown, None);
        check(AgentId::CLAUDE, "apply_patch", "apply_patch", ToolKind::Unknown, None);
        check(AgentId::CODEX, "Write", "Write", ToolKind::Unknown, None);
        check(AgentId::CODEX, "write_stdin", "write_stdin", ToolKind::Unknown, None);
        check(AgentId::CLAUDE, "mcp__git__push", "mcp__git__push", ToolKind::Mcp, Some(("git", "push")));
        check(AgentId::CODEX, "mcp__a__b__c", "mcp__a__b__c", ToolKind::Mcp, Some(("a", "b__c")));
        check(AgentId::CLAUDE, "mcp__git__", "mcp__git__", ToolKind::Unknown, None);
        check(AgentId::CLAUDE, "mcp____x", "mcp____x", ToolKind::Unknown, None);
        check(AgentId::CLAUDE, "", "", ToolKind::Unknown, None);
    }

    #[test]
    fn no_tool_stands_twice() {
        for table in AgentId::ALL.map(specs) {
            for (i, spec) in table.iter().enumerate() {
                assert!(table[..i].iter().all(|other| other.raw != spec.raw), "{}", spec.raw);
            }
        }
    }
}
