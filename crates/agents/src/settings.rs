//! Registration in an agent's user settings: text → text. [`register`] only adds text, in a form that shows
//! [`unregister`] the earlier text, so that the removal restores every byte. This module must not know where the file
//! is.
//!
//! `settings/source.rs` edits, `settings/entries.rs` finds hooks in the tree, `settings/inspection.rs` reports them,
//! `settings/takeover.rs` replaces those of another program.

mod entries;
mod inspection;
mod source;
mod takeover;

use jsonc_parser::ast::{Object, Value};
use serde_json::{Map, Value as Json, json};

use crate::agent::{AgentId, hook_events};
use crate::family::{HookCommand, claude, codex, gemini};
use crate::limits::SETTINGS_BYTES_MAX;
use crate::spec::{HookEvent, RegistrationFamily};
use entries::{Entry, Tree};

pub(crate) use inspection::switch_of;
pub use inspection::{Foreign, Inspection, Registered, inspect};
pub(crate) use source::{Source, Spot};
pub use takeover::take_over;

/// The name of the program that agents start as castellan's hook.
pub const HOOK_NAME: &str = "castellan-hook";

/// Why a settings text stays unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsProblem {
    /// Not JSON, with comments and trailing commas allowed.
    #[error("line {line}, column {column}: not valid JSON: {message}")]
    NotJson {
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// The error.
        message: String,
    },
    /// Not TOML.
    #[error("line {line}, column {column}: not valid TOML: {message}")]
    NotToml {
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// The error.
        message: String,
    },
    /// A value of a shape that the agent's settings do not have.
    #[error("{} must be {expected}", shown_path(path))]
    WrongShape {
        /// Dotted path of the value; empty for the whole file.
        path: String,
        /// The expected value.
        expected: String,
    },
    /// More than [`SETTINGS_BYTES_MAX`] bytes.
    #[error("the file has more than {SETTINGS_BYTES_MAX} bytes")]
    TooLarge,
}

/// Adds castellan's hooks to a text, which may be empty, and replaces castellan's hooks with another program or home. A
/// second registration changes nothing.
pub fn register(agent: AgentId, text: &str, hook: &HookCommand) -> Result<String, SettingsProblem> {
    let (mark, body) = byte_order_mark(text)?;
    if is_registered(agent, body, hook)? {
        return Ok(text.to_owned());
    }
    let mut body = without_ours(agent, body)?;
    for event in hook_events(agent) {
        body = with_event(agent, &body, hook, event)?;
    }
    Ok(format!("{mark}{body}"))
}

/// Removes castellan's hooks. From a text of [`register`] it restores the earlier text; empty if there was none.
pub fn unregister(agent: AgentId, text: &str) -> Result<String, SettingsProblem> {
    let (mark, body) = byte_order_mark(text)?;
    Ok(format!("{mark}{}", without_ours(agent, body)?))
}

/// Returns the group for an event.
pub(crate) fn group(agent: AgentId, hook: &HookCommand, event: &HookEvent) -> Json {
    let handler = match agent.spec().families.registration {
        RegistrationFamily::ExecForm => claude::handler(agent, hook, event),
        RegistrationFamily::ShellLine => codex::handler(agent, hook, event),
        RegistrationFamily::BashLine => gemini::handler(agent, hook, event),
    };
    let mut group = Map::new();
    if let Some(matcher) = event.matcher {
        group.insert("matcher".to_owned(), json!(matcher));
    }
    group.insert("hooks".to_owned(), json!([handler]));
    Json::Object(group)
}

fn is_registered(agent: AgentId, body: &str, hook: &HookCommand) -> Result<bool, SettingsProblem> {
    let source = Source::parse(body)?;
    let tree = Tree::of(&source)?;
    let entries = tree.entries();
    let ours: Vec<_> = entries.iter().filter(|entry| our_argv(agent, &entry.handler).is_some()).collect();
    let written = |event: &HookEvent| {
        let group = group(agent, hook, event);
        ours.iter().any(|entry| entry.event == event.name && entry.group_json() == group)
    };
    Ok(ours.len() == hook_events(agent).len() && hook_events(agent).iter().all(written))
}

