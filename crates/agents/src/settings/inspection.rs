//! Reports the hooks of a settings text, and whether the agent reads the text, for `castellan doctor`. Read-only.

use jsonc_parser::ast::Object;
use serde_json::Value as Json;

use super::entries::{Entry, Tree, disable_all_hooks, hooks_config, off_variable};
use super::source::Source;
use super::{HookCommand, SettingsProblem, byte_order_mark, group, our_argv};
use crate::agent::{AgentId, hook_events};
use crate::comments::without_comments;
use crate::spec::{HookEvent, ReaderFamily, SwitchFamily};

/// The hooks of a settings text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inspection {
    /// castellan's own hooks.
    pub ours: Vec<Registered>,
    /// Events without castellan's hook, of those that castellan registers for.
    pub missing: Vec<&'static str>,
    /// Foreign hooks.
    pub foreign: Vec<Foreign>,
    /// True if the text switches all hooks off.
    pub disabled: bool,
    /// Why the agent ignores the whole file, hooks included, although castellan can edit it. Measured: neither Claude
    /// Code 2.1.330 nor Codex 0.169.0 reads comments or trailing commas.
    pub ignored: Option<String>,
}

/// A hook of castellan's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registered {
    /// The event.
    pub event: String,
    /// The command line.
    pub argv: Vec<String>,
    /// True if the entry is exactly as [`super::register`] writes it, with matcher and timeout.
    pub intact: bool,
}

/// A hook that is not castellan's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Foreign {
    /// The event.
    pub event: String,
    /// The command, or the whole entry if it is not a command.
    pub command: String,
}

/// Reports the hooks of a text.
pub fn inspect(agent: AgentId, text: &str) -> Result<Inspection, SettingsProblem> {
    let (mark, body) = byte_order_mark(text)?;
    let source = Source::parse(body)?;
    let tree = Tree::of(&source)?;
    let disabled = tree.root.is_some_and(|root| switch_in(agent, root).is_some());
    let mut found = Inspection { disabled, ..Inspection::default() };
    for entry in tree.entries() {
        match our_argv(agent, &entry.handler) {
            Some(argv) => {
                let intact = is_intact(agent, &entry, &argv);
                found.ours.push(Registered { event: entry.event.to_owned(), argv, intact });
            }
            None => found.foreign.push(Foreign { event: entry.event.to_owned(), command: entry.shown() }),
        }
    }
    let registered = |event: &HookEvent| found.ours.iter().any(|ours| ours.event == event.name);
    found.missing =
        hook_events(agent).iter().filter(|event| !registered(event)).map(|event| event.name).collect();
    found.ignored = ignored(agent, mark, body);
    Ok(found)
}

/// Returns the switch by which a JSON settings text switches hooks off; `None` if the text is not a JSON object.
pub(crate) fn switch_of(agent: AgentId, text: &str) -> Option<&'static str> {
    let body = byte_order_mark(text).map(|(_, body)| body).unwrap_or_default();
    let source = Source::parse(body).ok()?;
    switch_in(agent, source.root.as_ref()?.as_object()?)
}

fn switch_in(agent: AgentId, root: &Object<'_>) -> Option<&'static str> {
    match agent.spec().families.switch {
        SwitchFamily::DisableAllHooks => disable_all_hooks(root).or_else(|| {
            // Claude Code 2.1.330 reads no such variable from settings (measured).
            let takes_variables = !agent.spec().variable_files.is_empty();
            takes_variables.then(|| off_variable(root, agent.spec().off_variables)).flatten()
        }),
        SwitchFamily::HooksConfig => hooks_config(root),
        SwitchFamily::Feature => None,
    }
}

fn is_intact(agent: AgentId, entry: &Entry<'_, '_>, argv: &[String]) -> bool {
    let Some(hook) = HookCommand::of_argv(argv) else {
        return false;
    };
    // castellan writes a separate group. This check avoids copying a long group for each of its handlers.
    let mut events = hook_events(agent).iter().filter(|_| entry.handlers.elements.len() == 1);
    events.any(|event| event.name == entry.event && group(agent, &hook, event) == entry.group_json())
}

fn ignored(agent: AgentId, mark: &str, body: &str) -> Option<String> {
    let title = agent.title();
    if body.trim().is_empty() {
        return None;
    }
    let reader = agent.spec().families.reader;
    if reader == ReaderFamily::Commented {
        let error = serde_json::from_str::<Json>(&without_comments(body)).err()?;
        return Some(format!("{title} reads no trailing commas: {error}"));
    }
    let value = match serde_json::from_str::<Json>(body) {
        Ok(value) => value,
        Err(error) => return Some(format!("{title} reads no comments and no trailing commas: {error}")),
    };
    if reader == ReaderFamily::JavaScript {
        return None;
    }
    if !mark.is_empty() {
        return Some(format!("{title} reads no file that begins with a byte order mark"));
    }
    let unknown = value.as_object()?.keys().find(|key| !["description", "hooks"].contains(&key.as_str()))?;
    Some(format!("{title} reads no file with the key `{unknown}`"))
}
