//! `castellan import kit --undo`: gives the hooks back to the kit, and castellan's own files their texts of before.

use std::path::Path;

use anyhow::{Context, bail};
use castellan_daemon::{FileSet, KeyEdit, Layout};
use castellan_rules::Source;

use super::exchange::{self, Side, text_of};
use super::found::{Kit, paths};
use super::hooks::{Owner, owner};
use super::record::{Record, Text};
use super::{Import, KEYS, not_agreed};
use crate::agent_files::is_executable;
use crate::commands::apply::{Proposal, changes};
use crate::edit::SettingsFile;
use crate::exit::Exit;
use crate::global::Global;
use crate::output::{NOTE, WARNING};

pub(super) fn run(global: &Global, import: &Import<'_>) -> anyhow::Result<Exit> {
    let Some(record) = Record::read(&import.layout)? else {
        bail!("nothing was imported into this home");
    };
    check_settings(&record)?;
    check_programs(&record, import)?;
    let (files, kept) = files_before(&import.layout, &record)?;
    let set = set_with(&FileSet::read(&import.layout)?, &import.layout, &files);
    let proposal = Proposal::of(set, &import.layout, &import.status)?;
    let out = &mut anstream::stdout();
    for text in &record.settings {
        let change = changes::Change::of(&text.file, Some(&text.after), text.before.as_deref());
        change.write(out)?;
    }
    proposal.write(out, global)?;
    for file in &kept {
        global.message(NOTE, &format!("`{}` was changed since the import, so it stays", file.display()))?;
    }
    let kit = Kit { title: "the kit", dir: record.kit.clone() };
    if kit.ways_to_stop(&import.directories).is_empty() {
        let down =
            format!("the service of {} does not run: its hooks fail until it is started", record.title);
        global.message(WARNING, &down)?;
    }
    if proposal.has_errors() {
        return Ok(Exit::No);
    }
    if let Some(exit) = not_agreed(global, import, "import kit --undo", "give the hooks back?")? {
        return Ok(exit);
    }
    exchange::settings(&record.settings, Side::After, Side::Before)?;
    let files: Vec<(&Path, Option<&str>)> =
        files.iter().map(|(file, text)| (*file, text.as_deref())).collect();
    exchange::own_files(&import.client, &files, proposal.files()).context(
        "the hooks are the kit's again, but castellan's rules and configuration are still those of the import: run \
         `castellan import kit --undo` again",
    )?;
    Record::remove(&import.layout)?;
    global.note(&format!("{} has its hooks again", record.title))?;
    Ok(Exit::Done)
}

/// Fails if a settings file is neither as after nor as before the import.
fn check_settings(record: &Record) -> anyhow::Result<()> {
    for text in &record.settings {
        let file = SettingsFile::read(&text.file)?;
        if file.text() != text.after && Some(file.text()) != text.before.as_deref() {
            bail!(
                "`{}` was changed since the import, so its text of before would lose the change: take the change out, or \
                 run `castellan uninstall` and register the kit's hooks by its own program",
                text.file.display()
            );
        }
    }
    Ok(())
}

/// Fails if a program of the kit's hooks is missing: the agents would have no guard.
fn check_programs(record: &Record, import: &Import<'_>) -> anyhow::Result<()> {
    let dirs = paths(&record.kit);
    for text in &record.settings {
        let before = text.before.as_deref().unwrap_or_default();
        for agent in castellan_agents::AgentId::ALL {
            let Ok(found) = castellan_agents::inspect(agent, before) else { continue };
            for hook in found.foreign {
                let Owner::Kit(program) = owner(&hook.command, &import.directories.home, &dirs) else {
                    continue;
                };
                if !is_executable(&program) {
                    bail!(
                        "`{}` is missing or not executable, so the kit's hook would guard nothing: install the kit again",
                        program.display()
                    );
                }
            }
        }
    }
    Ok(())
}

type FileText<'r> = (&'r Path, Option<String>);

/// Returns castellan's own files with their texts of before, and the rule files that stay because they were changed.
fn files_before<'r>(
    layout: &Layout,
    record: &'r Record,
) -> anyhow::Result<(Vec<FileText<'r>>, Vec<&'r Path>)> {
    let (mut files, mut kept) = (Vec::new(), Vec::new());
    for text in &record.files {
        let file = text.file.as_path();
        let now = text_of(file)?;
        if now.as_deref() == Some(text.after.as_str()) {
            files.push((file, text.before.clone()));
        } else if file == layout.config_file() {
            files.push((file, Some(with_keys_of(text, &now.unwrap_or_default())?)));
        } else if now.is_some() {
            kept.push(file);
        }
    }
    Ok((files, kept))
}

/// Gives a configuration that was changed since the import the keys of before.
fn with_keys_of(text: &Text, now: &str) -> anyhow::Result<String> {
    let before = text.before.as_deref().unwrap_or_default();
    let mut config = now.to_owned();
    for key in KEYS {
        // Only the key counts for the reverse of an edit.
        let reverse = KeyEdit::word("").reverse(before, key).context("`config.toml`")?;
        config = reverse.applied_to(&config, key).context("`config.toml`")?;
    }
    Ok(config)
}

/// Returns a set with these files instead of its own.
fn set_with(set: &FileSet, layout: &Layout, files: &[FileText<'_>]) -> FileSet {
    let mut set = set.clone();
    for (file, text) in files {
        if *file == layout.config_file() {
            set.config = text.clone().unwrap_or_else(|| set.config.clone());
        } else {
            let name = file.display().to_string();
            set.rules.retain(|source| source.name != name);
            set.rules.extend(text.clone().map(|text| Source { name, text }));
        }
    }
    set
}
