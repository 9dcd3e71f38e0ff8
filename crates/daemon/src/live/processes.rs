//! Finds running agents that do not ask castellan, for the status. It must not know the actions of an agent.

use std::path::Path;

use castellan_agents::AgentId;

use super::sessions::start_of;
use super::settings::{HookSettings, Own};
use crate::control::UnguardedAgent;
use crate::limits::ANCESTORS_MAX;
use crate::peers::AgentProcess;
use crate::platform;
use crate::process::{Process, arguments_of};
use crate::sight;

/// Finds this user's running agents that have asked nothing and whose settings show that they never will. `is_guarded`
/// reports, for a pid and start time, whether the process has asked. `own` are castellan's files and folders.
pub(crate) fn unguarded(own: &[String], is_guarded: impl Fn(u32, u64) -> bool) -> Vec<UnguardedAgent> {
    let found = Process::all().into_iter().filter_map(|process| Some((agent(&process)?, process)));
    found.filter_map(|(id, process)| look(id, &process, own, &is_guarded)).collect()
}

fn look(
    id: AgentId,
    process: &Process,
    own: &[String],
    is_guarded: &impl Fn(u32, u64) -> bool,
) -> Option<UnguardedAgent> {
    // A helper process of an agent is reported with the agent.
    let is_reported = |above: &Process| is_guarded(above.pid, above.started) || agent(above) == Some(id);
    let is_ours = is_ours(process.pid) && !is_guarded(process.pid, process.started);
    if !is_ours || ancestors(process).any(|above| is_reported(&above)) {
        return None;
    }
    let cwd = platform::directory(process.pid)?;
    let arguments = arguments_of(process.pid);
    let this = AgentProcess { pid: process.pid, started: process.started };
    let is_rendered = |file: &str| Own::of(own).has_rendered(id, file, this);
    if arguments
        .as_ref()
        .is_some_and(|arguments| castellan_agents::keeps_hooks_on(id, arguments, is_rendered))
    {
        return None;
    }
    let start = start_of(id, process.pid, cwd.clone(), arguments);
    let why = HookSettings::of(id, start, own).unguarded()?;
    Some(UnguardedAgent {
        agent: id.word().to_owned(),
        pid: process.pid,
        cwd: cwd.display().to_string(),
        why,
    })
}

/// Reports whether the settings of an agent's process show that it asks castellan by its own hook. `own` are castellan's files
/// and folders.
pub(crate) fn asks_by_its_own_hook(id: AgentId, process: AgentProcess, own: &[String]) -> bool {
    let Some(cwd) = platform::directory(process.pid).filter(|_| process.lives()) else { return false };
    let start = start_of(id, process.pid, cwd, arguments_of(process.pid));
    HookSettings::of(id, start, own).unguarded().is_none()
}

/// Returns the agent whose program the process runs.
fn agent(process: &Process) -> Option<AgentId> {
    let executable = platform::executable(process.pid).ok();
    let names = [
        Some(process.name.as_str()),
        executable.as_deref().and_then(Path::file_name).and_then(|name| name.to_str()),
    ];
    AgentId::ALL.into_iter().find(|id| names.contains(&Some(id.word())))
}

/// Reports whether the process belongs to this user and sees the same files.
fn is_ours(pid: u32) -> bool {
    platform::owner(pid) == Some(sight::user()) && platform::sees_own_files(pid)
}

fn ancestors(process: &Process) -> impl Iterator<Item = Process> {
    let parent = |process: &Process| Process::read(process.parent).filter(|parent| parent.pid > 1);
    std::iter::successors(parent(process), parent).take(ANCESTORS_MAX)
}

#[cfg(test)]
mod tests;
