//! Where an agent's hooks come from besides its settings files: installed plugins, skills, and what its command line names. It finds the
//! files, and must not know what they say.

use std::path::{Path, PathBuf};

use castellan_agents::{
    self as agents, AgentId, FRONT_MATTER, GIVEN_SETTINGS, GivenHooks, HookFile, PLUGIN_HOOKS,
};

use super::settings::{Stamp, stamp};
use crate::files::read_limited;
use crate::limits::{HOOK_SOURCES_MAX, PLUGINS_PER_FOLDER_MAX};

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Sources {
    pub(super) files: Vec<Source>,
    /// Settings that stand on the command line itself.
    pub(super) settings: Vec<String>,
    /// What may bring hooks and cannot be looked into.
    pub(super) unread: Vec<String>,
    /// The folders and lists that they were found by: where one changes, there may be others.
    found_by: Vec<(PathBuf, Option<Stamp>)>,
}

/// A file that may bring hooks.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) file: HookFile,
    pub(super) path: PathBuf,
    /// The plugin whose it is, where settings can switch that off.
    pub(super) plugin: Option<String>,
}

impl Sources {
    /// Those of an agent that was started in `cwd` with these arguments, keeps its own files in `dir`, and reads a repository's in
    /// `levels`.
    pub(super) fn of(
        agent: AgentId,
        dir: Option<&Path>,
        cwd: &Path,
        levels: &[PathBuf],
        arguments: &[Vec<u8>],
    ) -> Sources {
        let mut sources = Sources::default();
        if agent != AgentId::Claude {
            return sources;
        }
        for given in agents::given_hooks(agent, arguments) {
            sources.add_given(given, cwd);
        }
        if let Some(dir) = dir {
            sources.add_front_matter(dir, None);
            sources.add_installed(dir);
        }
        for level in levels {
            sources.add_front_matter(&level.join(".claude"), None);
        }
        if sources.files.len() > HOOK_SOURCES_MAX {
            sources.files.truncate(HOOK_SOURCES_MAX);
            sources.unread.push(format!("more than {HOOK_SOURCES_MAX} files of plugins and skills"));
        }
        sources
    }

    /// Whether there may be others by now.
    pub(super) fn is_outdated(&self) -> bool {
        self.found_by.iter().any(|(path, before)| stamp(path) != *before)
    }

    fn add_given(&mut self, given: GivenHooks, cwd: &Path) {
        match given {
            GivenHooks::Settings(text) => self.settings.push(text),
            GivenHooks::SettingsFile(path) => self.add(GIVEN_SETTINGS, cwd.join(path), None),
            GivenHooks::Unread(what) => self.unread.push(what),
            GivenHooks::Plugin(path) => {
                let folder = cwd.join(path);
                self.add_plugin(&folder, None);
                for below in self.entries(&folder) {
                    self.add_plugin(&below, None);
                }
            }
        }
    }

    fn add_installed(&mut self, dir: &Path) {
        let installed = self.read(&dir.join(agents::INSTALLED_PLUGINS));
        let known = agents::marketplaces(&self.read(&dir.join(agents::KNOWN_MARKETPLACES)));
        for plugin in agents::installed_plugins(&installed) {
            self.add_plugin(Path::new(&plugin.root), Some(&plugin.name));
            let Some((name, place)) = plugin.name.rsplit_once('@') else { continue };
            let Some((_, folder)) = known.iter().find(|(known, _)| known == place) else { continue };
            let folder = Path::new(folder);
            let offered = agents::offered_plugins(&self.read(&folder.join(agents::MARKETPLACE)));
            for (_, source) in offered.iter().filter(|(offered, _)| offered == name) {
                self.add_plugin(&folder.join(source), Some(&plugin.name));
            }
        }
    }

    fn add_plugin(&mut self, root: &Path, name: Option<&str>) {
        let manifest = root.join(".claude-plugin/plugin.json");
        let named = agents::named_hook_files(&self.read(&manifest));
        for path in named.iter().map(String::as_str).chain([PLUGIN_HOOKS.path]) {
            self.add(PLUGIN_HOOKS, root.join(path), name);
        }
        self.add(PLUGIN_HOOKS, manifest, name);
        self.add_front_matter(root, name);
    }

    /// Skills, commands and sub-agents below a folder.
    fn add_front_matter(&mut self, base: &Path, plugin: Option<&str>) {
        for skill in self.entries(&base.join("skills")) {
            self.add(FRONT_MATTER, skill.join(FRONT_MATTER.path), plugin);
        }
        for folder in ["agents", "commands"] {
            for file in self.entries(&base.join(folder)) {
                if file.extension().is_some_and(|ending| ending == "md") {
                    self.add(FRONT_MATTER, file, plugin);
                }
            }
        }
    }

    fn add(&mut self, file: HookFile, path: PathBuf, plugin: Option<&str>) {
        // Without `./`: one file, one path.
        let path: PathBuf = path.components().collect();
        if self.files.len() <= HOOK_SOURCES_MAX && !self.files.iter().any(|known| known.path == path) {
            self.files.push(Source { file, path, plugin: plugin.map(str::to_owned) });
        }
    }

    /// What a folder holds, by name.
    fn entries(&mut self, folder: &Path) -> Vec<PathBuf> {
        self.found_by.push((folder.to_owned(), stamp(folder)));
        let found = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut entries: Vec<PathBuf> = found.take(PLUGINS_PER_FOLDER_MAX + 1).collect();
        if entries.len() > PLUGINS_PER_FOLDER_MAX {
            self.unread.push(format!("more than {PLUGINS_PER_FOLDER_MAX} entries of `{}`", folder.display()));
        }
        entries.sort();
        entries
    }

    /// A list. What cannot be read names nothing, to the agent neither.
    fn read(&mut self, file: &Path) -> String {
        self.found_by.push((file.to_owned(), stamp(file)));
        read_limited(file, agents::SETTINGS_BYTES_MAX as u64).unwrap_or_default()
    }
}
