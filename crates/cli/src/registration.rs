//! [`Registration`]: a file that registers an agent's hooks, for the user or the machine. The `agents` crate makes the
//! texts; this module only selects the text for each file.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context;
use castellan_agents::{
    AgentId, HOOK_NAME, HookCommand, Inspection, MachineFamily, SETTINGS_BYTES_MAX, SettingsProblem,
    add_status_line, has_status_line, inspect, machine_family, machine_settings_path, managed_settings_text,
    managed_toml_hooks, register, register_managed_toml, remove_status_line, unregister,
    unregister_managed_toml,
};
use castellan_files::Guard;
use castellan_wire::{Home, HomeArgument};

use crate::agent_files::AgentFiles;
use crate::edit::{Edited, Foreign, SettingsFile};

/// The users that a registration covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// A single user. A repository can disable these hooks.
    User,
    /// All users of this machine, in the format of this agent family. A repository cannot disable these hooks.
    Machine(MachineFamily),
}

/// A file that registers hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Registration {
    pub(crate) agent: AgentId,
    pub(crate) scope: Scope,
    pub(crate) file: PathBuf,
}

impl Registration {
    /// Returns the user's settings file of an agent.
    pub(crate) fn of_user(files: &AgentFiles) -> Registration {
        Registration { agent: files.agent, scope: Scope::User, file: files.settings.clone() }
    }

    /// Returns the machine-wide file of an agent; `None` if castellan supports only user registration for it.
    pub(crate) fn of_machine(agent: AgentId) -> Option<Registration> {
        let (family, file) = machine_family(agent).zip(machine_settings_path(agent))?;
        Some(Registration { agent, scope: Scope::Machine(family), file: file.into() })
    }

    /// Returns a file that has castellan's hooks only.
    pub(crate) fn alone(&self, hook: &HookCommand) -> anyhow::Result<String> {
        let text = match self.scope {
            Scope::User => register(self.agent, "", hook),
            Scope::Machine(MachineFamily::OwnJson) => Ok(managed_settings_text(self.agent, hook)),
            Scope::Machine(MachineFamily::SharedToml) => register_managed_toml("", hook),
        };
        text.map_err(|problem| self.problem(problem))
    }

    /// Adds castellan's hooks; with `dry_run` only returns the change.
    pub(crate) fn add(&self, hook: &HookCommand, dry_run: bool) -> anyhow::Result<Edited> {
        let file = SettingsFile::read(&self.file)?;
        let text = match self.scope {
            Scope::User => register(self.agent, file.text(), hook),
            Scope::Machine(MachineFamily::OwnJson) => Ok(managed_settings_text(self.agent, hook)),
            Scope::Machine(MachineFamily::SharedToml) => register_managed_toml(file.text(), hook),
        };
        self.apply(&file, text, dry_run)
    }

    /// Removes castellan's hooks; with `dry_run` only returns the change. A file that cannot be parsed and does not
    /// contain castellan's name registers none.
    pub(crate) fn remove(&self, dry_run: bool) -> anyhow::Result<Edited> {
        match self.try_remove(dry_run) {
            Err(_) if !self.may_name_castellan() => Ok(Edited::Unchanged),
            removed => removed,
        }
    }

    /// Adds castellan's status line to the user's settings of Claude Code; with `dry_run` only returns the change. `None` if
    /// they have another one, which stays.
    pub(crate) fn add_status_line(&self, command: &str, dry_run: bool) -> anyhow::Result<Option<Edited>> {
        let file = SettingsFile::read(&self.file)?;
        let text = add_status_line(file.text(), command).map_err(|problem| self.problem(problem))?;
        text.map(|text| self.apply(&file, Ok(text), dry_run)).transpose()
    }

    /// Removes castellan's status line from the user's settings; with `dry_run` only returns the change.
    pub(crate) fn remove_status_line(&self, dry_run: bool) -> anyhow::Result<Edited> {
        if !has_status_line(self.agent) || self.scope != Scope::User {
            return Ok(Edited::Unchanged);
        }
        let file = SettingsFile::read(&self.file)?;
        // The removal of the hooks reports a file that cannot be parsed.
        match remove_status_line(file.text()) {
            Ok(text) => self.apply(&file, Ok(text), dry_run),
            Err(_) => Ok(Edited::Unchanged),
        }
    }

