//! The MCP servers that the user had configured before castellan was installed, from the agents' own files. Read once,
//! at the first start: later servers cause a prompt. This module must not know the formats of agents' files.

use std::path::Path;

use castellan_agents::{self as agents, AgentId};

use crate::layout::Layout;
use crate::limits::AGENT_STATE_BYTES_MAX;
use crate::platform;
use crate::sight::{self, read_text};

/// The default location of castellan's home in a user's home.
const DEFAULT_HOME: &str = ".local/share/castellan";

/// Returns the configured servers of the user that castellan guards.
pub(crate) fn servers_before(layout: &Layout) -> Vec<String> {
    let account = platform::account(sight::user()).and_then(|account| account.home);
    user_of(layout, account.as_deref()).map(servers_of).unwrap_or_default()
}

/// Returns the home of the user that castellan guards: the user of the installation. Without an installation it is the
/// user of the daemon, if castellan's home is the default of that user by the system's account database. The
/// environment is not used, because anybody may set it. Any other home, such as that of a test, belongs to no user.
fn user_of<'a>(layout: &'a Layout, account: Option<&'a Path>) -> Option<&'a Path> {
    let is_default = |home: &&Path| layout.home().dir() == home.join(DEFAULT_HOME);
    layout.user().or_else(|| account.filter(is_default))
}

/// Returns the servers in the agents' files of a user's home.
fn servers_of(home: &Path) -> Vec<String> {
    let of = |agent| {
        let text =
            read_text(&home.join(agents::server_file(agent)), AGENT_STATE_BYTES_MAX).unwrap_or_default();
        agents::configured_servers(agent, &text)
    };
    let mut servers: Vec<String> = AgentId::ALL.into_iter().flat_map(of).collect();
    servers.sort();
    servers.dedup();
    servers
}

#[cfg(test)]
mod tests {
    use castellan_wire::Home;

    use super::*;

    #[test]
    fn only_the_user_who_is_guarded_is_looked_at() {
        let check = |dir: &str, installed_for: Option<&str>, expected: Option<&str>| {
            let layout = Layout::new(Home::new(dir).unwrap(), "/c".into(), "/s".into());
            let layout = installed_for.map(|home| layout.clone().of_user(Path::new(home))).unwrap_or(layout);
            assert_eq!(user_of(&layout, Some(Path::new("/home/u"))), expected.map(Path::new), "{dir}");
        };
        check("/home/u/.local/share/castellan", None, Some("/home/u"));
        check("/home/u/.local/share/castellan", Some("/elsewhere"), Some("/elsewhere"));
        check("/src/target/test/castellan", Some("/src/target/test/user"), Some("/src/target/test/user"));
        check("/src/target/test/castellan", None, None);
        check("/home/u/src/castellan/target/test/castellan", None, None);
        check("/home/v/.local/share/castellan", None, None);
    }

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
