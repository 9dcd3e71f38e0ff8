//! One agent: whether its hooks are registered, whole, trusted and run, and who could get between.

use std::path::{Path, PathBuf};

use castellan_agents::{
    AgentId, Foreign, HookCommand, Inspection, Trust, codex_trust, inspect, question_event, switches_off,
};
use castellan_daemon::{AgentStart, ControlClient, HookSettings, Layout, own_paths};
use castellan_wire::USER_FILES;

use super::{Check, canary};
use crate::agent_files::{AgentFiles, is_executable};
use crate::edit::SettingsFile;
use crate::output::{message, printable};
use crate::registration::{Registration, home_of, hooks};

pub(super) fn checks(agent: AgentId, layout: &Layout) -> anyhow::Result<Vec<Check>> {
    let files = AgentFiles::of_environment(agent)?;
    let machine = Registration::of_machine(agent);
    let for_machine = match machine.is_present() {
        Ok(present) => present,
        Err(error) => return Ok(vec![Check::bad(agent.title(), message(&error), "mend the file")]),
    };
    let user = match SettingsFile::read(&files.settings) {
        Ok(file) => {
            inspect(agent, file.text()).map(|found| (file, found)).map_err(|problem| problem.to_string())
        }
        Err(error) => Err(message(&error)),
    };
    let mut checks = Vec::new();
    let hook = match &user {
        Err(why) => {
            let what = format!("`{}`: {why}", files.settings.display());
            checks.push(Check::bad(agent.title(), what, "mend the file, then castellan install"));
            None
        }
        Ok((file, found)) if !found.ours.is_empty() => {
            checks.extend(registered(&files, file, found, layout));
            found
                .ours
                .iter()
                .find(|ours| ours.event == question_event(agent))
                .and_then(|ours| HookCommand::of_argv(&ours.argv))
        }
        Ok(_) if for_machine => None,
        Ok(_) if files.is_present() => {
            let remedy = format!("castellan install {}", agent.word());
            return Ok(vec![Check::doubtful(agent.title(), "is on this machine and not guarded", remedy)]);
        }
        Ok(_) => return Ok(Vec::new()),
    };
    let cwd = std::env::current_dir().unwrap_or_default();
    // No agent runs here: as one would be that is started without arguments.
    let dir = Some(files.dir.clone());
    let start = AgentStart { dir, cwd, arguments: Some(Vec::new()), off_variable: None };
    let settings = HookSettings::of(agent, start, &own_paths(layout));
    checks.extend(level(agent, &settings, for_machine, hook.is_some()));
    checks.extend(foreign(agent, &settings, layout));
    let hooks = if for_machine { machine.hooks() } else { Vec::new() };
    for hook in &hooks {
        checks.extend(runnable(agent.title(), hook, "sudo castellan install --managed"));
        checks.extend(elsewhere(agent.title(), hook, layout));
    }
    let hook = hook.or_else(|| hooks.into_iter().next());
    if let Some(hook) = hook.filter(|hook| is_executable(Path::new(&hook.program))) {
        checks.push(canary::send(agent, &hook));
    }
    Ok(checks)
}

/// What the user's settings file says.
fn registered(files: &AgentFiles, file: &SettingsFile, found: &Inspection, layout: &Layout) -> Vec<Check> {
    let (title, word) = (files.agent.title(), files.agent.word());
    let again = format!("castellan install {word}");
    let mut checks = Vec::new();
    if !found.missing.is_empty() {
        checks.push(Check::bad(title, format!("no hook for {}", found.missing.join(", ")), &again));
    }
    let changed: Vec<&str> =
        found.ours.iter().filter(|ours| !ours.intact).map(|ours| ours.event.as_str()).collect();
    if !changed.is_empty() {
        checks.push(Check::bad(title, format!("the hook for {} was changed", changed.join(", ")), &again));
    }
    for hook in hooks(found) {
        checks.extend(runnable(title, &hook, &again));
        checks.extend(elsewhere(title, &hook, layout));
    }
    if found.disabled {
        let what = format!("`disableAllHooks` in {} switches every hook off", files.settings.display());
        checks.push(Check::bad(title, what, "remove it"));
    }
    if let Some(why) = &found.ignored {
        checks.push(Check::bad(
            title,
            format!("{} is not read: {why}", files.settings.display()),
            "mend the file",
        ));
    }
    if checks.is_empty() {
        let what = format!("{} hooks in {}, unchanged", found.ours.len(), files.settings.display());
        checks.push(Check::good(title, what));
    }
    if files.agent == AgentId::Codex {
        checks.extend(codex(files, file));
    }
    checks
}

