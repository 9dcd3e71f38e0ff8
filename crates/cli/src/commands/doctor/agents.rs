//! Checks of one agent: strength of its registration, hooks of other programs, and a test call through its hook.

use std::path::{Path, PathBuf};

use castellan_agents::{
    AgentId, Foreign, can_keep_hooks_on, machine_family, needs_trust, uninstall_own_plugin,
};
use castellan_daemon::{ControlClient, Layout};

use super::{Check, canary};
use crate::agent_files::is_executable;
use crate::guard::{Fault, Guard, OfPlugin};
use crate::output::{counted, printable};

pub(super) fn checks(agent: AgentId, layout: &Layout) -> anyhow::Result<Vec<Check>> {
    let guard = Guard::of(agent, layout)?;
    let mut checks = registered(&guard);
    if !guard.for_user && !guard.for_machine && guard.plugin.is_none() {
        return Ok(checks);
    }
    checks.extend(level(&guard));
    checks.extend(guard.newer().map(|newer| {
        let remedy = "a newer castellan, if there is one; castellan agents lists the tested versions";
        Check::doubtful(agent.title(), newer, remedy)
    }));
    checks.extend(foreign(&guard, layout));
    let by_plugin = guard.plugin.map(|plugin| plugin.hook);
    let hook = guard.user_hook.or_else(|| guard.machine_hooks.into_iter().next()).or(by_plugin);
    if let Some(hook) = hook.filter(|hook| is_executable(Path::new(&hook.program))) {
        checks.push(canary::send(agent, &hook));
    }
    Ok(checks)
}

/// Returns a check for each agent that is not on this machine.
pub(super) fn not_installed(layout: &Layout) -> anyhow::Result<Vec<Check>> {
    let mut checks = Vec::new();
    for agent in AgentId::ALL {
        if !Guard::of(agent, layout)?.is_installed() {
            checks.push(Check::good(agent.title(), "is not on this machine"));
        }
    }
    Ok(checks)
}

/// Returns a check for each fault, or a good one if there is none.
fn registered(guard: &Guard) -> Vec<Check> {
    let title = guard.agent.title();
    let mut checks: Vec<Check> = guard.faults.iter().map(|fault| check(title, fault)).collect();
    if checks.is_empty() && guard.for_user {
        let (count, file) = &guard.user_hooks;
        let trusted = if needs_trust(guard.agent) { ", trusted" } else { "" };
        checks.push(Check::good(
            title,
            format!("{} in {}, unchanged{trusted}", counted(*count, "hook"), file.display()),
        ));
    }
    checks
}

fn check(title: &str, fault: &Fault) -> Check {
    match fault {
        Fault::NotRegistered(_) => Check::bad(title, "is on this machine and not guarded", fault.remedy()),
        Fault::PluginUnseen(..) => Check::doubtful(title, fault.what(), fault.remedy()),
        Fault::OtherHome(_) => Check::doubtful(title, fault.what(), fault.remedy()),
        Fault::Distrusted(..) if !fault.is_gap() => Check::doubtful(title, fault.what(), fault.remedy()),
        Fault::Unreadable(..)
        | Fault::Unread(..)
        | Fault::Missing(..)
        | Fault::Changed(..)
        | Fault::NoProgram(..)
        | Fault::NoHome
        | Fault::SwitchedOff(..)
        | Fault::Distrusted(..) => Check::bad(title, fault.what(), fault.remedy()),
    }
}

/// Checks the strength of the registration.
fn level(guard: &Guard) -> Vec<Check> {
    let (agent, title) = (guard.agent, guard.agent.title());
    let mut checks = Vec::new();
    if guard.for_machine {
        checks.push(Check::good(title, "registered for the whole machine: no repository can switch it off"));
    }
    if guard.for_machine && guard.for_user {
        let what = "registered for the machine and for you: every call is judged twice";
        checks.push(Check::doubtful(title, what, format!("castellan uninstall {}", agent.word())));
    }
    checks.extend(guard.plugin.as_ref().map(|plugin| by_plugin(guard, plugin)));
    if guard.can_be_switched_off() {
        let what = "registered for you alone: a repository can switch it off";
        checks.push(Check::doubtful(title, what, firmer(agent)));
    }
    checks
}

/// Checks the hooks of castellan's own plugin.
fn by_plugin(guard: &Guard, plugin: &OfPlugin) -> Check {
    let (title, file) = (guard.agent.title(), plugin.file.display());
    if guard.for_user || guard.for_machine {
        let what = format!("registered by a plugin, too (`{file}`): every call is judged twice");
        let remedy = uninstall_own_plugin(guard.agent).unwrap_or("remove the plugin");
        return Check::doubtful(title, what, format!("{remedy}; install castellan-commands in its place"));
    }
    Check::good(title, format!("registered by a plugin, in `{file}`"))
}

/// Returns the remedy that keeps a repository from disabling hooks.
fn firmer(agent: AgentId) -> &'static str {
    match (machine_family(agent).is_some(), can_keep_hooks_on(agent)) {
        (true, true) => "sudo castellan install --managed, or castellan install --launchers",
        (true, false) => "sudo castellan install --managed",
        (false, true) => "castellan install --launchers",
        (false, false) => "let it trust only folders whose settings you have read",
    }
}

/// Checks hooks of other programs for the same calls here: they can change or allow a call after its judgement.
fn foreign(guard: &Guard, layout: &Layout) -> Vec<Check> {
    let status = ControlClient::new(layout.home().clone()).status();
    let trusted = status.map(|report| report.trusted_hooks).unwrap_or_default();
    let title = guard.agent.title();
    let check = |(file, Foreign { event, command }): &(PathBuf, Foreign)| {
        let (file, shown) = (file.display(), printable(command));
        let what = format!("`{file}` has a hook of somebody else's for {event}: {shown}");
        if trusted.contains(command) {
            return Check::good(title, format!("{what}: you trust it"));
        }
        let what = format!("{what}: it can change a call after castellan has judged it");
        Check::doubtful(title, what, "remove it, or name the command in `hooks.trusted` in config.toml")
    };
    guard.foreign.iter().map(check).collect()
}
