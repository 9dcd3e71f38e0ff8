//! Checks of one agent: strength of its registration, hooks of other programs, and a test call through its hook.

use std::path::{Path, PathBuf};

use castellan_agents::{
    AgentId, Foreign, HookCommand, can_keep_hooks_on, machine_family, uninstall_own_plugin,
};
use castellan_daemon::Layout;

use super::canary;
use crate::agent_files::is_executable;
use crate::check::Check;
use crate::guard::{Fault, Guard, OfPlugin};
use crate::output::printable;
use crate::registration::home_beside;

/// Returns the checks of an agent after those of its registration, which [`Protection`] has.
///
/// [`Protection`]: crate::protection::Protection
pub(super) fn checks(guard: &Guard, layout: &Layout, trusted_hooks: &[String]) -> Vec<Check> {
    let agent = guard.agent;
    let mut checks = Vec::new();
    if !guard.for_user && !guard.for_machine && guard.plugin.is_none() {
        return checks;
    }
    checks.extend(guard.plugin.as_ref().map(|plugin| by_plugin(guard, plugin)));
    checks.extend(level(guard));
    checks.extend(guard.newer().map(|newer| {
        let remedy = "a newer castellan, if there is one; castellan agents lists the tested versions";
        Check::doubtful(agent.title(), newer, remedy)
    }));
    checks.extend(foreign(guard, trusted_hooks));
    let of_plugin = guard.plugin.as_ref().map(|plugin| &plugin.hook);
    let hook = guard.user_hook.as_ref().or_else(|| guard.machine_hooks.first()).or(of_plugin);
    // The daemon of the system answers only the hooks of the user whom it guards.
    let own = rustix::process::geteuid().as_raw();
    let is_guarded = layout.home().system_user().is_none_or(|user| user == own);
    // No test call goes through a program that only has the name, or to another home.
    let is_of =
        |fault: &Fault, program: &str| matches!(fault, Fault::OtherProgram(.., other) if other == program);
    let is_other = |program: &str| guard.faults.iter().any(|fault| is_of(fault, program));
    let is_own = |program: &str| is_executable(Path::new(program)) && !is_other(program);
    let is_here =
        |hook: &HookCommand| home_beside(hook, layout.home()).is_none_or(|home| home == *layout.home());
    if let Some(hook) = hook.filter(|hook| is_guarded && is_own(&hook.program) && is_here(hook)) {
        checks.push(canary::send(agent, hook));
    }
    checks
}

/// Returns a check for each agent that is not on this machine.
pub(super) fn not_installed(guards: &[Guard]) -> Vec<Check> {
    let missing = guards.iter().filter(|guard| !guard.is_installed());
    missing.map(|guard| Check::good(guard.agent.title(), "is not on this machine")).collect()
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
    if guard.can_be_switched_off() {
        let what = "registered for you alone: a repository can switch it off";
        checks.push(Check::doubtful(title, what, firmer(agent)));
    }
    checks
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
fn foreign(guard: &Guard, trusted: &[String]) -> Vec<Check> {
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
