//! [`HookSettings`]: the files from which one agent takes its hooks, and what changes in them that keeps castellan from being
//! asked, or lets others change what it has judged. It must not know what follows from that.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use castellan_agents::{self as agents, AgentId, Foreign, HookCommand, HookFile, HookFileReport, Place};

use crate::files::read_limited;
use crate::limits::SETTINGS_LEVELS_MAX;

/// The files from which an agent takes its hooks, as they were at the last look.
#[derive(Debug)]
pub struct HookSettings {
    agent: AgentId,
    /// The hook that belongs to this daemon.
    hook: Option<PathBuf>,
    files: Vec<Watched>,
    /// Where the agent keeps its own files is known.
    knows_dir: bool,
}

#[derive(Debug)]
struct Watched {
    file: &'static HookFile,
    path: PathBuf,
    stamp: Option<Stamp>,
    says: HookFileReport,
    /// Why it cannot be told what it says.
    unread: Option<String>,
}

/// What tells one state of a file from another, without its text. The last is the time of change, which nobody can set.
type Stamp = (u64, u64, u64, i64, i64, i64, i64);

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
    /// The files of an agent that was started in `cwd` and keeps its own files in `dir`, as they are now.
    pub fn of(agent: AgentId, dir: Option<&Path>, cwd: &Path) -> HookSettings {
        let levels = levels(cwd);
        let place = |file: &'static HookFile| -> Vec<PathBuf> {
            match file.place {
                Place::Machine => vec![PathBuf::from(file.path)],
                Place::User => dir.iter().map(|dir| dir.join(file.path)).collect(),
                Place::Workspace => levels.iter().map(|level| level.join(file.path)).collect(),
            }
        };
        let mut seen = BTreeSet::new();
        let all = agents::hook_files(agent)
            .iter()
            .flat_map(|file| place(file).into_iter().map(move |path| (file, path)));
        // The user's own directory may lie above a repository, and is none of its.
        let files = all.filter(|(_, path)| seen.insert(path.clone()));
        let watched = |(file, path): (&'static HookFile, PathBuf)| Watched {
            file,
            path,
            stamp: None,
            says: HookFileReport::default(),
            unread: None,
        };
        let hook = std::env::current_exe().ok().and_then(|own| real(&own.parent()?.join("castellan-hook")));
        let knows_dir = dir.is_some();
        let mut settings = HookSettings { agent, hook, files: files.map(watched).collect(), knows_dir };
        settings.look();
        settings
    }

    /// Looks at the files again: what has changed since the last look.
    pub(crate) fn look(&mut self) -> Vec<SettingsChange> {
        let registered = self.registers(|_| true);
        let mut changes = Vec::new();
        let mut gone = Vec::new();
        for watched in &mut self.files {
            let before = std::mem::take(&mut watched.says);
            let was_unread = watched.unread.take();
            if !watched.read_again(self.agent, before.clone(), was_unread.clone()) {
                continue;
            }
            if watched.unread.is_some() && was_unread.is_none() {
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
        let of = |watched: &Watched| foreign(&watched.says, self.hook.as_deref());
        self.files
            .iter()
            .flat_map(|watched| of(watched).into_iter().map(|hook| (watched.path.as_path(), hook)))
            .collect()
    }

    /// Why it cannot be told which hooks the agent has, where that is so.
    pub(crate) fn unseen(&self) -> Option<String> {
        if !self.knows_dir {
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
                Ok(text) => self.says = agents::read_hook_file(agent, self.file, &text),
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
fn stamp(path: &Path) -> Option<Stamp> {
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
mod tests {
    use super::*;

    /// A repository below a home, and what is looked at of an agent that was started within it.
    struct Place {
        dir: tempfile::TempDir,
        settings: HookSettings,
    }

    impl Place {
        fn new(agent: AgentId) -> Place {
            let dir = tempfile::tempdir().unwrap();
            let cwd = dir.path().join("repo/a/b");
            std::fs::create_dir_all(&cwd).unwrap();
            std::fs::create_dir_all(dir.path().join("repo/.git")).unwrap();
            std::fs::create_dir_all(dir.path().join("own")).unwrap();
            let settings = HookSettings::of(agent, Some(&dir.path().join("own")), &cwd);
            Place { dir, settings }
        }

        /// Writes a file and checks what is told of it.
        fn check(&mut self, file: &str, text: &str, expected: &[&str]) {
            let path = self.dir.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            self.looks(expected);
        }

        fn looks(&mut self, expected: &[&str]) {
            let told = |change: SettingsChange| match change {
                SettingsChange::HooksOff { file, how } => (file, how),
                SettingsChange::ForeignHook { file, hook } => {
                    (file, format!("{} {}", hook.event, hook.command))
                }
            };
            let short = |(file, what): (PathBuf, String)| {
                format!("{}: {what}", file.strip_prefix(self.dir.path()).unwrap().display())
            };
            let found: Vec<String> = self.settings.look().into_iter().map(told).map(short).collect();
            assert_eq!(found, expected);
            assert_eq!(self.settings.look(), []);
        }
    }

    fn ours() -> String {
        let hook = HookCommand { program: "/b/castellan-hook".to_owned(), home: "/h".to_owned() };
        agents::register(AgentId::Claude, "", &hook).unwrap()
    }

    const OFF: &str = r#"{"disableAllHooks":true}"#;
    const OTHER: &str = r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/x"}]}]}}"#;

    #[test]
    fn switches_are_told_once_wherever_the_agent_reads_them() {
        let mut claude = Place::new(AgentId::Claude);
        for file in
            ["own/settings.json", "repo/.claude/settings.json", "repo/a/b/.claude/settings.local.json"]
        {
            claude.check(file, OFF, &[&format!("{file}: `disableAllHooks: true` is in it now")]);
            claude.check(file, "{}", &[]);
            claude.check(file, OFF, &[&format!("{file}: `disableAllHooks: true` is in it now")]);
        }
        // Above the repository, and of another name.
        claude.check(".claude/settings.json", OFF, &[]);
        claude.check("repo/.claude/other.json", OFF, &[]);
        assert_eq!(claude.settings.switched_off().len(), 2);
        let mut codex = Place::new(AgentId::Codex);
        let told = "repo/.codex/config.toml: `features.hooks = false` is in it now";
        codex.check("repo/.codex/config.toml", "[features]\nhooks = false\n", &[told]);
    }

    #[test]
    fn a_hook_that_is_gone_is_told_and_one_that_is_elsewhere_still_is_not() {
        let mut place = Place::new(AgentId::Claude);
        assert_eq!(
            place.settings.unguarded().as_deref(),
            Some("no settings of it register castellan's hook")
        );
        place.check("own/settings.json", &ours(), &[]);
        assert_eq!(place.settings.unguarded(), None);
        place.check(
            "own/settings.json",
            "{}",
            &["own/settings.json: castellan's hook is not in it any more"],
        );
        place.check("own/settings.json", &ours(), &[]);
        std::fs::remove_file(place.dir.path().join("own/settings.json")).unwrap();
        place.looks(&["own/settings.json: castellan's hook is not in it any more"]);
        place.check("own/settings.json", &ours(), &[]);
        // It never matches.
        let changed = ours().replacen("\"hooks\": [", "\"matcher\": \"Nothing\", \"hooks\": [", 2);
        assert_ne!(changed, ours());
        place.check(
            "own/settings.json",
            &changed,
            &["own/settings.json: castellan's hook is not in it any more"],
        );
        place.check("repo/.claude/settings.json", &ours(), &[]);
        place.check("own/settings.json", &ours(), &[]);
        place.check("own/settings.json", "", &[]);
    }

    #[test]
    fn hooks_of_others_are_told() {
        let mut place = Place::new(AgentId::Claude);
        place.check("repo/.claude/settings.json", OTHER, &["repo/.claude/settings.json: PreToolUse /x"]);
        assert_eq!(place.settings.foreign().len(), 1);
        place.check(
            "repo/.claude/settings.json",
            &OTHER.replace("/x", "/y"),
            &["repo/.claude/settings.json: PreToolUse /y"],
        );
        place.check("repo/.claude/settings.json", "{}", &[]);
        // One that only has castellan's name, where it is known which one is castellan's.
        place.settings.hook = Some(PathBuf::from("/another/castellan-hook"));
        let told = "own/settings.json: PreToolUse /b/castellan-hook --home /h";
        place.check("own/settings.json", &ours(), &[told]);
    }

    #[test]
    fn a_file_that_cannot_be_read_may_say_anything() {
        let mut place = Place::new(AgentId::Claude);
        let file = place.dir.path().join("repo/.claude/settings.json");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let told = |why: &str| format!("repo/.claude/settings.json: it cannot be told what is in it: {why}");
        std::fs::File::create(&file).unwrap().set_len(100 << 20).unwrap();
        place.looks(&[&told("more than 2097152 bytes")]);
        std::fs::remove_file(&file).unwrap();
        place.looks(&[]);
        rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        place.looks(&[&told("not a regular file")]);
        std::fs::remove_file(&file).unwrap();
        place.looks(&[]);
        std::fs::write(&file, b"\xff").unwrap();
        place.looks(&[&told("not UTF-8: invalid utf-8 sequence of 1 bytes from index 0")]);
        std::fs::remove_file(&file).unwrap();
        // Through a symlink, as the agent reads it.
        let target = place.dir.path().join("target.json");
        std::fs::write(&target, OFF).unwrap();
        std::os::unix::fs::symlink(&target, &file).unwrap();
        place.looks(&["repo/.claude/settings.json: `disableAllHooks: true` is in it now"]);
        // A time that was set back does not hide a change.
        let before = std::fs::metadata(&target).unwrap();
        std::fs::write(&target, "{}").unwrap();
        place.looks(&[]);
        std::fs::write(&target, OFF).unwrap();
        std::fs::File::options()
            .write(true)
            .open(&target)
            .unwrap()
            .set_modified(before.modified().unwrap())
            .unwrap();
        place.looks(&["repo/.claude/settings.json: `disableAllHooks: true` is in it now"]);
    }
}