/// Where the program of a hook cannot be started.
fn runnable(title: &'static str, hook: &HookCommand, remedy: &str) -> Option<Check> {
    let is_missing = !is_executable(Path::new(&hook.program));
    is_missing.then(|| Check::bad(title, format!("`{}` is missing or not executable", hook.program), remedy))
}

/// Where a hook asks another daemon than that of the home that is looked at.
fn elsewhere(title: &'static str, hook: &HookCommand, layout: &Layout) -> Option<Check> {
    let Some(home) = home_of(hook) else {
        let files = USER_FILES.join("` and `");
        let what = format!("its calls are denied: `{files}` name no home directory for this user");
        let remedy = "as root: `getent passwd USER >> /etc/castellan/passwd`";
        return Some(Check::bad(title, what, remedy));
    };
    let dir = home.dir().display();
    (home != *layout.home()).then(|| {
        let what = format!("its calls go to another home, {dir}");
        Check::doubtful(title, what, format!("castellan --home {dir} doctor"))
    })
}

/// Codex runs a hook only when its user trusts it.
fn codex(files: &AgentFiles, file: &SettingsFile) -> Vec<Check> {
    let title = AgentId::Codex.title();
    let config_file = files.dir.join("config.toml");
    let config = std::fs::read_to_string(&config_file).unwrap_or_default();
    let trusts = codex_trust(&config, &files.known_as().to_string_lossy(), file.text());
    let events = |wanted: Trust| -> String {
        let named = trusts.iter().filter(|(_, trust)| *trust == wanted).map(|(event, _)| event.as_str());
        named.collect::<Vec<_>>().join(", ")
    };
    let trust_them = "start codex, open /hooks, trust castellan's";
    let mut checks = Vec::new();
    let (untrusted, changed, disabled) =
        (events(Trust::Untrusted), events(Trust::Changed), events(Trust::Disabled));
    if !untrusted.is_empty() {
        checks.push(Check::doubtful(title, format!("not trusted yet, so not run: {untrusted}"), trust_them));
    }
    if !changed.is_empty() {
        let what = format!("changed since it was trusted, so not run: {changed}");
        checks.push(Check::bad(title, what, trust_them));
    }
    if !disabled.is_empty() {
        let remedy = "start codex, open /hooks, switch it on";
        checks.push(Check::bad(title, format!("switched off in /hooks: {disabled}"), remedy));
    }
    if checks.is_empty() && !trusts.is_empty() {
        checks.push(Check::good(title, "the hooks are trusted"));
    }
    if switches_off(AgentId::Codex, &config).is_some() {
        checks.push(Check::bad(
            title,
            format!("`{}` switches every hook off", config_file.display()),
            "set `hooks = true` in `[features]`",
        ));
    }
    checks
}

/// How firmly it is registered, and what the repository around the current directory makes of it.
fn level(agent: AgentId, settings: &HookSettings, for_machine: bool, for_user: bool) -> Vec<Check> {
    let title = agent.title();
    let mut checks = Vec::new();
    if for_machine {
        checks.push(Check::good(title, "registered for the whole machine: no repository can switch it off"));
    }
    if for_machine && for_user {
        let what = "registered for the machine and for you: every call is judged twice";
        checks.push(Check::doubtful(title, what, format!("castellan uninstall {}", agent.word())));
    }
    if for_user && !for_machine {
        let what = "registered for you alone: a repository can switch it off";
        checks.push(Check::doubtful(
            title,
            what,
            "sudo castellan install --managed, or castellan install --launchers",
        ));
        let remedy = "remove it, or sudo castellan install --managed";
        checks.extend(settings.switched_off().into_iter().map(|(file, switch)| {
            let effect = "runs no user hooks in this repository, castellan's included";
            Check::bad(title, format!("`{}` has `{switch}`: {title} {effect}", file.display()), remedy)
        }));
    }
    checks
}

/// Hooks of others that the agent asks about the same calls, here: they can change or allow what castellan has judged.
fn foreign(agent: AgentId, settings: &HookSettings, layout: &Layout) -> Vec<Check> {
    let status = ControlClient::new(layout.home().clone()).status();
    let trusted = status.map(|report| report.trusted_hooks).unwrap_or_default();
    let check = |(file, Foreign { event, command }): (PathBuf, Foreign)| {
        let (file, shown) = (file.display(), printable(&command));
        let what = format!("`{file}` has a hook of somebody else's for {event}: {shown}");
        if trusted.contains(&command) {
            return Check::good(agent.title(), format!("{what}: you trust it"));
        }
        let what = format!("{what}: it can change a call after castellan has judged it");
        Check::doubtful(
            agent.title(),
            what,
            "remove it, or name the command in `hooks.trusted` in config.toml",
        )
    };
    settings.foreign().into_iter().map(check).collect()
}
