//! Sources of an agent's hooks besides its settings files: installed plugins, skills, and the command line. This module
//! finds the files and must not know their contents.
//!
//! An unreadable source is reported as unread, never as empty. All lists are walked once and share a limit of steps.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use castellan_agents::{
    self as agents, AgentId, FRONT_MATTER, GivenHooks, HookFile, HookFileReport, OfferedPlugin, PLUGIN_HOOKS,
    PluginError, PluginFamily, PluginFiles,
};

use super::agent_start::AgentStart;
use super::watched::{Owners, Stamp, is_absent, stamp};
use crate::limits::{HOOK_LOOKUPS_MAX, HOOK_SOURCES_MAX, HOOK_STEPS_MAX, PLUGINS_PER_FOLDER_MAX};
use crate::sight::{self, read_text};

/// The sources that were found.
#[derive(Debug, Default)]
pub(super) struct Sources {
    pub(super) files: BTreeMap<(PathBuf, HookFile), Owners>,
    /// The folders of the plugins that each file of hooks belongs to.
    pub(super) plugins: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    /// Hooks in other texts: on the command line, in a marketplace's list.
    pub(super) texts: Vec<FoundText>,
    /// Switches of the command line that switch hooks off.
    pub(super) off: Vec<String>,
    /// The configuration profile of the command line.
    pub(super) profile: Option<String>,
    /// True if the command line permits hooks without trust.
    pub(super) trusts_all: bool,
    /// Unreadable sources that may contain hooks, with the reason.
    pub(super) unread: Vec<(PathBuf, String)>,
    /// The folders and lists that were read. If one changes, the sources must be found again.
    found_by: Vec<(PathBuf, Option<Stamp>)>,
    /// The walked folders.
    walked: HashSet<(u64, u64)>,
    /// Number of walked files and folders.
    steps: usize,
    /// True if there was more than the limits permit.
    is_cut: bool,
}

/// Hooks in a text that is no file of its own.
#[derive(Debug)]
pub(super) struct FoundText {
    pub(super) place: PathBuf,
    pub(super) owner: Option<String>,
    pub(super) says: HookFileReport,
}

/// The place of hooks on the command line.
pub(super) fn command_line() -> PathBuf {
    PathBuf::from("the command line")
}

impl Sources {
    /// Finds the sources of an agent with these start data, including those of a repository in `levels`.
    pub(super) fn of(agent: AgentId, start: &AgentStart, levels: &[PathBuf]) -> Sources {
        let mut sources = Sources::default();
        for given in agents::given_hooks(agent, start.arguments.as_deref().unwrap_or_default()) {
            sources.add_given(agent, given, start);
        }
        let dir = start.dir.as_deref();
        match agents::plugin_family(agent) {
            PluginFamily::Marketplaces => sources.add_marketplaces(agent, dir, &start.cwd, levels),
            PluginFamily::Cache => dir.into_iter().for_each(|dir| sources.add_cache(agent, dir)),
            PluginFamily::Extensions => dir.into_iter().for_each(|dir| sources.add_extensions(agent, dir)),
        }
        if sources.is_cut {
            let most = format!(
                "more than {HOOK_SOURCES_MAX} files of plugins and skills, or {HOOK_LOOKUPS_MAX} folders"
            );
            sources.unread.push((dir.unwrap_or(&start.cwd).to_owned(), most));
        }
        sources
    }

    /// Reports whether a read folder or list has changed.
    pub(super) fn is_outdated(&self) -> bool {
        self.found_by.iter().any(|(path, before)| stamp(path).unwrap_or_default() != *before)
    }

    fn add_given(&mut self, agent: AgentId, given: GivenHooks, start: &AgentStart) {
        let settings = agents::given_settings(agent);
        match given {
            GivenHooks::Off(switch) => self.off.push(switch),
            GivenHooks::Settings(text) => {
                let says = agents::read_hook_file(agent, &settings, &text);
                self.texts.push(FoundText { place: command_line(), owner: None, says });
            }
            GivenHooks::SettingsFile(path) => self.add(settings, start.cwd.join(path), None),
            GivenHooks::TrustsAll => self.trusts_all = true,
            GivenHooks::Unread(what) => self.unread.push((command_line(), what)),
            GivenHooks::Folder(path) => {
                self.add_front_matter(&start.cwd.join(path).join(agents::directory_name(agent)), None);
            }
            GivenHooks::Profile(name) => {
                let config = start.dir.as_ref().zip(agents::given_config(agent, &name));
                if let Some((dir, (file, path))) = config {
                    self.add(file, dir.join(path), None);
                }
                self.profile = Some(name);
            }
            GivenHooks::Plugin(path) => {
                let folder = start.cwd.join(path);
                self.add_plugin(agent, &folder, None, &PluginFiles::default());
                for below in self.entries(&folder) {
                    self.add_plugin(agent, &below, None, &PluginFiles::default());
                }
            }
        }
    }

