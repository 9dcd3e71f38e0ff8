//! [`AgentFiles`]: the locations of an agent's own files, and detection of the installed agent.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use castellan_agents::{
    AgentId, PACKAGE_MANIFEST, Version, executable_version, moved_settings_directory, settings_path,
    settings_variable,
};
use castellan_files::read_text;

use crate::directories::{Directories, absolute};
use crate::limits::{PACKAGE_LEVELS_MAX, PACKAGE_MANIFEST_BYTES_MAX};

/// Locations of one agent's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AgentFiles {
    pub(crate) agent: AgentId,
    /// The directory of the agent's own files.
    pub(crate) dir: PathBuf,
    /// The user's settings file that registers hooks.
    pub(crate) settings: PathBuf,
}

impl AgentFiles {
    /// Returns the locations for the user of this process. The agent's own environment variable overrides the default.
    pub(crate) fn of_environment(agent: AgentId) -> anyhow::Result<AgentFiles> {
        let moved = absolute(std::env::var_os(settings_variable(agent)));
        Ok(AgentFiles::new(agent, &Directories::of_environment()?.home, moved))
    }

    fn new(agent: AgentId, home: &Path, moved: Option<PathBuf>) -> AgentFiles {
        let default = home.join(settings_path(agent));
        let settings = match (&moved, default.file_name()) {
            (Some(moved), Some(name)) => moved_settings_directory(agent, moved).join(name),
            _ => default,
        };
        let dir = settings.parent().map_or_else(|| home.to_owned(), Path::to_owned);
        AgentFiles { agent, dir, settings }
    }

    /// Reports whether the agent is installed: its command or its directory exists.
    pub(crate) fn is_present(&self) -> bool {
        self.dir.is_dir() || self.program().is_some()
    }

    /// Returns the path of the agent's command in `PATH`.
    fn program(&self) -> Option<PathBuf> {
        let path = std::env::var_os("PATH");
        let dirs = path.iter().flat_map(std::env::split_paths);
        dirs.map(|dir| dir.join(self.agent.word())).find(|file| is_executable(file))
    }

    /// Returns the version of the agent's command from its path or its package manifest. Starts no process.
    pub(crate) fn version(&self) -> Option<Version> {
        let program = std::fs::canonicalize(self.program()?).ok()?;
        let manifests = program.ancestors().skip(1).take(PACKAGE_LEVELS_MAX).map(|dir| {
            let read = read_text(&dir.join(PACKAGE_MANIFEST), PACKAGE_MANIFEST_BYTES_MAX);
            read.ok()
        });
        let path = program.to_str()?;
        std::iter::once(None)
            .chain(manifests)
            .find_map(|manifest| executable_version(self.agent, path, manifest.as_deref()))
    }

    /// Returns the path that the agent uses for its settings file, with symlinks of the directory resolved.
    pub(crate) fn known_as(&self) -> PathBuf {
        let dir = std::fs::canonicalize(&self.dir).unwrap_or_else(|_| self.dir.clone());
        dir.join(self.settings.file_name().unwrap_or_default())
    }
}

/// Reports whether a file is executable.
pub(crate) fn is_executable(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_moves_the_directory() {
        let check = |agent, moved: Option<&str>, dir: &str, settings: &str| {
            let got = AgentFiles::new(agent, Path::new("/h"), moved.map(PathBuf::from));
            assert_eq!(got, AgentFiles { agent, dir: dir.into(), settings: settings.into() });
        };
        check(AgentId::CLAUDE, None, "/h/.claude", "/h/.claude/settings.json");
        check(AgentId::CLAUDE, Some("/c"), "/c", "/c/settings.json");
        check(AgentId::CODEX, None, "/h/.codex", "/h/.codex/hooks.json");
        check(AgentId::CODEX, Some("/x"), "/x", "/x/hooks.json");
    }
}
