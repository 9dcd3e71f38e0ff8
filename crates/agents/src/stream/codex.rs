//! Codex 0.169.0: items of a thread in the stream, and the thread's usage in both. Its input contains what came from a
//! cache, and what was stored in one.

use serde_json::{Map, Value as Json};

use super::{StreamCall, StreamLine, StreamProblem, Tokens, UsageReport, text, tokens};

/// Items of a transcript that request a call. The stream has none for a call that does not run.
const CALLS: &[&str] = &["function_call", "custom_tool_call", "web_search_call", "local_shell_call"];

/// Items that are no tool calls.
const NO_CALLS: &[&str] = &["agent_message", "reasoning", "todo_list", "error"];

pub(super) fn stream(line: &Map<String, Json>) -> Result<StreamLine, StreamProblem> {
    let mut read = StreamLine::default();
    match text(line, "type") {
        "thread.started" => read.session = Some(text(line, "thread_id").to_owned()),
        "turn.completed" => {
            let usage = line.get("usage").ok_or(StreamProblem::Usage("usage"))?;
            read.usage.push(UsageReport::Thread(read_tokens(usage)?));
        }
        "item.started" | "item.completed" => {
            let item = line.get("item").and_then(Json::as_object);
            read.calls.extend(item.filter(|item| !NO_CALLS.contains(&text(item, "type"))).map(call));
        }
        _ => {}
    }
    Ok(read)
}

pub(super) fn transcript(line: &Map<String, Json>) -> Result<StreamLine, StreamProblem> {
    let payload = line.get("payload").and_then(Json::as_object);
    if let Some(payload) = payload.filter(|payload| CALLS.contains(&text(payload, "type"))) {
        return Ok(StreamLine { calls: vec![requested(payload)], ..StreamLine::default() });
    }
    let counts = |payload: &&Map<String, Json>| text(payload, "type") == "token_count";
    // Before the first response it reports only limits of rates.
    let info = payload.filter(counts).and_then(|payload| payload.get("info")).filter(|info| !info.is_null());
    let Some(info) = info else { return Ok(StreamLine::default()) };
    let total = info.get("total_token_usage").ok_or(StreamProblem::Usage("total_token_usage"))?;
    Ok(StreamLine { usage: vec![UsageReport::Thread(read_tokens(total)?)], ..StreamLine::default() })
}

fn read_tokens(usage: &Json) -> Result<Tokens, StreamProblem> {
    let input = tokens(usage, "input_tokens", true)?;
    let cached = tokens(usage, "cached_input_tokens", false)?;
    Ok(Tokens {
        input: input.checked_sub(cached).ok_or(StreamProblem::Usage("cached_input_tokens"))?,
        output: tokens(usage, "output_tokens", true)?,
        cache_creation: 0,
    })
}

fn requested(payload: &Map<String, Json>) -> StreamCall {
    let input = ["arguments", "input", "action"].iter().find_map(|key| payload.get(*key));
    StreamCall {
        id: text(payload, "call_id").to_owned(),
        tool: format!("{}{}", text(payload, "namespace"), text(payload, "name")),
        input: input.cloned().unwrap_or_default(),
    }
}

fn call(item: &Map<String, Json>) -> StreamCall {
    let input = item.iter().filter(|(key, _)| !["id", "type", "status"].contains(&key.as_str()));
    StreamCall {
        id: text(item, "id").to_owned(),
        tool: text(item, "type").to_owned(),
        input: Json::Object(input.map(|(key, value)| (key.clone(), value.clone())).collect()),
    }
}