    fn add_marketplaces(&mut self, agent: AgentId, dir: Option<&Path>, cwd: &Path, levels: &[PathBuf]) {
        for file in self.entries(Path::new(agents::MANAGED_FOLDER)) {
            if file.extension().is_some_and(|ending| ending == "json") {
                self.add(agents::MANAGED_SETTINGS, file, None);
            }
        }
        let of_levels = levels.iter().map(|level| level.join(agents::directory_name(agent)));
        let folders = dir.map(Path::to_owned).into_iter().chain(of_levels);
        for folder in folders.chain([PathBuf::from(agents::MANAGED_TEXTS)]) {
            self.add_front_matter(&folder, None);
        }
        if let Some(dir) = dir {
            self.add_installed(agent, dir, cwd);
        }
    }

    /// Adds the folders `MARKETPLACE/PLUGIN/VERSION`.
    fn add_cache(&mut self, agent: AgentId, dir: &Path) {
        let mut folders = vec![dir.join(agents::CACHED_PLUGINS)];
        for _ in 0..3 {
            folders = folders.iter().flat_map(|folder| self.entries(folder)).collect();
        }
        for plugin in folders {
            self.add_plugin(agent, &plugin, None, &PluginFiles::default());
        }
    }

    /// Adds the extensions, each in a folder.
    fn add_extensions(&mut self, agent: AgentId, dir: &Path) {
        for extension in self.entries(&dir.join(agents::EXTENSIONS)) {
            if sight::is_dir(&extension) {
                self.add_plugin(agent, &extension, None, &PluginFiles::default());
            }
        }
    }

    /// Adds installed plugins. Relative folders are resolved against the agent's working directory.
    fn add_installed(&mut self, agent: AgentId, dir: &Path, cwd: &Path) {
        let installed = self.list(&dir.join(agents::INSTALLED_PLUGINS), agents::installed_plugins);
        let known = self.list(&dir.join(agents::KNOWN_MARKETPLACES), agents::marketplaces);
        let known: HashMap<String, PathBuf> =
            known.into_iter().map(|(name, folder)| (name, cwd.join(folder))).collect();
        let mut offered: HashMap<&Path, HashMap<String, Vec<OfferedPlugin>>> = HashMap::new();
        for plugin in installed {
            let owner = Some(plugin.name.as_str());
            let place = plugin.name.rsplit_once('@');
            let folder = place.and_then(|(name, place)| Some((name, known.get(place)?.as_path())));
            let Some((name, folder)) = folder else {
                self.add_plugin(agent, &cwd.join(&plugin.root), owner, &PluginFiles::default());
                continue;
            };
            let of_place = offered.entry(folder).or_insert_with(|| {
                let mut of_place: HashMap<String, Vec<OfferedPlugin>> = HashMap::new();
                for one in self.list(&folder.join(agents::MARKETPLACE), agents::offered_plugins) {
                    of_place.entry(one.name.clone()).or_default().push(one);
                }
                of_place
            });
            let offers = of_place.get(name).map(Vec::as_slice).unwrap_or_default();
            self.add_plugin(agent, &cwd.join(&plugin.root), owner, &PluginFiles::default());
            for offer in offers {
                self.add_plugin(agent, &cwd.join(&plugin.root), owner, &offer.files);
                for root in &offer.roots {
                    self.add_plugin(agent, &folder.join(root), owner, &offer.files);
                }
                if let Some(text) = &offer.hooks {
                    let says = agents::read_hook_file(agent, &PLUGIN_HOOKS, text);
                    let place = folder.join(agents::MARKETPLACE);
                    self.texts.push(FoundText { place, owner: owner.map(str::to_owned), says });
                }
            }
        }
    }

    /// Adds a plugin in the folder `root`, with files in addition to those of its manifest.
    fn add_plugin(&mut self, agent: AgentId, root: &Path, owner: Option<&str>, more: &PluginFiles) {
        let manifest = root.join(agents::plugin_manifest(agent));
        let files = self.list(&manifest, |text| agents::plugin_files(text).map(|files| vec![files]));
        for files in files.iter().chain([more]) {
            for path in &files.hooks {
                self.add_hooks(root, root.join(path), owner);
            }
            for path in &files.texts {
                self.walk(root.join(path), owner);
            }
        }
        self.add_hooks(root, root.join(PLUGIN_HOOKS.path), owner);
        self.add_hooks(root, manifest, owner);
        if agents::plugin_family(agent) == PluginFamily::Marketplaces {
            self.add_front_matter(root, owner);
        }
    }

