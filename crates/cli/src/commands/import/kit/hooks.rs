//! The kit's hooks in agents' settings: which command lines are the kit's, and the text of each settings file before and
//! after the exchange.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use castellan_agents::{
    AgentId, HookCommand, Inspection, SETTINGS_BYTES_MAX, inspect, machine_settings_path, take_over,
};

use crate::agent_files::AgentFiles;
use crate::edit::SettingsFile;
use crate::registration::{Registration, Scope, hooks};
use crate::text_file::read_found;

/// Other files of an agent beside its settings that can register hooks. castellan edits none of them.
const BESIDE: [&str; 2] = ["settings.local.json", "config.toml"];

/// Whose a command line is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Owner {
    /// The kit's: it starts this program with plain arguments.
    Kit(PathBuf),
    /// It names the kit's folder, but does more than start a program of it.
    Edited,
    Other,
}

/// One settings file of the exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Exchange {
    pub(super) agent: AgentId,
    pub(super) file: PathBuf,
    pub(super) before: String,
    pub(super) after: String,
    /// The kit's command lines, with their events.
    pub(super) commands: Vec<(String, String)>,
}

/// Tells whose a command line is. `dirs`: paths of the kit's folder; `home`: the user's home.
pub(super) fn owner(command: &str, home: &Path, dirs: &[PathBuf]) -> Owner {
    let home = home.display().to_string();
    let expanded = command.replace("${HOME}", &home).replace("$HOME", &home);
    let expanded = match expanded.strip_prefix("~/") {
        Some(rest) => format!("{home}/{rest}"),
        None => expanded.replace(" ~/", &format!(" {home}/")),
    };
    if !dirs.iter().any(|dir| is_named(&expanded, &dir.display().to_string())) {
        return Owner::Other;
    }
    let (program, arguments) = match expanded.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
        Some(quoted) => quoted,
        None => expanded.split_at(expanded.find(char::is_whitespace).unwrap_or(expanded.len())),
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " _-./=:,@%+[]\"".contains(c);
    let program = PathBuf::from(program);
    let is_below = dirs.iter().any(|dir| program.starts_with(dir) && program != *dir);
    let is_lexical = program.components().all(|part| part != std::path::Component::ParentDir);
    let is_one_word =
        program.display().to_string().chars().all(|c| c.is_alphanumeric() || " _-./+@".contains(c));
    if is_below && is_lexical && is_one_word && arguments.chars().all(is_plain) {
        Owner::Kit(program)
    } else {
        Owner::Edited
    }
}

/// Reports whether a text has the path as a whole, not as the beginning of another name.
fn is_named(text: &str, path: &str) -> bool {
    text.match_indices(path).any(|(at, _)| {
        let next = text.get(at + path.len()..).and_then(|rest| rest.chars().next());
        next.is_none_or(|c| !(c.is_alphanumeric() || "_-.+@".contains(c)))
    })
}

/// Reports whether some agent's settings start a program of the folder. An unreadable file has none here;
/// [`exchanges`] reports it.
pub(super) fn any(home: &Path, dirs: &[PathBuf]) -> bool {
    AgentId::ALL.into_iter().any(|agent| {
        let found = settings_of(agent).and_then(|(_, file)| inspected(agent, &file));
        found.is_ok_and(|found| {
            found.foreign.iter().any(|hook| owner(&hook.command, home, dirs) != Owner::Other)
        })
    })
}

/// Returns the settings files that the exchange changes, unchanged on disk. The error names a file that a person must look at
/// first.
pub(super) fn exchanges(home: &Path, dirs: &[PathBuf], ours: &HookCommand) -> anyhow::Result<Vec<Exchange>> {
    let mut all = Vec::new();
    for agent in AgentId::ALL {
        let (path, file) = settings_of(agent)?;
        check_beside(agent, &path, home, dirs)?;
        // A broken file of an agent that the kit does not guard is none of this command's business.
        if !dirs.iter().any(|dir| is_told_of(file.text(), home, dir)) {
            continue;
        }
        let found = inspected(agent, &file)?;
        if let Some(exchange) = exchange(agent, &path, &file, &found, home, dirs, ours)? {
            all.push(exchange);
        }
    }
    Ok(all)
}