fn with_event(
    agent: AgentId,
    body: &str,
    hook: &HookCommand,
    event: &HookEvent,
) -> Result<String, SettingsProblem> {
    let source = Source::parse(body)?;
    let tree = Tree::of(&source)?;
    let group = group(agent, hook, event);
    Ok(match (tree.root, tree.hooks, tree.event(event.name)?) {
        (None, ..) => source.insert_root(&json!({ "hooks": { event.name: [group] } })),
        (Some(root), None, _) => source.insert(&Spot::object(root), "hooks", &json!({ event.name: [group] })),
        (Some(_), Some(hooks), None) => source.insert(&Spot::object(hooks), event.name, &json!([group])),
        (Some(_), Some(_), Some(groups)) => source.insert(&Spot::array(groups), "", &group),
    })
}

/// Removes castellan's hooks one by one, in the reverse order of adding.
fn without_ours(agent: AgentId, body: &str) -> Result<String, SettingsProblem> {
    let mut body = body.to_owned();
    loop {
        let source = Source::parse(&body)?;
        let tree = Tree::of(&source)?;
        let entries = tree.entries();
        let is_ours = |entry: &&Entry<'_, '_>| our_argv(agent, &entry.handler).is_some();
        let Some(entry) = entries.iter().rfind(is_ours) else {
            return Ok(body);
        };
        let mut group = entries.iter().filter(|other| std::ptr::eq(other.group, entry.group));
        let shared = !group.all(|other| is_ours(&other));
        let shorter = if shared {
            source.remove(&Spot::array(entry.handlers), entry.handler_index)
        } else {
            source.remove_with_brackets(&tree.way_to(entry))
        };
        body = shorter;
    }
}

/// Returns the command line of a handler that castellan wrote, with any program path and home.
pub(crate) fn our_argv(agent: AgentId, handler: &Json) -> Option<Vec<String>> {
    // A handler of another type runs something else, whatever its other keys.
    if handler.get("type").is_some_and(|kind| kind != "command") {
        return None;
    }
    let argv = match agent.spec().families.registration {
        RegistrationFamily::ExecForm => claude::argv(handler),
        RegistrationFamily::ShellLine | RegistrationFamily::BashLine => codex::argv(handler),
    }?;
    let [program, flag, ..] = argv.as_slice() else {
        return None;
    };
    (program.rsplit('/').next() == Some(HOOK_NAME) && flag == "--agent").then_some(argv)
}

pub(crate) fn byte_order_mark(text: &str) -> Result<(&str, &str), SettingsProblem> {
    const MARK: &str = "\u{feff}";
    if text.len() > SETTINGS_BYTES_MAX {
        return Err(SettingsProblem::TooLarge);
    }
    Ok(text.strip_prefix(MARK).map_or(("", text), |body| (MARK, body)))
}

/// Looks up a key that must be unique in an object.
fn property<'a, 't>(
    object: &'a Object<'t>,
    name: &str,
    path: &str,
) -> Result<Option<&'a Value<'t>>, SettingsProblem> {
    let mut found = object.properties.iter().filter(|property| property.name.as_str() == name);
    let first = found.next().map(|property| &property.value);
    match found.next() {
        Some(_) => Err(wrong_shape(path, "a key that stands once")),
        None => Ok(first),
    }
}

fn shown_path(path: &str) -> String {
    if path.is_empty() { "the file".to_owned() } else { format!("`{path}`") }
}

fn wrong_shape(path: &str, expected: &str) -> SettingsProblem {
    SettingsProblem::WrongShape { path: path.to_owned(), expected: expected.to_owned() }
}
