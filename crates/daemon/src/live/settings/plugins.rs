//! Hooks that plugins bring: castellan's own among them, and the plugins that settings enable and disable. It must not
//! know where plugins are installed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use castellan_agents::{self as agents, HookCommand, Place, PluginFamily};

use super::super::watched::Watched;
use super::HookSettings;

impl HookSettings {
    /// Returns castellan's own question hooks in a file, with their programs as the agent starts them.
    pub(super) fn ours<'w>(&'w self, watched: &'w Watched) -> impl Iterator<Item = HookCommand> + 'w {
        let ours = watched.report().ours.iter().filter(|hook| self.is_own(hook, &watched.path));
        ours.map(|hook| {
            let program = self.programs(hook, &watched.path).into_iter().next();
            HookCommand { program: program.unwrap_or_else(|| hook.program.clone()), ..hook.clone() }
        })
    }

    /// Reports whether a hook in a file is castellan's.
    pub(super) fn is_own(&self, hook: &HookCommand, file: &Path) -> bool {
        self.programs(hook, file).iter().all(|program| self.own.is_hook(program, &hook.home))
    }

    /// Returns the programs that the agent may start for a hook: several for a file of several plugins.
    fn programs(&self, hook: &HookCommand, file: &Path) -> Vec<String> {
        let Some(roots) = self.sources.plugins.get(file) else { return vec![hook.program.clone()] };
        let program =
            |root: &PathBuf| agents::program_in_plugin(self.agent, &hook.program, &root.to_string_lossy());
        roots.iter().map(program).collect()
    }

    /// Returns castellan's question hooks that a plugin brings, with the file, and true if the settings show that the
    /// plugin is on. Otherwise only the agent knows.
    pub fn in_plugins(&self) -> Vec<(&Path, HookCommand, bool)> {
        let on = self.plugins_on();
        let of_plugins = self.files.iter().filter(|watched| watched.file.place == Place::Plugin);
        let found = of_plugins.filter_map(|watched| {
            Some((watched.path.as_path(), self.ours(watched).next()?, self.is_on(watched, &on)))
        });
        found.collect()
    }

    /// Reports whether a file is read for certain: a settings file, or one of a plugin that is on. Only Claude Code's
    /// settings show which plugins are on.
    pub(super) fn is_on(&self, watched: &Watched, on: &BTreeSet<String>) -> bool {
        let shows_state = agents::plugin_family(self.agent) == PluginFamily::Marketplaces;
        let is_owner_on = |owner: &Option<String>| owner.as_ref().is_none_or(|name| on.contains(name));
        match &watched.owners {
            None => true,
            Some(_) if watched.file.place == Place::Plugin && !shows_state => false,
            Some(owners) => owners.iter().any(is_owner_on),
        }
    }

    /// Returns the plugins that some settings enable and none disable (measured on Claude Code 2.1.330: a repository's
    /// settings win over the user's).
    pub(super) fn plugins_on(&self) -> BTreeSet<String> {
        let (on, off): (Vec<_>, Vec<_>) = self.plugins_said().partition(|(_, is_on)| *is_on);
        let mut on: BTreeSet<String> = on.into_iter().map(|(name, _)| name.clone()).collect();
        for (name, _) in off {
            on.remove(name);
        }
        on
    }

    fn plugins_said(&self) -> impl Iterator<Item = &(String, bool)> {
        let given = self.sources.texts.iter().map(|text| &text.says);
        self.files.iter().map(Watched::report).chain(given).flat_map(|report| &report.plugins)
    }

    /// Returns the plugins that some settings disable and none enable.
    pub(super) fn plugins_off(&self) -> BTreeSet<String> {
        let (on, off): (Vec<_>, Vec<_>) = self.plugins_said().partition(|(_, is_on)| *is_on);
        let mut off: BTreeSet<String> = off.into_iter().map(|(name, _)| name.clone()).collect();
        for (name, _) in on {
            off.remove(name);
        }
        off
    }
}
