//! [`HookSettings`]: the files from which one agent takes its hooks, and what changes in them that keeps castellan from being
//! asked, or lets others change what it has judged. It must not know what follows from that.
//!
//! Looked at anew, not watched (inotify): most of these files do not exist, so that every folder above them would have to be watched,
//! through every symbolic link on the way, and a watch that the system refuses would be a gap. A look is a `stat` for each.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use castellan_agents::{self as agents, AgentId, Foreign, HookCommand, HookFile, HookFileReport, Place};

use super::sources::Sources;
use crate::files::read_limited;
use crate::limits::SETTINGS_LEVELS_MAX;

/// The files from which an agent takes its hooks, as they were at the last look.
#[derive(Debug)]
pub struct HookSettings {
    agent: AgentId,
    /// The hook that belongs to this daemon.
    hook: Option<PathBuf>,
    files: Vec<Watched>,
    /// Where it was started, with what, and where its own files lie.
    start: Start,
    sources: Sources,
}

#[derive(Debug)]
struct Start {
    dir: Option<PathBuf>,
    cwd: PathBuf,
    levels: Vec<PathBuf>,
    arguments: Vec<Vec<u8>>,
}

#[derive(Debug)]
struct Watched {
    file: HookFile,
    path: PathBuf,
    /// The plugin whose it is, where settings can switch that off.
    plugin: Option<String>,
    stamp: Option<Stamp>,
    says: HookFileReport,
    /// Why it cannot be told what it says.
    unread: Option<String>,
}

/// What tells one state of a file from another, without its text. The last is the time of change, which nobody can set.
pub(super) type Stamp = (u64, u64, u64, i64, i64, i64, i64);

/// Something that has changed in an agent's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SettingsChange {
    /// castellan is not asked any more.
    HooksOff {
        /// The file that says so.
        file: PathBuf,
        /// How.
        how: String,
    },
    /// A hook of somebody else's is asked about the same calls.
    ForeignHook {
        /// The file that registers it.
        file: PathBuf,
        /// The hook.
        hook: Foreign,
    },
}

