//! The MCP servers that the user had configured before castellan was there, from the agents' own files. Looked at once, at the first
//! start: what comes later is asked about. It must not know what an agent's file looks like.

use std::path::{Path, PathBuf};

use castellan_agents::{self as agents, AgentId};

use crate::files::read_limited;
use crate::limits::{AGENT_STATE_BYTES_MAX, USER_DATABASE_BYTES_MAX};
use crate::users;

/// Those of the user that the daemon runs as. The home is what the system says: the environment may be anybody's.
pub(crate) fn servers_before() -> Vec<String> {
    let accounts = read_limited(Path::new("/etc/passwd"), USER_DATABASE_BYTES_MAX).unwrap_or_default();
    let user = rustix::process::geteuid().as_raw();
    users::home_of(user, accounts.as_bytes()).map(|home| servers_of(Path::new(home))).unwrap_or_default()
}

/// Those that stand in the files of a home, for any agent.
fn servers_of(home: &Path) -> Vec<String> {
    let file = |agent| -> PathBuf {
        match agent {
            AgentId::Claude => home.join(agents::server_file(agent)),
            AgentId::Codex => home.join(".codex").join(agents::server_file(agent)),
        }
    };
    let of = |agent| {
        let text = read_limited(&file(agent), AGENT_STATE_BYTES_MAX).unwrap_or_default();
        agents::configured_servers(agent, &text)
    };
    let mut servers: Vec<String> = AgentId::ALL.into_iter().flat_map(of).collect();
    servers.sort();
    servers.dedup();
    servers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_every_agent_count() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(servers_of(home.path()), [""; 0]);
        std::fs::write(home.path().join(".claude.json"), r#"{"mcpServers": {"b": {}, "both": {}}}"#).unwrap();
        std::fs::create_dir(home.path().join(".codex")).unwrap();
        let codex = "[mcp_servers.a]\ncommand = 'x'\n[mcp_servers.both]\n";
        std::fs::write(home.path().join(".codex/config.toml"), codex).unwrap();
        assert_eq!(servers_of(home.path()), ["a", "b", "both"]);
    }
}