    /// Adds a file of hooks of the plugin in the folder `root`.
    fn add_hooks(&mut self, root: &Path, path: PathBuf, owner: Option<&str>) {
        let path = plain(&path);
        self.add(PLUGIN_HOOKS, path.clone(), owner);
        if self.files.contains_key(&(path.clone(), PLUGIN_HOOKS)) {
            self.plugins.entry(path).or_default().insert(plain(root));
        }
    }

    /// Adds skills, commands and sub-agents below a folder.
    fn add_front_matter(&mut self, base: &Path, owner: Option<&str>) {
        for skill in self.entries(&base.join("skills")) {
            self.add(FRONT_MATTER, skill.join(FRONT_MATTER.path), owner);
        }
        for folder in ["agents", "commands"] {
            self.walk(base.join(folder), owner);
        }
    }

    /// Adds a Markdown file, or all in a folder and its subfolders. Each folder is walked once per call.
    fn walk(&mut self, path: PathBuf, owner: Option<&str>) {
        self.walked.clear();
        let mut paths = vec![path];
        while let Some(path) = paths.pop() {
            self.steps += 1;
            if self.steps > HOOK_STEPS_MAX {
                self.is_cut = true;
                return;
            }
            match sight::metadata(&path) {
                Ok(found) if found.is_dir() => {
                    if self.walked.insert((found.dev(), found.ino())) {
                        paths.extend(self.entries(&path));
                    }
                }
                _ if path.extension().is_some_and(|ending| ending == "md") => {
                    self.add(FRONT_MATTER, path, owner);
                }
                Ok(_) => {}
                // The folder does not exist yet, or is not accessible.
                Err(error) => {
                    self.note(&path);
                    self.fail(&path, &error);
                }
            }
        }
    }

    fn add(&mut self, file: HookFile, path: PathBuf, owner: Option<&str>) {
        let key = (plain(&path), file);
        if self.files.len() >= HOOK_SOURCES_MAX && !self.files.contains_key(&key) {
            self.is_cut = true;
            return;
        }
        self.files.entry(key).or_default().insert(owner.map(str::to_owned));
    }

    /// Returns the entries of a folder, by name.
    fn entries(&mut self, folder: &Path) -> Vec<PathBuf> {
        if !self.note(folder) {
            return Vec::new();
        }
        let found = sight::read_dir(folder).and_then(|entries| {
            entries.take(PLUGINS_PER_FOLDER_MAX + 1).map(|entry| Ok(entry?.path)).collect()
        });
        let mut entries: Vec<PathBuf> = found.unwrap_or_else(|error| {
            self.fail(folder, &error);
            Vec::new()
        });
        if entries.len() > PLUGINS_PER_FOLDER_MAX {
            let what = format!("more than {PLUGINS_PER_FOLDER_MAX} entries");
            self.unread.push((folder.to_owned(), what));
        }
        entries.sort();
        entries
    }

    /// Returns the entries of a list. An absent list is empty; an unreadable list may name any source.
    fn list<T>(&mut self, file: &Path, parse: impl Fn(&str) -> Result<Vec<T>, PluginError>) -> Vec<T> {
        if !self.note(file) {
            return Vec::new();
        }
        let parsed = match read_text(file, agents::SETTINGS_BYTES_MAX as u64) {
            Ok(text) => parse(&text),
            Err(error) => {
                self.fail(file, &error);
                return Vec::new();
            }
        };
        parsed.unwrap_or_else(|why| {
            self.unread.push((file.to_owned(), format!("it cannot be told what it names: {why}")));
            Vec::new()
        })
    }

    fn fail(&mut self, path: &Path, error: &io::Error) {
        if !is_absent(error) {
            self.unread.push((path.to_owned(), format!("it cannot be told what it names: {error}")));
        }
    }

    /// Stores a folder or list that is read. Returns `false` if the limit is reached.
    fn note(&mut self, path: &Path) -> bool {
        if self.found_by.len() >= HOOK_LOOKUPS_MAX {
            self.is_cut = true;
            return false;
        }
        self.found_by.push((path.to_owned(), stamp(path).unwrap_or_default()));
        true
    }
}

/// Removes `./`, so that each file has a single path.
fn plain(path: &Path) -> PathBuf {
    path.components().collect()
}
