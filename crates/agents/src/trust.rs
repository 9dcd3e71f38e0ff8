//! Reports whether Codex runs a registered hook: only if the user has trusted it in `/hooks`. `config.toml` stores a
//! hash of the entry, under a key of file, event and position (measured on 0.169.0).

use serde_json::{Map, Value as Json, json};
use toml_edit::{DocumentMut, Item, TableLike};

use crate::agent::{AgentId, question_event};
use crate::settings::our_argv;

/// Codex's state of one hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Trust {
    /// The hook runs.
    Trusted,
    /// The user has not answered or has not agreed: the hook does not run.
    Untrusted,
    /// The entry differs from the trusted one: the hook does not run until it is trusted again.
    Changed,
    /// The user disabled the hook.
    Disabled,
}

/// Reports for each of castellan's hooks in a `hooks.json` whether Codex runs it. `hooks_json_path` is the absolute
/// path under which Codex sees the file: symlinks of its directory resolved, its own name unchanged. A `hooks.json`
/// that Codex cannot read has no hooks. A configuration that Codex cannot read trusts nothing.
pub fn hook_trust(config_toml: &str, hooks_json_path: &str, hooks_json_text: &str) -> Vec<(String, Trust)> {
    let config = config_toml.parse::<DocumentMut>().unwrap_or_default();
    let state = config.get("hooks").and_then(|hooks| hooks.get("state")).and_then(Item::as_table_like);
    let settings: Json = serde_json::from_str(hooks_json_text).unwrap_or_default();
    let mut trusts = Vec::new();
    for (event, groups) in settings.get("hooks").and_then(Json::as_object).into_iter().flatten() {
        let label = snake_case(event);
        for (group_index, group) in list(Some(groups)) {
            for (index, handler) in list(group.get("hooks")) {
                if our_argv(AgentId::CODEX, handler).is_some() {
                    let key = format!("{hooks_json_path}:{label}:{group_index}:{index}");
                    let entry = state.and_then(|state| state.get(&key)).and_then(Item::as_table_like);
                    let hash = entry_hash(&label, group.get("matcher").and_then(Json::as_str), handler);
                    trusts
                        .push((event.clone(), entry.map_or(Trust::Untrusted, |entry| judged(entry, &hash))));
                }
            }
        }
    }
    trusts
}

/// Returns why Codex does not run castellan's question hook in a `hooks.json`; `None` if it does or there is no such
/// hook. `trusts_all`: Codex was started with `--dangerously-bypass-hook-trust`. The texts are those of [`hook_trust`].
pub fn distrust(
    config_toml: &str,
    hooks_json_path: &str,
    hooks_json_text: &str,
    trusts_all: bool,
) -> Option<&'static str> {
    let trusts = hook_trust(config_toml, hooks_json_path, hooks_json_text);
    let event = question_event(AgentId::CODEX);
    let of_questions = trusts.iter().filter(|(of, _)| of == event).map(|(_, trust)| match trust {
        Trust::Disabled => Some("castellan's hook is switched off in `/hooks`"),
        _ if trusts_all => None,
        Trust::Trusted => None,
        Trust::Untrusted => Some("castellan's hook is not trusted in `/hooks`"),
        Trust::Changed => Some("castellan's hook is not the one that was trusted in `/hooks`"),
    });
    // A single running hook is enough.
    of_questions.reduce(|one, other| one.and(other)).flatten()
}

fn list(value: Option<&Json>) -> impl Iterator<Item = (usize, &Json)> {
    value.and_then(Json::as_array).into_iter().flatten().enumerate()
}

fn judged(entry: &dyn TableLike, hash: &str) -> Trust {
    let enabled = entry.get("enabled").and_then(Item::as_bool);
    match entry.get("trusted_hash").and_then(Item::as_str) {
        _ if enabled == Some(false) => Trust::Disabled,
        None => Trust::Untrusted,
        Some(trusted) if trusted == hash => Trust::Trusted,
        Some(_) => Trust::Changed,
    }
}

/// The SHA-256 of event, matcher and the handler with its defaults, as compact JSON with sorted keys.
fn entry_hash(event_label: &str, matcher: Option<&str>, handler: &Json) -> String {
    let timeout_s = handler.get("timeout").and_then(Json::as_u64).unwrap_or(600).max(1);
    let mut identity = Map::new();
    for key in ["type", "command", "statusMessage"] {
        if let Some(value) = handler.get(key).filter(|value| !value.is_null()) {
            identity.insert(key.to_owned(), value.clone());
        }
    }
    identity.insert("async".to_owned(), json!(handler.get("async").and_then(Json::as_bool).unwrap_or(false)));
    identity.insert("timeout".to_owned(), json!(timeout_s));
    let mut entry = json!({ "event_name": event_label, "hooks": [identity] });
    if let (Some(matcher), Some(fields)) = (matcher, entry.as_object_mut()) {
        fields.insert("matcher".to_owned(), json!(matcher));
    }
    entry.sort_all_objects();
    format!("sha256:{}", castellan_event::sha256_hex(entry.to_string()))
}

/// `PreToolUse` → `pre_tool_use`.
fn snake_case(event: &str) -> String {
    let mut label = String::new();
    for c in event.chars() {
        if c.is_ascii_uppercase() && !label.is_empty() {
            label.push('_');
        }
        label.push(c.to_ascii_lowercase());
    }
    label
}
