//! Codex 0.169.0: `response_item`s of requests and results, and `event_msg`s of calls that ran, also within code
//! (`exec`).

use serde_json::{Map, Value as Json};

use super::{TranscriptEntry, call, text};
use crate::agent::AgentId;

/// Beginnings of the output of a call that did not run: denied by a hook, unknown tool, or input of another shape.
const NOT_RUN: &[&str] = &[
    "Command blocked by PreToolUse hook: ",
    "Tool call blocked by PreToolUse hook: ",
    "unsupported call: ",
    "failed to parse function arguments: ",
];

/// Items of calls that ran: the item, the tool whose hook receives its id, and the key of the input.
const ITEMS: &[(&str, &str, &str)] =
    &[("CommandExecution", "Bash", "command"), ("FileChange", "apply_patch", "changes")];

pub(super) fn entries(agent: AgentId, line: &Map<String, Json>) -> Vec<TranscriptEntry> {
    let Some(payload) = line.get("payload").and_then(Json::as_object) else { return Vec::new() };
    let entry = match (text(line, "type"), text(payload, "type")) {
        ("response_item", "function_call" | "custom_tool_call") => Some(begun(agent, payload)),
        ("response_item", "function_call_output" | "custom_tool_call_output") => Some(ended(payload)),
        ("response_item", "web_search_call") => Some(hosted(agent, payload)),
        ("event_msg", "item_completed") => {
            payload.get("item").and_then(Json::as_object).and_then(|one| item(agent, one))
        }
        _ => None,
    };
    entry.into_iter().collect()
}

/// The hook receives the name of a grouped tool as group and name joined together.
fn begun(agent: AgentId, payload: &Map<String, Json>) -> TranscriptEntry {
    let raw = format!("{}{}", text(payload, "namespace"), text(payload, "name"));
    let arguments =
        payload.get("arguments").and_then(Json::as_str).and_then(|text| serde_json::from_str(text).ok());
    let input = arguments.or_else(|| payload.get("input").cloned()).unwrap_or_default();
    TranscriptEntry::Begun(call(agent, text(payload, "call_id"), &raw, input))
}

fn ended(payload: &Map<String, Json>) -> TranscriptEntry {
    let output = match payload.get("output") {
        Some(Json::Array(parts)) => parts.first().and_then(|part| part.get("text")),
        output => output,
    };
    let output = output.and_then(Json::as_str).unwrap_or_default();
    let ran = !NOT_RUN.iter().any(|beginning| output.starts_with(beginning));
    TranscriptEntry::Ended { id: text(payload, "call_id").to_owned(), ran }
}

/// The provider ran the search before Codex received it.
fn hosted(agent: AgentId, payload: &Map<String, Json>) -> TranscriptEntry {
    let action = payload.get("action").cloned().unwrap_or_default();
    TranscriptEntry::Ran(call(agent, text(payload, "id"), "web_search", action))
}

fn item(agent: AgentId, item: &Map<String, Json>) -> Option<TranscriptEntry> {
    let (_, tool, key) = ITEMS.iter().find(|(kind, ..)| *kind == text(item, "type"))?;
    let input = item.get(*key).cloned().unwrap_or_default();
    let ran = text(item, "status") != "declined";
    ran.then(|| TranscriptEntry::Ran(call(agent, text(item, "id"), tool, input)))
}
