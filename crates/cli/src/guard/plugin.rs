//! [`OfPlugin`]: the hooks of castellan's own plugin for an agent. This module must not know other registrations.

use std::path::PathBuf;

use castellan_agents::{AgentId, HookCommand, uninstall_own_plugin};
use castellan_daemon::{HookSettings, Layout};

use super::{Fault, Place, elsewhere, of_program};

/// The question hook of castellan's own plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OfPlugin {
    pub(crate) hook: HookCommand,
    /// The file that registers it.
    pub(crate) file: PathBuf,
    /// True if the settings show that the agent runs it.
    pub(crate) is_on: bool,
}

impl OfPlugin {
    /// Returns the hook of a plugin that is on, or else of one that may be on; `None` if no plugin has one.
    pub(super) fn of(settings: &HookSettings) -> Option<OfPlugin> {
        let found = settings.in_plugins().into_iter();
        let mut found = found.map(|(file, hook, is_on)| OfPlugin { hook, file: file.to_owned(), is_on });
        let first = found.next()?;
        Some(if first.is_on { first } else { found.find(|other| other.is_on).unwrap_or(first) })
    }

    /// Returns the faults of the hook.
    pub(super) fn faults(&self, agent: AgentId, settings: &HookSettings, layout: &Layout) -> Vec<Fault> {
        let program = of_program(agent, Place::Plugin, &self.hook.program, settings);
        elsewhere(agent, Place::Plugin, &self.hook, layout).into_iter().chain(program).collect()
    }

    /// Says that the plugin stays, for `castellan uninstall`.
    pub(crate) fn stays(&self, agent: AgentId) -> String {
        let (title, file) = (agent.title(), self.file.display());
        let uninstall = uninstall_own_plugin(agent).unwrap_or("remove the plugin");
        format!("{title} has castellan's plugin (`{file}`): first `{uninstall}`, then this command again")
    }
}