fn exchange(
    agent: AgentId,
    path: &Path,
    file: &SettingsFile,
    found: &Inspection,
    home: &Path,
    dirs: &[PathBuf],
    ours: &HookCommand,
) -> anyhow::Result<Option<Exchange>> {
    let shown = path.display();
    let mut commands = Vec::new();
    for hook in &found.foreign {
        match owner(&hook.command, home, dirs) {
            Owner::Kit(_) => commands.push((hook.event.clone(), hook.command.clone())),
            Owner::Edited => bail!(
                "`{shown}`: the hook `{}` of {} names the kit, and does more than start it: restore or remove this hook first",
                hook.command,
                hook.event
            ),
            Owner::Other => {}
        }
    }
    if commands.is_empty() {
        return Ok(None);
    }
    if hooks(found).iter().any(|hook| hook != ours) {
        bail!(
            "`{shown}`: the hooks of another castellan are registered too: run `uninstall` of that castellan first"
        );
    }
    let is_theirs = |command: &str| matches!(owner(command, home, dirs), Owner::Kit(_));
    let after = take_over(agent, file.text(), ours, is_theirs).with_context(|| format!("`{shown}`"))?;
    let registration = Registration { agent, scope: Scope::User, file: path.to_owned() };
    if let Some(why) = registration.ignored()? {
        bail!("`{shown}`: {} ignores this file, castellan's hooks included: {why}", agent.title());
    }
    Ok(Some(Exchange { agent, file: path.to_owned(), before: file.text().to_owned(), after, commands }))
}

fn settings_of(agent: AgentId) -> anyhow::Result<(PathBuf, SettingsFile)> {
    let path = AgentFiles::of_environment(agent)?.settings;
    let file = SettingsFile::read(&path)?;
    Ok((path, file))
}

fn inspected(agent: AgentId, file: &SettingsFile) -> anyhow::Result<Inspection> {
    let title = agent.title();
    inspect(agent, file.text()).with_context(|| format!("the settings of {title}: mend them first"))
}

/// Reports whether a text has the folder's name in some form.
fn is_told_of(text: &str, home: &Path, dir: &Path) -> bool {
    let below_home = dir.strip_prefix(home).ok().map(|path| path.display().to_string());
    // JSON may escape any character, so a text with such escapes is looked at in its parsed form.
    text.contains(&dir.display().to_string())
        || below_home.is_some_and(|path| text.contains(&path))
        || text.contains("\\u")
        || text.contains("\\/")
}

/// Fails if a file that castellan does not edit registers the kit's hooks.
fn check_beside(agent: AgentId, settings: &Path, home: &Path, dirs: &[PathBuf]) -> anyhow::Result<()> {
    let folder = settings.parent().unwrap_or(Path::new("/"));
    let beside = BESIDE.iter().map(|name| folder.join(name));
    for file in beside.chain(machine_settings_path(agent).map(PathBuf::from)) {
        if !file.is_file() || file == settings {
            continue;
        }
        let text = read_found(&file, SETTINGS_BYTES_MAX as u64)?;
        let is_told = |dir: &PathBuf| {
            let below_home = dir.strip_prefix(home).ok().map(|path| path.display().to_string());
            let is_program = |path: String| text.contains(&format!("{path}/bin/"));
            is_program(dir.display().to_string()) || below_home.is_some_and(is_program)
        };
        if dirs.iter().any(is_told) {
            bail!(
                "`{}` starts a program of the kit too, and castellan does not edit this file: remove the hook there first",
                file.display()
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_command_lines_are_the_kits() {
        let (home, dirs) = (Path::new("/h"), [PathBuf::from("/h/.prempti"), PathBuf::from("/opt/kit")]);
        let kit = |program: &str| Owner::Kit(PathBuf::from(program));
        for (command, expected) in [
            ("/h/.prempti/bin/hook", kit("/h/.prempti/bin/hook")),
            ("$HOME/.prempti/bin/hook", kit("/h/.prempti/bin/hook")),
            ("${HOME}/.prempti/bin/hook --agent claude", kit("/h/.prempti/bin/hook")),
            ("~/.prempti/bin/hook", kit("/h/.prempti/bin/hook")),
            ("\"$HOME/.prempti/bin/hook\" --x=1", kit("/h/.prempti/bin/hook")),
            ("/opt/kit/bin/hook [\"--agent\",\"codex\"]", kit("/opt/kit/bin/hook")),
            ("/h/.prempti-old/bin/hook", Owner::Other),
            ("/usr/bin/lint", Owner::Other),
            ("", Owner::Other),
            ("/h/.prempti/bin/hook; /mine", Owner::Edited),
            ("/h/.prempti/bin/hook || true", Owner::Edited),
            ("/h/.prempti/bin/hook $(id)", Owner::Edited),
            ("/h/.prempti/bin/hook;id", Owner::Edited),
            ("/h/.prempti/../mine", Owner::Edited),
            ("/h/.prempti", Owner::Edited),
            ("timeout 5 ~/.prempti/bin/hook", Owner::Edited),
            ("X=1 /h/.prempti/bin/hook", Owner::Edited),
            ("sh -c '/h/.prempti/bin/hook'", Owner::Edited),
            ("{\"type\":\"http\",\"url\":\"http://x/h/.prempti/\"}", Owner::Edited),
        ] {
            assert_eq!(owner(command, home, &dirs), expected, "{command}");
        }
    }
}
