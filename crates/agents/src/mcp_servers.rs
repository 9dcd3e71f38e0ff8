//! The MCP servers in an agent's settings (Claude Code 2.1.330, Codex 0.44). Texts in, names out; this module must not
//! know where the files are.

use std::collections::BTreeSet;

use serde_json::Value as Json;
use toml_edit::DocumentMut;

use crate::agent::AgentId;
use crate::spec::ServerFamily;

/// Returns the path of the file with the user's own servers, relative to the home directory.
pub fn server_file(agent: AgentId) -> &'static str {
    agent.spec().server_file
}

/// Returns the servers of the user's file, by their names in tool names. Empty for a file that the agent cannot read.
pub fn configured_servers(agent: AgentId, text: &str) -> BTreeSet<String> {
    match agent.spec().families.servers {
        ServerFamily::Json => of_json(text),
        ServerFamily::Toml => of_toml(text),
    }
}

/// Reads `mcpServers` of the user and of each project, and the accepted servers of a repository's `.mcp.json`.
fn of_json(text: &str) -> BTreeSet<String> {
    let json: Json = serde_json::from_str(text).unwrap_or_default();
    let projects =
        json.get("projects").and_then(Json::as_object).into_iter().flatten().map(|(_, project)| project);
    let mut names = BTreeSet::new();
    for scope in std::iter::once(&json).chain(projects) {
        let servers = scope.get("mcpServers").and_then(Json::as_object).into_iter().flatten();
        names.extend(servers.map(|(name, _)| as_in_tools(name)));
        let agreed = scope.get("enabledMcpjsonServers").and_then(Json::as_array).into_iter().flatten();
        names.extend(agreed.filter_map(Json::as_str).map(as_in_tools));
    }
    names
}

/// Reads `[mcp_servers.NAME]`.
fn of_toml(text: &str) -> BTreeSet<String> {
    let Ok(document) = text.parse::<DocumentMut>() else { return BTreeSet::new() };
    let servers = document.get("mcp_servers").and_then(|item| item.as_table_like());
    servers.into_iter().flat_map(|servers| servers.iter()).map(|(name, _)| as_in_tools(name)).collect()
}

/// Converts a server's name to its form in tool names: `claude.ai Linear` becomes `claude_ai_Linear`.
pub(crate) fn as_in_tools(name: &str) -> String {
    let keep = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    name.chars().map(|letter| if keep(letter) { letter } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(agent: AgentId, text: &str, expected: &[&str]) {
        let found = configured_servers(agent, text);
        assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn every_scope_of_claude_counts() {
        let claude = AgentId::CLAUDE;
        check(
            claude,
            r#"{"mcpServers": {"git": {"command": "x"}, "my server.v2": {}}}"#,
            &["git", "my_server_v2"],
        );
        let projects = r#"{"projects": {"/a": {"mcpServers": {"db": {}}, "enabledMcpjsonServers": ["repo", 7]},
            "/b": {"disabledMcpjsonServers": ["no"]}}}"#;
        check(claude, projects, &["db", "repo"]);
        for bad in [
            "",
            "{",
            "[]",
            "null",
            r#"{"mcpServers": []}"#,
            r#"{"projects": 1}"#,
            r#"{"projects": {"/a": 1}}"#,
        ] {
            check(claude, bad, &[]);
        }
    }

    #[test]
    fn every_table_of_codex_counts() {
        let codex = AgentId::CODEX;
        check(codex, "[mcp_servers.git]\ncommand = \"x\"\n[mcp_servers.\"a b\"]\n", &["a_b", "git"]);
        check(codex, "mcp_servers = { one = {} }\n", &["one"]);
        for bad in ["", "[mcp_servers", "mcp_servers = 1\n", "[other.git]\n"] {
            check(codex, bad, &[]);
        }
    }
}