impl HookSettings {
    /// The files of an agent that was started in `cwd` with these arguments and keeps its own files in `dir`, as they are now.
    pub fn of(agent: AgentId, dir: Option<&Path>, cwd: &Path, arguments: Vec<Vec<u8>>) -> HookSettings {
        let levels = levels(cwd);
        let place = |file: &'static HookFile| -> Vec<PathBuf> {
            match file.place {
                Place::Machine => vec![PathBuf::from(file.path)],
                Place::User => dir.iter().map(|dir| dir.join(file.path)).collect(),
                Place::Workspace => levels.iter().map(|level| level.join(file.path)).collect(),
                // Not of this table.
                Place::CommandLine | Place::Plugin => Vec::new(),
            }
        };
        let mut seen = BTreeSet::new();
        let all = agents::hook_files(agent)
            .iter()
            .flat_map(|file| place(file).into_iter().map(move |path| (file, path)));
        // The user's own directory may lie above a repository, and is none of its.
        let files = all.filter(|(_, path)| seen.insert(path.clone()));
        let files = files.map(|(file, path)| Watched::new(*file, path, None)).collect();
        let hook = std::env::current_exe().ok().and_then(|own| real(&own.parent()?.join("castellan-hook")));
        let start = Start { dir: dir.map(Path::to_owned), cwd: cwd.to_owned(), levels, arguments };
        let mut settings = HookSettings { agent, hook, files, start, sources: Sources::default() };
        settings.find_sources();
        settings.look();
        settings
    }

    /// Looks where plugins, skills and the command line bring hooks from.
    fn find_sources(&mut self) {
        let Start { dir, cwd, levels, arguments } = &self.start;
        let mut sources = Sources::of(self.agent, dir.as_deref(), cwd, levels, arguments);
        let found = std::mem::take(&mut sources.files);
        let is_found = |watched: &Watched| found.iter().any(|source| source.path == watched.path);
        self.files.retain(|watched| watched.file.place != Place::Plugin || is_found(watched));
        for source in found {
            if !self.files.iter().any(|watched| watched.path == source.path) {
                self.files.push(Watched::new(source.file, source.path, source.plugin));
            }
        }
        self.sources = sources;
    }

    /// Looks at the files again: what has changed since the last look.
    pub(crate) fn look(&mut self) -> Vec<SettingsChange> {
        if self.sources.is_outdated() {
            self.find_sources();
        }
        let off = self.plugins_off();
        let registered = self.registers(|_| true);
        let mut changes = Vec::new();
        let mut gone = Vec::new();
        for watched in &mut self.files {
            let before = std::mem::take(&mut watched.says);
            let was_unread = watched.unread.take();
            if !watched.read_again(self.agent, before.clone(), was_unread.clone()) {
                continue;
            }
            if watched.plugin.as_ref().is_some_and(|plugin| off.contains(plugin)) {
                continue;
            }
            if watched.unread.is_some() && was_unread.is_none() && watched.file.place != Place::Plugin {
                let why = watched.unread.clone().unwrap_or_default();
                let how = format!("it cannot be told what is in it: {why}");
                changes.push(SettingsChange::HooksOff { file: watched.path.clone(), how });
            }
            if let Some(switch) = watched.says.off.filter(|_| before.off.is_none()) {
                let how = format!("`{switch}` is in it now");
                changes.push(SettingsChange::HooksOff { file: watched.path.clone(), how });
            }
            if !before.ours.is_empty() && watched.says.ours.is_empty() {
                gone.push(watched.path.clone());
            }
            let new = foreign(&watched.says, self.hook.as_deref());
            let old = foreign(&before, self.hook.as_deref());
            changes.extend(
                new.into_iter()
                    .filter(|hook| !old.contains(hook))
                    .map(|hook| SettingsChange::ForeignHook { file: watched.path.clone(), hook }),
            );
        }
        if registered && !self.registers(|_| true) {
            let how = || "castellan's hook is not in it any more".to_owned();
            changes.extend(gone.into_iter().map(|file| SettingsChange::HooksOff { file, how: how() }));
        }
        changes
    }

    /// Whether castellan's hook is registered where no user and no repository can switch it off.
    pub(crate) fn is_managed(&self) -> bool {
        self.registers(|place| place == Place::Machine)
    }

    /// Why this agent does not ask castellan, as far as its settings say; `None` where it does.
    pub(crate) fn unguarded(&self) -> Option<String> {
        if self.is_managed() {
            return None;
        }
        if let Some(switch) = self.given().find_map(|says| says.off) {
            return Some(format!("its command line has `{switch}`"));
        }
        let off = self.files.iter().find_map(|watched| Some((watched, watched.says.off?)));
        match off {
            Some((watched, switch)) => Some(format!("`{}` has `{switch}`", watched.path.display())),
            None if self.registers(|_| true) => None,
            None => Some("no settings of it register castellan's hook".to_owned()),
        }
    }

    /// Files of a repository that switch the user's hooks off, and how.
    pub fn switched_off(&self) -> Vec<(&Path, &'static str)> {
        let of_repository = self.files.iter().filter(|watched| watched.file.place == Place::Workspace);
        of_repository.filter_map(|watched| Some((watched.path.as_path(), watched.says.off?))).collect()
    }

    /// Hooks of others that are asked about the same calls, and the files that register them.
    pub fn foreign(&self) -> Vec<(&Path, Foreign)> {
        let off = self.plugins_off();
        let of = |watched: &Watched| foreign(&watched.says, self.hook.as_deref());
        let counts = self
            .files
            .iter()
            .filter(|watched| watched.plugin.as_ref().is_none_or(|name| !off.contains(name)));
        let of_files =
            counts.flat_map(|watched| of(watched).into_iter().map(|hook| (watched.path.as_path(), hook)));
        let line = Path::new("the command line");
        let given = self.given().flat_map(|says| foreign(&says, self.hook.as_deref()));
        // What cannot be looked into may hold any.
        let event = agents::question_event(self.agent);
        let unread =
            self.sources.unread.iter().map(|what| Foreign { event: event.to_owned(), command: what.clone() });
        of_files.chain(given.chain(unread).map(|hook| (line, hook))).collect()
    }

    /// What the settings say that stand on the command line.
    fn given(&self) -> impl Iterator<Item = HookFileReport> {
        self.sources
            .settings
            .iter()
            .map(|text| agents::read_hook_file(self.agent, &agents::GIVEN_SETTINGS, text))
    }

    /// Plugins that some settings switch off and none on.
    fn plugins_off(&self) -> BTreeSet<String> {
        let given: Vec<HookFileReport> = self.given().collect();
        let said =
            || self.files.iter().map(|watched| &watched.says).chain(&given).flat_map(|says| &says.plugins);
        let is_on = |name: &String| said().any(|(other, on)| other == name && *on);
        said().filter(|(name, on)| !on && !is_on(name)).map(|(name, _)| name.clone()).collect()
    }

    /// Why it cannot be told which hooks the agent has, where that is so.
    pub(crate) fn unseen(&self) -> Option<String> {
        if self.start.dir.is_none() {
            return Some("it cannot be seen where the agent has its settings".to_owned());
        }
        let unread =
            |watched: &Watched| Some(format!("`{}`: {}", watched.path.display(), watched.unread.as_ref()?));
        self.files.iter().find_map(unread)
    }

    fn registers(&self, is_meant: impl Fn(Place) -> bool) -> bool {
        self.files.iter().any(|watched| !watched.says.ours.is_empty() && is_meant(watched.file.place))
    }
}

