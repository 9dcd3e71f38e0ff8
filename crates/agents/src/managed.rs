//! Machine-wide registration, which a repository cannot switch off: Claude Code's `managed-settings.d` and Codex's
//! `requirements.toml`. Texts in, texts out. This module does not decide who may write those files.
//!
//! Measured on Codex 0.169.0: hooks of `requirements.toml` need no trust. These hooks override a user's or repository's
//! `features.hooks = false` only if the file also has `[features] hooks = true`.

use serde_json::{Map, Value as Json, json};
use toml_edit::{Document, Item, Table, value};

use crate::agent::{AgentId, hook_events, machine_settings_path};
use crate::family::{HookCommand, codex};
use crate::hook_files::{hook_files, read_hook_file};
use crate::limits::SETTINGS_BYTES_MAX;
use crate::settings::{SettingsProblem, group};

const BEGIN: &str = "# castellan begin: written by `castellan install --managed`\n";
const END: &str = "# castellan end\n";
/// Inserted after an existing header `[features]`.
const SWITCH: &str = "\nhooks = true # castellan";

/// Returns the text of a managed settings file with castellan's hooks only.
pub fn managed_settings_text(agent: AgentId, hook: &HookCommand) -> String {
    let events = hook_events(agent).iter();
    let hooks: Map<_, _> =
        events.map(|event| (event.name.to_owned(), json!([group(agent, hook, event)]))).collect();
    format!("{:#}\n", json!({ "hooks": Json::Object(hooks) }))
}

/// Adds castellan's hooks to a Codex `requirements.toml`, which may be empty. A `features.hooks = false` there is an
/// administrator's decision: it is an error and stays unchanged.
pub fn register_managed_toml(text: &str, hook: &HookCommand) -> Result<String, SettingsProblem> {
    let before = unregister_managed_toml(text)?;
    let (switched, needs_table) = switch_on(&before)?;
    let gap = if switched.is_empty() { "" } else { "\n" };
    let added = format!("{switched}{gap}{BEGIN}{}{END}", hook_tables(hook, needs_table));
    match parse(&added) {
        Ok(_) => Ok(added),
        Err(_) => Err(SettingsProblem::WrongShape {
            path: "hooks".to_owned(),
            expected: "a table whose events are written as `[[hooks.PreToolUse]]`".to_owned(),
        }),
    }
}

/// Removes castellan's hooks from a Codex `requirements.toml`; every other byte stays.
pub fn unregister_managed_toml(text: &str) -> Result<String, SettingsProblem> {
    parse(text)?;
    Ok(without_block(text).replacen(SWITCH, "", 1))
}

/// Returns the distinct commands of castellan's hooks in a Codex `requirements.toml`; empty if it does not parse.
pub fn managed_toml_hooks(text: &str) -> Vec<HookCommand> {
    let path = machine_settings_path(AgentId::CODEX);
    let file = hook_files(AgentId::CODEX).iter().find(|file| Some(file.path) == path);
    let named = file.map(|file| read_hook_file(AgentId::CODEX, file, text).named).unwrap_or_default();
    let mut hooks: Vec<HookCommand> = Vec::new();
    for hook in named.into_iter().map(|named| named.hook) {
        if !hooks.contains(&hook) {
            hooks.push(hook);
        }
    }
    hooks
}

/// Returns the text with `features.hooks` on in an existing table `[features]`, and whether a table must be added.
fn switch_on(text: &str) -> Result<(String, bool), SettingsProblem> {
    let document = parse(text)?;
    let Some(features) = document.get("features") else {
        return Ok((text.to_owned(), true));
    };
    let switch = features.as_table_like().and_then(|table| table.get("hooks")).map(Item::as_bool);
    let header =
        features.as_table().filter(|table| !table.is_dotted() && !table.is_implicit()).and_then(Table::span);
    match (switch, header.and_then(|header| text.split_at_checked(header.end))) {
        (Some(Some(true)), _) => Ok((text.to_owned(), false)),
        (None, Some((before, after))) => {
            let line_end = after.find(['\r', '\n']).unwrap_or(after.len());
            let (line, rest) = after.split_at_checked(line_end).unwrap_or((after, ""));
            Ok((format!("{before}{line}{SWITCH}{rest}"), false))
        }
        (Some(_), _) | (None, None) => Err(SettingsProblem::WrongShape {
            path: "features.hooks".to_owned(),
            expected: "true: set it, then install again".to_owned(),
        }),
    }
}

/// Returns the tables that register castellan's hooks, and the switch if `with_features`.
pub(crate) fn hook_tables(hook: &HookCommand, with_features: bool) -> String {
    let mut text = if with_features { "[features]\nhooks = true\n\n".to_owned() } else { String::new() };
    for event in hook_events(AgentId::CODEX) {
        let command = value(codex::line(AgentId::CODEX, hook, event.name));
        let (name, timeout_s) = (event.name, event.timeout_s);
        let matcher = event.matcher.unwrap_or_default();
        text.push_str(&format!("[[hooks.{name}]]\nmatcher = \"{matcher}\"\n"));
        text.push_str(&format!("[[hooks.{name}.hooks]]\ntype = \"command\"\n"));
        text.push_str(&format!("command = {}\ntimeout = {timeout_s}\n", command.to_string().trim()));
    }
    text
}

fn without_block(text: &str) -> String {
    let Some((before, rest)) = text.split_once(BEGIN) else {
        return text.to_owned();
    };
    let Some((_, after)) = rest.split_once(END) else {
        return text.to_owned();
    };
    format!("{}{after}", before.strip_suffix('\n').unwrap_or(before))
}

fn parse(text: &str) -> Result<Document<&str>, SettingsProblem> {
    if text.len() > SETTINGS_BYTES_MAX {
        return Err(SettingsProblem::TooLarge);
    }
    Document::parse(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        SettingsProblem::NotToml {
            line: before.matches('\n').count() + 1,
            column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
            message: error.message().replace('\n', ", "),
        }
    })
}
