//! Claude Code 2.1.330: messages with their usage, and a result for each prompt.

use serde_json::{Map, Value as Json};

use super::{StreamCall, StreamLine, StreamProblem, Tokens, UsageReport, text, tokens};
use crate::json::Keep;

/// The values that are read from a line of a stream or a transcript. Texts and results of tools are left out.
pub(super) const KEPT: Keep = Keep::Keys(&[
    ("type", Keep::All),
    ("session_id", Keep::All),
    ("timestamp", Keep::All),
    ("parent_tool_use_id", Keep::All),
    ("isSidechain", Keep::All),
    ("usage", Keep::All),
    ("message", MESSAGE),
]);

const MESSAGE: Keep =
    Keep::Keys(&[("id", Keep::All), ("usage", Keep::All), ("content", Keep::Items(&BLOCK))]);

const BLOCK: Keep =
    Keep::Keys(&[("type", Keep::All), ("id", Keep::All), ("name", Keep::All), ("input", Keep::All)]);

pub(super) fn stream(line: &Map<String, Json>) -> Result<StreamLine, StreamProblem> {
    let session = Some(text(line, "session_id")).filter(|id| !id.is_empty()).map(str::to_owned);
    let mut read = StreamLine { session, ..StreamLine::default() };
    match text(line, "type") {
        "assistant" => {
            read.calls = calls(line);
            let is_subagent = line.get("parent_tool_use_id").is_some_and(|parent| !parent.is_null());
            read.usage.push(response(line, is_subagent)?);
        }
        "result" => {
            let usage = line.get("usage").ok_or(StreamProblem::Usage("usage"))?;
            read.usage.push(UsageReport::Turn(read_tokens(usage)?));
        }
        _ => {}
    }
    Ok(read)
}

/// Reads a line of a transcript. A sub-agent has a transcript of its own, whose lines are marked.
pub(super) fn transcript(line: &Map<String, Json>) -> Result<StreamLine, StreamProblem> {
    if text(line, "type") != "assistant" {
        return Ok(StreamLine::default());
    }
    let is_subagent = line.get("isSidechain").and_then(Json::as_bool).unwrap_or(false);
    let usage = vec![response(line, is_subagent)?];
    Ok(StreamLine { calls: calls(line), usage, ..StreamLine::default() })
}

fn response(line: &Map<String, Json>, is_subagent: bool) -> Result<UsageReport, StreamProblem> {
    let message = line.get("message").ok_or(StreamProblem::Usage("message"))?;
    let usage = message.get("usage").ok_or(StreamProblem::Usage("usage"))?;
    let id = message.get("id").and_then(Json::as_str).ok_or(StreamProblem::Usage("id"))?.to_owned();
    Ok(UsageReport::Response { id, is_subagent, tokens: read_tokens(usage)? })
}

fn read_tokens(usage: &Json) -> Result<Tokens, StreamProblem> {
    Ok(Tokens {
        input: tokens(usage, "input_tokens", true)?,
        output: tokens(usage, "output_tokens", true)?,
        cache_creation: tokens(usage, "cache_creation_input_tokens", false)?,
    })
}

fn calls(line: &Map<String, Json>) -> Vec<StreamCall> {
    let blocks = line.get("message").and_then(|message| message.get("content")).and_then(Json::as_array);
    let blocks = blocks.into_iter().flatten().filter_map(Json::as_object);
    let calls = blocks.filter(|block| text(block, "type").ends_with("tool_use"));
    calls
        .map(|block| StreamCall {
            id: text(block, "id").to_owned(),
            tool: text(block, "name").to_owned(),
            input: block.get("input").cloned().unwrap_or_default(),
        })
        .collect()
}
