//! Launchers: `castellan-claude`, `castellan-codex`, stored beside `castellan`. Launchers start an agent by `castellan
//! run`, so that hooks registered only for the user stay active whatever a repository sets.

use std::io;
use std::path::PathBuf;

use anyhow::{Context, bail};
use castellan_agents::AgentId;

use crate::global::Global;
use crate::launch;
use crate::limits::LAUNCHER_BYTES_MAX;
use crate::output;
use castellan_files::{Access, NewFile, read_text};

const MARK: &str = "# Written by `castellan install --launchers`.";

pub(crate) fn path(agent: AgentId) -> anyhow::Result<PathBuf> {
    launch::beside(&format!("castellan-{}", agent.word()))
}

/// Writes the launcher of an agent. Returns true if it is new or changed. With `dry_run` it writes nothing.
pub(crate) fn write(global: &Global, agent: AgentId, dry_run: bool) -> anyhow::Result<bool> {
    let file = path(agent)?;
    let at = || format!("`{}`", file.display());
    let text = text(global, agent)?;
    match read_text(&file, LAUNCHER_BYTES_MAX) {
        Ok(present) if present == text => return Ok(false),
        Ok(present) if !present.contains(MARK) => {
            bail!("`{}` is not castellan's: move it away", file.display())
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error).with_context(at),
        _ => {}
    }
    if !dry_run {
        NewFile::write(&file, &text, &Access::Mode(0o755)).and_then(NewFile::put).with_context(at)?;
    }
    Ok(true)
}

/// Removes the launcher of an agent. Returns true if there is one. With `dry_run` it removes nothing.
pub(crate) fn remove(agent: AgentId, dry_run: bool) -> anyhow::Result<bool> {
    let file = path(agent)?;
    if !read_text(&file, LAUNCHER_BYTES_MAX).is_ok_and(|present| present.contains(MARK)) {
        return Ok(false);
    }
    if !dry_run {
        std::fs::remove_file(&file).with_context(|| format!("`{}`", file.display()))?;
    }
    Ok(true)
}

fn text(global: &Global, agent: AgentId) -> anyhow::Result<String> {
    let (home, is_default) = global.home()?;
    let mut words = vec![launch::beside("castellan")?];
    if !is_default {
        words.extend(["--home".into(), home]);
    }
    words.extend(["run", "--", agent.word()].map(PathBuf::from));
    let quoted = |word: &PathBuf| {
        let word = word.to_str().with_context(|| format!("`{}` is not UTF-8", word.display()))?;
        anyhow::Ok(output::quoted(word))
    };
    let line = words.iter().map(quoted).collect::<anyhow::Result<Vec<_>>>()?.join(" ");
    let title = agent.title();
    Ok(format!(
        "#!/bin/sh\n{MARK}\n# {title}, with hooks that a repository cannot switch off.\nexec {line} \"$@\"\n"
    ))
}
