//! The place of an observer: a private working directory, and where needed a home of its own with castellan's hooks. All
//! of it is below castellan's state, which agents cannot change.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use castellan_agents::{AgentId, HookCommand, observer_config, observer_files};
use castellan_files::{read_text, write_private};

use crate::limits::OBSERVER_CONFIG_BYTES_MAX;

/// The directories of an observer.
#[derive(Debug)]
pub(crate) struct Place {
    /// The working directory: empty, for this user alone. It is the same at each start, because agents find their
    /// sessions by it.
    pub(crate) work: PathBuf,
    /// The agent's own directory.
    pub(crate) home: PathBuf,
}

impl Place {
    /// Creates and checks the directories below the home's state.
    pub(crate) fn make(observers: &Path, agent: AgentId) -> anyhow::Result<Place> {
        let dir = observers.join(agent.word());
        let place = Place { work: dir.join("work"), home: dir.join("home") };
        for made in [&place.work, &place.home] {
            DirBuilder::new().recursive(true).mode(0o700).create(made).with_context(|| shown(made))?;
        }
        for dir in [observers.to_owned(), dir, place.work.clone(), place.home.clone()] {
            check_private(&dir)?;
        }
        if std::fs::read_dir(&place.work).with_context(|| shown(&place.work))?.next().is_some() {
            bail!(
                "{} is not empty: an observer's agent would read files in it; empty it",
                shown(&place.work)
            );
        }
        Ok(place)
    }

    /// Writes the files of the agent's own directory, from those of the user in `user`. Returns the names of variables
    /// with keys of the providers.
    pub(crate) fn write_home(
        &self,
        agent: AgentId,
        user: &Path,
        hook: &HookCommand,
    ) -> anyhow::Result<Vec<String>> {
        let Some(file) = observer_config(agent) else { return Ok(Vec::new()) };
        let file = user.join(file);
        let text = match read_text(&file, OBSERVER_CONFIG_BYTES_MAX) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read.with_context(|| shown(&file))?,
        };
        let Some(files) = observer_files(agent, &text, hook).with_context(|| shown(&file))? else {
            return Ok(Vec::new());
        };
        for (name, text) in [&files.config, &files.hooks] {
            let file = self.home.join(name);
            write_private(&file, text.as_bytes()).with_context(|| shown(&file))?;
        }
        link(&user.join(files.login), &self.home.join(files.login))?;
        Ok(files.key_variables)
    }
}

/// Links to the user's login, so that the agent renews the user's own and no copy.
fn link(login: &Path, link: &Path) -> anyhow::Result<()> {
    match std::fs::remove_file(link) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(error).with_context(|| shown(link));
        }
        _ => {}
    }
    if login.exists() {
        symlink(login, link).with_context(|| shown(link))?;
    }
    Ok(())
}

/// Checks that a directory is this user's alone.
pub(crate) fn check_private(dir: &Path) -> anyhow::Result<()> {
    let meta = std::fs::symlink_metadata(dir).with_context(|| shown(dir))?;
    let is_own = meta.uid() == rustix::process::geteuid().as_raw();
    if !meta.is_dir() || !is_own || meta.mode() & 0o077 != 0 {
        bail!("{} is no directory of mode 0700 that belongs to you alone: move it away", shown(dir));
    }
    Ok(())
}

fn shown(path: &Path) -> String {
    format!("`{}`", path.display())
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn hook() -> HookCommand {
        HookCommand { program: "/b/castellan-hook".to_owned(), home: "/h".to_owned() }
    }

    #[test]
    fn a_place_is_private_and_empty() {
        let state = tempfile::tempdir().unwrap();
        let place = Place::make(&state.path().join("observers"), AgentId::CLAUDE).unwrap();
        for dir in [&place.work, &place.home] {
            assert_eq!(std::fs::metadata(dir).unwrap().permissions().mode() & 0o777, 0o700);
        }
        Place::make(&state.path().join("observers"), AgentId::CLAUDE).unwrap();
        let check = |change: &dyn Fn(), undo: &dyn Fn(), expected: &str| {
            change();
            let error =
                format!("{:#}", Place::make(&state.path().join("observers"), AgentId::CLAUDE).unwrap_err());
            assert!(error.contains(expected), "{error}");
            undo();
        };
        let file = place.work.join(".mcp.json");
        check(
            &|| std::fs::write(&file, "{}").unwrap(),
            &|| std::fs::remove_file(&file).unwrap(),
            "not empty",
        );
        let mode = |mode| std::fs::set_permissions(&place.work, Permissions::from_mode(mode)).unwrap();
        check(&|| mode(0o750), &|| mode(0o700), "0700");
        std::fs::remove_dir(&place.work).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        check(&|| symlink(elsewhere.path(), &place.work).unwrap(), &|| (), "0700");
    }

    #[test]
    fn an_own_home_has_castellans_hooks_and_the_users_login() {
        let (state, user) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let place = Place::make(&state.path().join("observers"), AgentId::CODEX).unwrap();
        let config =
            "model = \"m\"\nsandbox_mode = \"danger-full-access\"\n[mcp_servers.x]\ncommand = \"y\"\n";
        std::fs::write(user.path().join("config.toml"), config).unwrap();
        std::fs::write(user.path().join("auth.json"), "login").unwrap();
        for _ in 0..2 {
            assert_eq!(place.write_home(AgentId::CODEX, user.path(), &hook()).unwrap(), Vec::<String>::new());
            let read = |name: &str| std::fs::read_to_string(place.home.join(name)).unwrap();
            assert_eq!(read("config.toml"), "model = \"m\"\n");
            assert!(read("hooks.json").contains("/b/castellan-hook"));
            assert_eq!(read("auth.json"), "login");
        }
        std::fs::write(user.path().join("config.toml"), "model = ").unwrap();
        assert!(place.write_home(AgentId::CODEX, user.path(), &hook()).is_err());
    }
}