    fn try_remove(&self, dry_run: bool) -> anyhow::Result<Edited> {
        let file = SettingsFile::read(&self.file)?;
        let text = match self.scope {
            Scope::User => unregister(self.agent, file.text()),
            Scope::Machine(MachineFamily::OwnJson) => Ok(String::new()),
            Scope::Machine(MachineFamily::SharedToml) => unregister_managed_toml(file.text()),
        };
        let removed = self.apply(&file, text, dry_run)?;
        if removed == Edited::Deleted && !dry_run {
            self.remove_folders();
        }
        Ok(removed)
    }

    /// Removes the folders that are empty without the file that castellan had made. An agent's own folder would say that the
    /// agent is on this machine.
    fn remove_folders(&self) {
        let above = match self.scope {
            Scope::User => 1,
            // `managed-settings.d` in a folder of the agent.
            Scope::Machine(_) => 2,
        };
        for folder in self.file.ancestors().skip(1).take(above) {
            // Fails for a folder with other files, and for a link to one.
            if std::fs::remove_dir(folder).is_err() {
                return;
            }
        }
    }

    /// Reports whether castellan's hooks are registered, for any program or home.
    pub(crate) fn is_present(&self) -> anyhow::Result<bool> {
        let file = SettingsFile::read(&self.file)?;
        let present = match self.scope {
            Scope::Machine(MachineFamily::SharedToml) => {
                unregister_managed_toml(file.text()).map(|without| without != file.text())
            }
            Scope::User | Scope::Machine(MachineFamily::OwnJson) => {
                inspect(self.agent, file.text()).map(|found| !found.ours.is_empty())
            }
        };
        present.map_err(|problem| self.problem(problem))
    }

    /// Returns the reason if the agent ignores the whole file, hooks included.
    pub(crate) fn ignored(&self) -> anyhow::Result<Option<String>> {
        if self.scope == Scope::Machine(MachineFamily::SharedToml) {
            return Ok(None);
        }
        let file = SettingsFile::read(&self.file)?;
        let found = inspect(self.agent, file.text()).map_err(|problem| self.problem(problem))?;
        Ok(found.ignored.or_else(|| found.disabled.then(|| "`disableAllHooks` is set in it".to_owned())))
    }

    /// Reports whether castellan's hooks are registered for another program or home than `hook`. A new registration
    /// would redirect the agent's calls from there.
    pub(crate) fn leads_elsewhere(&self, hook: &HookCommand) -> anyhow::Result<bool> {
        let file = SettingsFile::read(&self.file)?;
        let found = inspect(self.agent, file.text());
        match self.scope {
            // castellan writes this text for a single hook, so any difference means another hook.
            Scope::Machine(MachineFamily::SharedToml) => {
                let text =
                    register_managed_toml(file.text(), hook).map_err(|problem| self.problem(problem))?;
                Ok(text != file.text() && self.is_present()?)
            }
            // Registration replaces the whole file, so a file that cannot be parsed may belong to another program.
            Scope::Machine(MachineFamily::OwnJson) => {
                Ok(found.map_or(true, |found| has_others(&found, hook)))
            }
            Scope::User => {
                found.map(|found| has_others(&found, hook)).map_err(|problem| self.problem(problem))
            }
        }
    }

    /// Returns the homes of castellan's hooks for this user; none for a file that cannot be parsed.
    pub(crate) fn homes(&self) -> Vec<Home> {
        self.hooks().iter().filter_map(home_of).collect()
    }

    /// Returns the distinct commands of castellan's hooks; none for a file that cannot be parsed.
    pub(crate) fn hooks(&self) -> Vec<HookCommand> {
        let Ok(file) = SettingsFile::read(&self.file) else { return Vec::new() };
        match self.scope {
            Scope::Machine(MachineFamily::SharedToml) => managed_toml_hooks(file.text()),
            Scope::User | Scope::Machine(MachineFamily::OwnJson) => {
                inspect(self.agent, file.text()).map(|found| hooks(&found)).unwrap_or_default()
            }
        }
    }