impl Watched {
    fn new(file: HookFile, path: PathBuf, plugin: Option<String>) -> Watched {
        Watched { file, path, plugin, stamp: None, says: HookFileReport::default(), unread: None }
    }

    /// Reads it again if it is another than at the last look, which found `before` and `was_unread`.
    fn read_again(&mut self, agent: AgentId, before: HookFileReport, was_unread: Option<String>) -> bool {
        let stamp = stamp(&self.path);
        if stamp == self.stamp {
            (self.says, self.unread) = (before, was_unread);
            return false;
        }
        self.stamp = stamp;
        if stamp.is_some() {
            match read_limited(&self.path, agents::SETTINGS_BYTES_MAX as u64) {
                Ok(text) => self.says = agents::read_hook_file(agent, &self.file, &text),
                // Removed in between: the next look sees that.
                Err(error) if error.kind() == io::ErrorKind::NotFound => self.stamp = None,
                Err(error) => self.unread = Some(error.to_string()),
            }
        }
        true
    }
}

/// What others register: also a hook that only has castellan's name, as far as it is known which one is castellan's.
fn foreign(says: &HookFileReport, own: Option<&Path>) -> Vec<Foreign> {
    let is_other = |hook: &&HookCommand| own.is_some() && real(Path::new(&hook.program)).as_deref() != own;
    let named = says.ours.iter().filter(is_other).map(|hook| Foreign {
        event: "PreToolUse".to_owned(),
        command: format!("{} --home {}", hook.program, hook.home),
    });
    says.foreign.iter().cloned().chain(named).collect()
}

fn real(path: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(path).ok()
}

/// The working directory and those above it, up to the one that holds `.git`; only itself outside of a repository.
fn levels(cwd: &Path) -> Vec<PathBuf> {
    let above: Vec<&Path> = cwd.ancestors().take(SETTINGS_LEVELS_MAX).collect();
    let root = above.iter().position(|dir| dir.join(".git").exists()).unwrap_or(0);
    above.into_iter().take(root + 1).map(Path::to_owned).collect()
}

/// Symlinks are followed, as the agents do.
pub(super) fn stamp(path: &Path) -> Option<Stamp> {
    let found = std::fs::metadata(path).ok()?;
    Some((
        found.dev(),
        found.ino(),
        found.size(),
        found.mtime(),
        found.mtime_nsec(),
        found.ctime(),
        found.ctime_nsec(),
    ))
}

#[cfg(test)]
mod tests;
