//! Launchers: `castellan-claude`, `castellan-codex`. They start an agent with the flags that no repository can override, so
//! that hooks registered for the user alone stay on. They lie beside `castellan`.

use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use anyhow::{Context, bail};
use castellan_agents::AgentId;

use crate::launch;

const MARK: &str = "# Written by `castellan install --launchers`.";

/// Returns the path of an agent's launcher.
pub(crate) fn path(agent: AgentId) -> anyhow::Result<PathBuf> {
    launch::beside(&format!("castellan-{}", agent.word()))
}

/// Writes the launcher of an agent. Returns whether it was not there; with `dry_run` only that.
pub(crate) fn write(agent: AgentId, dry_run: bool) -> anyhow::Result<bool> {
    let file = path(agent)?;
    let at = || format!("`{}`", file.display());
    let text = text(agent);
    match std::fs::read_to_string(&file) {
        Ok(present) if present == text => return Ok(false),
        Ok(present) if !present.contains(MARK) => {
            bail!("`{}` is not castellan's: move it away", file.display())
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error).with_context(at),
        _ => {}
    }
    if !dry_run {
        let dir = file.parent().context("it lies in no directory")?;
        let mut partial = tempfile::NamedTempFile::new_in(dir).with_context(at)?;
        partial.write_all(text.as_bytes()).with_context(at)?;
        partial.as_file().set_permissions(Permissions::from_mode(0o755)).with_context(at)?;
        partial.persist(&file).with_context(at)?;
    }
    Ok(true)
}

/// Removes the launcher of an agent. Returns whether there was one.
pub(crate) fn remove(agent: AgentId) -> anyhow::Result<bool> {
    let file = path(agent)?;
    if !std::fs::read_to_string(&file).is_ok_and(|present| present.contains(MARK)) {
        return Ok(false);
    }
    std::fs::remove_file(&file).with_context(|| format!("`{}`", file.display()))?;
    Ok(true)
}

/// Measured on Claude Code 2.1.330 and Codex 0.169.0: the command line wins over a repository's settings.
fn text(agent: AgentId) -> String {
    let flags = match agent {
        AgentId::Claude => r#"--settings '{"disableAllHooks":false}'"#,
        AgentId::Codex => "-c features.hooks=true",
    };
    let (word, title) = (agent.word(), agent.title());
    format!(
        "#!/bin/sh\n{MARK}\n# {title}, with hooks that a repository cannot switch off.\nexec {word} {flags} \"$@\"\n"
    )
}
