//! Claude Code 2.1.330: blocks in the `content` of messages.

use serde_json::{Map, Value as Json};

use super::{TranscriptEntry, call, text};
use crate::agent::AgentId;

pub(super) fn entries(agent: AgentId, line: &Map<String, Json>) -> Vec<TranscriptEntry> {
    let blocks = line.get("message").and_then(|message| message.get("content")).and_then(Json::as_array);
    let blocks = blocks.into_iter().flatten().filter_map(Json::as_object);
    match text(line, "type") {
        "assistant" => blocks.filter_map(|block| begun(agent, block)).collect(),
        "user" => blocks.filter_map(|block| ended(line, block)).collect(),
        _ => Vec::new(),
    }
}

fn begun(agent: AgentId, block: &Map<String, Json>) -> Option<TranscriptEntry> {
    let input = block.get("input").cloned().unwrap_or_default();
    let call = call(agent, text(block, "id"), text(block, "name"), input);
    match text(block, "type") {
        "tool_use" => Some(TranscriptEntry::Begun(call)),
        // The provider runs this call before the agent receives it.
        "server_tool_use" => Some(TranscriptEntry::Ran(call)),
        _ => None,
    }
}

/// Reads the result of a call. Without a permission decision the call ran unless its result is an error (no such tool,
/// wrong input).
fn ended(line: &Map<String, Json>, block: &Map<String, Json>) -> Option<TranscriptEntry> {
    if text(block, "type") != "tool_result" {
        return None;
    }
    let permission = line.get("permissionDecision").and_then(|permission| permission.get("decision"));
    let is_error = block.get("is_error").and_then(Json::as_bool).unwrap_or(false);
    let ran = permission.and_then(Json::as_str).map_or(!is_error, |decision| decision == "accept");
    Some(TranscriptEntry::Ended { id: text(block, "tool_use_id").to_owned(), ran })
}
