//! What a repository's own settings do to the user's hooks: a workspace can switch them off (measured on Claude Code
//! 2.1.330 and Codex 0.169.0). It must not know how to prevent that.

use toml_edit::{DocumentMut, Item};

use crate::agent::AgentId;
use crate::hook_files::{HookFile, Place, hook_files};
use crate::settings::switches_hooks_off;

/// Returns the files of a workspace that can switch user hooks off, relative to its root.
pub fn repository_files(agent: AgentId) -> impl Iterator<Item = &'static str> {
    let of_workspace = move |file: &&HookFile| file.place == Place::Workspace && file.can_switch(agent);
    hook_files(agent).iter().filter(of_workspace).map(|file| file.path)
}

/// Says how a file of a workspace switches user hooks off; `None` when it does not, or cannot be read as settings.
pub fn repository_switches_off(agent: AgentId, file_name: &str, text: &str) -> Option<String> {
    let switch = switch(agent, text)?;
    let title = agent.title();
    Some(format!(
        "`{file_name}` has `{switch}`: {title} runs no user hooks in this repository, castellan's included"
    ))
}

/// Returns the switch in a settings text that switches hooks off.
pub(crate) fn switch(agent: AgentId, text: &str) -> Option<&'static str> {
    match agent {
        AgentId::Claude => switches_hooks_off(text).then_some("disableAllHooks: true"),
        AgentId::Codex => codex_switch(text),
    }
}

fn codex_switch(text: &str) -> Option<&'static str> {
    let config = text.parse::<DocumentMut>().ok()?;
    let features = config.get("features")?;
    // `codex_hooks` is the old name.
    let switches = [("hooks", "features.hooks = false"), ("codex_hooks", "features.codex_hooks = false")];
    let off = switches.iter().find(|(key, _)| features.get(key).and_then(Item::as_bool) == Some(false));
    off.map(|(_, shown)| *shown)
}
