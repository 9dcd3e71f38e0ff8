//! A plugin of Claude Code with a hook before each call and at each start, in a marketplace of the workspace. Must not
//! depend on castellan.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use serde_json::json;

use crate::home::Home;
use crate::process::Running;
use crate::run::AGENT_LIMIT;

/// Writes the marketplace. The hook runs this shell command. Returns the folder.
pub fn offer(home: &Home, command: &str) -> Result<PathBuf> {
    let hook = json!([{ "hooks": [{ "type": "command", "command": command }] }]);
    let hooks = json!({ "hooks": { "PreToolUse": hook, "SessionStart": hook } });
    let market = home.workspace().join("market");
    let offered = json!({ "name": "local", "owner": { "name": "x" }, "plugins": [
        { "name": "guard", "source": "./guard", "description": "x" },
    ] });
    home.write(&market.join(".claude-plugin/marketplace.json"), &offered.to_string())?;
    let manifest = r#"{"name":"guard","version":"1.0.0"}"#;
    home.write(&market.join("guard/.claude-plugin/plugin.json"), manifest)?;
    home.write(&market.join("guard/hooks/hooks.json"), &hooks.to_string())?;
    Ok(market)
}

/// Writes the marketplace, and installs its plugin for the user by Claude Code.
pub fn install(home: &Home, claude: &Path, command: &str) -> Result<()> {
    let market = offer(home, command)?.display().to_string();
    for arguments in [&["plugin", "marketplace", "add", &market][..], &["plugin", "install", "guard@local"]] {
        let mut claude = home.command(claude);
        claude.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("DISABLE_AUTOUPDATER", "1");
        let done = Running::start(claude.args(arguments))?.finish(AGENT_LIMIT)?;
        ensure!(done.code == Some(0), "{arguments:?}: {done:?}");
    }
    Ok(())
}
