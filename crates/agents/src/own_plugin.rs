//! castellan's own plugin for an agent: its hooks, and the place of a hook's program. `cargo xtask gen` writes
//! [`own_plugin_hooks`] into `plugins/`. This module must not know where a plugin is installed.

use crate::agent::AgentId;
use crate::family::HookCommand;
use crate::plugins::MARKETPLACE;
use crate::settings::{HOOK_NAME, register};

/// The folder of castellan's programs, relative to the plugin.
pub const OWN_PLUGIN_PROGRAMS: &str = "bin";

/// The lists that name the plugin, relative to the folder above the plugin: Claude Code's and Codex's.
pub const OWN_MARKETPLACES: [&str; 2] = [MARKETPLACE, ".agents/plugins/marketplace.json"];

/// Returns the hooks of castellan's plugin, as `castellan install` registers them, but for the program: it is in the
/// plugin. `home` is the value of the hook's `--home`. `None` if castellan has no plugin for this agent.
pub fn own_plugin_hooks(agent: AgentId, home: &str) -> Option<String> {
    let root = agent.spec().plugin.as_ref()?.root;
    let program = format!("{root}/{OWN_PLUGIN_PROGRAMS}/{HOOK_NAME}");
    register(agent, "", &HookCommand { program, home: home.to_owned() }).ok()
}

/// Returns the program of a hook in a plugin below `root`, as the agent starts it.
pub fn program_in_plugin(agent: AgentId, program: &str, root: &str) -> String {
    match agent.spec().plugin.as_ref().and_then(|plugin| program.strip_prefix(plugin.root)) {
        Some(below) if below.starts_with('/') => format!("{root}{below}"),
        Some(_) | None => program.to_owned(),
    }
}

/// Returns the command by which a person removes castellan's plugin.
pub fn uninstall_own_plugin(agent: AgentId) -> Option<&'static str> {
    Some(agent.spec().plugin.as_ref()?.uninstall)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook_files::{PLUGIN_HOOKS, read_hook_file};

    #[test]
    fn the_hooks_of_the_plugin_are_castellans_own() {
        for (agent, root) in [
            (AgentId::CLAUDE, "${CLAUDE_PLUGIN_ROOT}"),
            (AgentId::CODEX, "${PLUGIN_ROOT}"),
            (AgentId::GEMINI, "${extensionPath}"),
        ] {
            let read = read_hook_file(agent, &PLUGIN_HOOKS, &own_plugin_hooks(agent, "own").unwrap());
            let hook = HookCommand { program: format!("{root}/bin/castellan-hook"), home: "own".to_owned() };
            assert_eq!(read.ours, std::slice::from_ref(&hook), "{agent:?}");
            assert_eq!((read.foreign, read.unread), (Vec::new(), None), "{agent:?}");
            assert_eq!(program_in_plugin(agent, &hook.program, "/p"), "/p/bin/castellan-hook");
        }
        assert_eq!(own_plugin_hooks(AgentId::QWEN, "own"), None);
    }

    #[test]
    fn only_the_beginning_of_a_program_names_the_plugin() {
        let check = |program: &str, expected: &str| {
            assert_eq!(program_in_plugin(AgentId::CLAUDE, program, "/p"), expected);
        };
        check("${CLAUDE_PLUGIN_ROOT}/x", "/p/x");
        check("/b/castellan-hook", "/b/castellan-hook");
        check("${CLAUDE_PLUGIN_ROOT}x/castellan-hook", "${CLAUDE_PLUGIN_ROOT}x/castellan-hook");
        check("/a/${CLAUDE_PLUGIN_ROOT}/x", "/a/${CLAUDE_PLUGIN_ROOT}/x");
    }
}
