//! The hooks that a deliberate stop removes, and the list by which a start registers them again. The list is written
//! before the first hook is removed, so that a killed command loses none.

use std::io;

use anyhow::Context;
use castellan_agents::{AgentId, HookCommand};
use castellan_daemon::Layout;
use castellan_files::{read_text, write_private};
use serde::{Deserialize, Serialize};

use crate::agent_files::AgentFiles;
use crate::limits::REMOVED_HOOKS_BYTES_MAX;
use crate::output::message;
use crate::registration::{Registration, home_of};

/// The hook of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Hook {
    agent: String,
    program: String,
    home: String,
}

/// The result of [`remove`].
#[derive(Debug, Default)]
pub(crate) struct Removed {
    /// The agents that are not guarded any more.
    pub(crate) titles: Vec<&'static str>,
    pub(crate) failures: Vec<String>,
}

/// Removes the hooks of the user's settings that lead to this home. Those of the whole machine stay.
pub(crate) fn remove(layout: &Layout) -> anyhow::Result<Removed> {
    let mut hooks = read(layout)?;
    let mut registrations = Vec::new();
    for agent in AgentId::ALL {
        let registration = Registration::of_user(&AgentFiles::of_environment(agent)?);
        let own = registration.hooks().into_iter().find(|hook| home_of(hook).as_ref() == Some(layout.home()));
        let Some(HookCommand { program, home }) = own else { continue };
        hooks.retain(|hook| hook.agent != agent.word());
        hooks.push(Hook { agent: agent.word().to_owned(), program, home });
        registrations.push(registration);
    }
    let file = layout.removed_hooks();
    write_private(&file, &serde_json::to_vec(&hooks)?).with_context(|| format!("`{}`", file.display()))?;
    let mut removed = Removed::default();
    for registration in registrations {
        let title = registration.agent.title();
        match registration.remove(false) {
            Ok(_) => removed.titles.push(title),
            Err(error) => {
                removed
                    .failures
                    .push(format!("{title} keeps its hooks, which block every call: {}", message(&error)));
            }
        }
    }
    Ok(removed)
}

/// Registers the removed hooks again. Returns the agents. What fails stays in the list.
pub(crate) fn restore(layout: &Layout) -> anyhow::Result<Vec<&'static str>> {
    let mut restored = Vec::new();
    for Hook { agent, program, home } in read(layout)? {
        let Ok(agent) = agent.parse::<AgentId>() else { continue };
        let registration = Registration::of_user(&AgentFiles::of_environment(agent)?);
        let title = agent.title();
        registration.add(&HookCommand { program, home }, false).with_context(|| {
            format!("{title} is not guarded: a stop of the service has removed its hooks")
        })?;
        restored.push(title);
    }
    // A list that stays registers hooks again that are there.
    let _ = std::fs::remove_file(layout.removed_hooks());
    Ok(restored)
}

/// Returns the agents whose hooks a stop has removed.
pub(crate) fn removed(layout: &Layout) -> Vec<String> {
    read(layout).unwrap_or_default().into_iter().map(|hook| hook.agent).collect()
}

fn read(layout: &Layout) -> anyhow::Result<Vec<Hook>> {
    let file = layout.removed_hooks();
    let at = || format!("`{}`: remove it, and run `castellan install`", file.display());
    match read_text(&file, REMOVED_HOOKS_BYTES_MAX) {
        Ok(text) => serde_json::from_str(&text).with_context(at),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error).with_context(at),
    }
}
