//! [`OwnSettings`]: the agent's own settings in a run, rendered for the workspace. Their files are in a private folder of
//! the run below castellan's state, which agents cannot change, and are removed at the end of the run. This module must
//! not know the format of any agent.

use std::fs::{DirBuilder, OpenOptions, remove_dir_all};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use castellan_agents::{AgentId, NativeFile, arguments_name_files, beats_native};
use castellan_daemon::{Layout, run_folder};
use castellan_files::{Links, open_with};
use rustix::process::getpid;

use super::meter::warn;
use super::observer::check_private;
use super::rejected::Rejected;
use super::tree;
use crate::limits::RUN_LEFTOVERS_MAX;
use crate::native::{self, Rendered, Sandbox, Wanted};
use crate::output::printable;
use crate::random::random;

/// The settings that one agent uses. Dropping them removes their files.
#[derive(Debug)]
pub(crate) struct OwnSettings {
    /// The arguments with which the agent uses them, whatever a repository says.
    pub(crate) arguments: Vec<String>,
    /// The folder of the files; `None` if the arguments hold the settings.
    folder: Option<PathBuf>,
}

/// Renders the settings for the workspace and a plan with its text. `words` are the person's command line, with the program
/// first: none of its arguments may beat the settings.
pub(crate) fn render(
    words: &[Vec<u8>],
    agent: AgentId,
    layout: &Layout,
    workspace: &str,
    plan: Option<(&Path, &str)>,
) -> anyhow::Result<Rendered> {
    if let Some(argument) = beats_native(agent, words) {
        bail!(Rejected(format!(
            "`{}` would beat the settings that castellan gives the agent: leave it out, or start without `--plan` and \
             `--own-settings`",
            printable(&argument)
        )));
    }
    let plan = plan.map(|(file, text)| native::plan_of(text, file)).transpose()?;
    let rendered = native::render(&Wanted {
        agent,
        home: layout.home().dir(),
        work_dir: Path::new(workspace),
        repo: None,
        plan: plan.as_ref(),
        is_auto: false,
        sandbox: Sandbox::IfPossible,
    })?;
    if !rendered.missing_tools.is_empty() {
        let tools = rendered.missing_tools.join(" and ");
        warn(&format!("{} has no sandbox of its own, as this machine lacks {tools}", agent.title()));
    }
    for entry in &rendered.left_out {
        warn(&format!("the agent's own settings leave out of the plan: {}", printable(entry)));
    }
    Ok(rendered)
}

impl OwnSettings {
    /// Writes the settings to a folder of this run below `all`, the folder of every run.
    pub(crate) fn write(all: &Path, rendered: &Rendered) -> anyhow::Result<OwnSettings> {
        let mark = format!("{:032x}", random()?);
        if !arguments_name_files(rendered.agent) {
            return Ok(OwnSettings { arguments: rendered.arguments("", &mark), folder: None });
        }
        DirBuilder::new().recursive(true).mode(0o700).create(all).with_context(|| shown(all))?;
        check_private(all)?;
        remove_leftovers(all);
        let pid = getpid().as_raw_pid();
        let started = tree::start_of(pid).context("the start of this process cannot be read")?;
        let folder = all.join(run_folder(pid.unsigned_abs(), started));
        // A process before the machine's last start may have had the same name.
        match remove_dir_all(&folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(error).with_context(|| shown(&folder));
            }
            _ => {}
        }
        let Some(text) = folder.to_str() else { bail!("{} is not UTF-8", shown(&folder)) };
        let arguments = rendered.arguments(text, &mark);
        let files = rendered.files(text);
        DirBuilder::new().mode(0o700).create(&folder).with_context(|| shown(&folder))?;
        let settings = OwnSettings { arguments, folder: Some(folder.clone()) };
        for file in &files {
            put(&folder, file).with_context(|| shown(&folder.join(file.path)))?;
        }
        Ok(settings)
    }

    /// Reports whether the arguments name this file.
    pub(crate) fn has(&self, file: &str) -> bool {
        self.folder.is_some() && self.arguments.iter().any(|argument| argument == file)
    }
}

impl Drop for OwnSettings {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            // A later run removes what remains.
            let _remains = remove_dir_all(folder);
        }
    }
}

/// Writes a new file. It need not survive the machine, so nothing waits for the disk.
fn put(folder: &Path, file: &NativeFile) -> std::io::Result<()> {
    let path = folder.join(file.path);
    if let Some(dir) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    open_with(&mut options, &path, Links::Refused)?.write_all(file.text.as_bytes())
}