    /// Reports whether the file contains the name of castellan's hook; true for unreadable files, false for special
    /// files.
    fn may_name_castellan(&self) -> bool {
        if std::fs::metadata(&self.file).is_ok_and(|found| !found.is_file()) {
            return false;
        }
        let read = castellan_files::read_bytes(&self.file, SETTINGS_BYTES_MAX as u64, Guard::Any);
        read.map_or(true, |bytes| bytes.windows(HOOK_NAME.len()).any(|part| part == HOOK_NAME.as_bytes()))
    }

    fn apply(
        &self,
        file: &SettingsFile,
        text: Result<String, SettingsProblem>,
        dry_run: bool,
    ) -> anyhow::Result<Edited> {
        let text = text.map_err(|problem| self.problem(problem))?;
        if dry_run {
            return Ok(file.would_be(&text));
        }
        let (dir_mode, file_mode) = match self.scope {
            Scope::User => (0o700, 0o600),
            Scope::Machine(_) => (0o755, 0o644),
        };
        let is_new_dir = |dir: &&Path| !text.is_empty() && !dir.exists();
        let made = self.file.parent().filter(is_new_dir).map_or(Ok(()), |dir| create_dir(dir, dir_mode));
        made.and_then(|()| file.replace(&text, file_mode)).map_err(|error| self.unwritten(error))
    }

    /// Adds a remedy to the error of a file that castellan cannot or may not write.
    fn unwritten(&self, error: anyhow::Error) -> anyhow::Error {
        let io = error.chain().filter_map(|cause| cause.downcast_ref::<std::io::Error>());
        let is_closed = |error: &std::io::Error| {
            matches!(error.kind(), ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied)
        };
        if io.into_iter().any(is_closed) || error.is::<Foreign>() {
            let word = self.agent.word();
            let managed = if self.scope == Scope::User { "" } else { " --managed" };
            return anyhow::anyhow!(
                "{error:#}: put the hooks where this file comes from; `castellan install {word}{managed} --print` prints them"
            );
        }
        error
    }

    fn problem(&self, problem: SettingsProblem) -> anyhow::Error {
        let file = self.file.display();
        let title = self.agent.title();
        anyhow::anyhow!(
            "`{file}`: {problem}: {title}'s settings were left as they are; mend the file and run the command again"
        )
    }
}

/// Returns the home of a hook for this user; `None` if the hook names no home or this user has none.
pub(crate) fn home_of(hook: &HookCommand) -> Option<Home> {
    HomeArgument::parse(hook.home.as_ref())?.of(rustix::process::geteuid().as_raw())
}

/// Returns the home of a hook for the user whom `home` guards.
pub(crate) fn home_beside(hook: &HookCommand, home: &Home) -> Option<Home> {
    let user = home.system_user().unwrap_or_else(|| rustix::process::geteuid().as_raw());
    HomeArgument::parse(hook.home.as_ref())?.of(user)
}

/// Returns the distinct commands of castellan's hooks.
pub(crate) fn hooks(found: &Inspection) -> Vec<HookCommand> {
    let mut hooks: Vec<HookCommand> = Vec::new();
    for hook in found.ours.iter().filter_map(|ours| HookCommand::of_argv(&ours.argv)) {
        if !hooks.contains(&hook) {
            hooks.push(hook);
        }
    }
    hooks
}

fn has_others(found: &Inspection, hook: &HookCommand) -> bool {
    found.ours.iter().any(|ours| HookCommand::of_argv(&ours.argv).as_ref() != Some(hook))
}

fn create_dir(dir: &Path, mode: u32) -> anyhow::Result<()> {
    use std::os::unix::fs::DirBuilderExt;

    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true).mode(mode).create(dir).with_context(|| format!("`{}`", dir.display()))
}
