//! OpenAI chat completions of Qwen Code 0.24.4: parses requests, and encodes a turn as a response.

use serde_json::{Value as Json, json};

use crate::http::Response;
use crate::model::{Block, Conversation, Turn, data_stream, elements, string_at, text_of};

pub(crate) fn conversation(body: &Json) -> Conversation {
    let messages = elements(body.get("messages").unwrap_or(&Json::Null));
    let text = |message: &Json| text_of(message.get("content").unwrap_or(&Json::Null));
    let of = |role: &'static str| messages.iter().filter(move |message| string_at(message, "role") == role);
    let is_answer = |message: &&Json| ["assistant", "tool"].contains(&string_at(message, "role"));
    let opening = messages.iter().take_while(|message| !is_answer(message));
    let opening = opening.filter(|message| string_at(message, "role") == "user").map(text);
    let tools = elements(body.get("tools").unwrap_or(&Json::Null));
    Conversation {
        opening: opening.collect::<Vec<_>>().join("\n"),
        tools: tools
            .iter()
            .filter_map(|tool| Some(string_at(tool.get("function")?, "name").to_owned()))
            .collect(),
        results: of("tool")
            .map(|message| (string_at(message, "tool_call_id").to_owned(), text(message)))
            .collect(),
    }
}

pub(crate) fn response(body: &Json, turn: &Turn) -> Response {
    let calls: Vec<Json> = turn.iter().enumerate().filter_map(|(index, part)| call(index, part)).collect();
    let text: String = turn.iter().filter_map(|(_, block)| text_in(block)).collect();
    let finish = if calls.is_empty() { "stop" } else { "tool_calls" };
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150});
    let mut message = json!({"role": "assistant", "content": text});
    if let (false, Json::Object(message)) = (calls.is_empty(), &mut message) {
        message.insert("tool_calls".to_owned(), calls.into());
    }
    let whole = |kind: &str, choice: Json| {
        json!({"id": "scripted", "object": kind, "created": 1, "model": "scripted", "choices": [choice],
               "usage": usage})
    };
    if body.get("stream") != Some(&Json::Bool(true)) {
        let choice = json!({"index": 0, "message": message, "finish_reason": finish});
        let body = whole("chat.completion", choice).to_string().into_bytes();
        return Response { content_type: "application/json", body };
    }
    let chunk = |delta: Json, finish: Json| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        whole("chat.completion.chunk", choice).to_string()
    };
    data_stream(&[chunk(message, Json::Null), chunk(json!({}), finish.into()), "[DONE]".to_owned()])
}

fn call(index: usize, (id, block): &(String, Block)) -> Option<Json> {
    let (tool, arguments) = match block {
        Block::Call { tool, input } => (tool, input.to_string()),
        Block::FreeCall { tool, input } => (tool, json!({"input": input}).to_string()),
        Block::Text(_) => return None,
    };
    let function = json!({"name": tool, "arguments": arguments});
    Some(json!({"index": index, "id": id, "type": "function", "function": function}))
}

fn text_in(block: &Block) -> Option<&str> {
    match block {
        Block::Text(text) => Some(text),
        Block::Call { .. } | Block::FreeCall { .. } => None,
    }
}