/// Removes the folders of runs that were killed. What cannot be removed does no harm.
fn remove_leftovers(all: &Path) {
    let entries = std::fs::read_dir(all).into_iter().flatten().flatten();
    let is_left = |name: &str| {
        let process =
            name.split_once('-').and_then(|(pid, started)| Some((pid.parse().ok()?, started.parse().ok()?)));
        process.is_some_and(|(pid, started): (i32, u64)| tree::start_of(pid) != Some(started))
    };
    let left = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_left));
    for entry in left.take(RUN_LEFTOVERS_MAX) {
        let _remains = remove_dir_all(entry.path());
    }
}

fn shown(path: &Path) -> String {
    format!("`{}`", path.display())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use castellan_agents::{HookCommand, NativeValues};

    use super::*;

    fn rendered(agent: AgentId) -> Rendered {
        let values = NativeValues {
            work_dir: "/w".to_owned(),
            directories: Vec::new(),
            commands: Vec::new(),
            stopped: Vec::new(),
            hosts: None,
            secrets: Vec::new(),
            kept: Vec::new(),
            hook: HookCommand { program: "/b/castellan-hook".to_owned(), home: "/h".to_owned() },
            is_auto: false,
            has_sandbox: false,
        };
        Rendered { agent, values, left_out: Vec::new(), missing_tools: Vec::new() }
    }

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn the_files_are_private_and_last_as_long_as_the_settings() {
        let state = tempfile::tempdir().unwrap();
        let all = state.path().join("run-settings");
        let settings = OwnSettings::write(&all, &rendered(AgentId::CLAUDE)).unwrap();
        let [option, file] = &settings.arguments[..] else { panic!("{settings:?}") };
        assert_eq!(option, "--settings");
        assert!(settings.has(file) && !settings.has("--other"));
        let (file, folder) = (PathBuf::from(file), settings.folder.clone().unwrap());
        assert!(file.starts_with(&folder));
        assert_eq!(
            (mode(&file), mode(&folder), mode(file.parent().unwrap()), mode(&all)),
            (0o600, 0o700, 0o700, 0o700)
        );
        drop(settings);
        assert!(!folder.exists());
        let codex = OwnSettings::write(&all, &rendered(AgentId::CODEX)).unwrap();
        let again = OwnSettings::write(&all, &rendered(AgentId::CODEX)).unwrap();
        assert_ne!(codex.arguments, again.arguments, "a mark is guessed from an earlier run");
        assert_eq!(std::fs::read_dir(&all).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_others_can_change_is_an_error() {
        let state = tempfile::tempdir().unwrap();
        let all = state.path().join("run-settings");
        std::fs::create_dir(&all).unwrap();
        std::fs::set_permissions(&all, std::fs::Permissions::from_mode(0o770)).unwrap();
        assert!(OwnSettings::write(&all, &rendered(AgentId::CLAUDE)).is_err());
        std::fs::remove_dir(&all).unwrap();
        symlink(state.path(), &all).unwrap();
        assert!(OwnSettings::write(&all, &rendered(AgentId::CLAUDE)).is_err());
    }

    #[test]
    fn folders_of_killed_runs_are_removed_and_no_others() {
        let state = tempfile::tempdir().unwrap();
        let pid = getpid().as_raw_pid();
        let started = tree::start_of(pid).unwrap();
        let lives = format!("{pid}-{started}");
        let gone = [format!("{pid}-{}", started + 1), format!("{}-{started}", i32::MAX)];
        for name in [&lives, &gone[0], &gone[1], "notes", "1-x"] {
            std::fs::create_dir_all(state.path().join(name).join(".claude")).unwrap();
        }
        let elsewhere = tempfile::tempdir().unwrap();
        std::fs::write(elsewhere.path().join("kept"), "").unwrap();
        symlink(elsewhere.path(), state.path().join(&gone[0]).join("link")).unwrap();
        remove_leftovers(state.path());
        for name in [&lives, "notes", "1-x"] {
            assert!(state.path().join(name).exists(), "{name}");
        }
        assert!(gone.iter().all(|name| !state.path().join(name).exists()));
        assert!(elsewhere.path().join("kept").exists());
    }

    #[test]
    fn one_start_removes_a_limited_number_of_folders() {
        let state = tempfile::tempdir().unwrap();
        for number in 0..RUN_LEFTOVERS_MAX + 2 {
            std::fs::create_dir(state.path().join(format!("{}-{number}", i32::MAX))).unwrap();
        }
        remove_leftovers(state.path());
        assert_eq!(std::fs::read_dir(state.path()).unwrap().count(), 2);
    }
}
