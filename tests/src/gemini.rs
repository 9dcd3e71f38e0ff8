//! The Gemini API of Gemini CLI 0.61.0: parses requests, and encodes a turn as a response.

use serde_json::{Value as Json, json};

use crate::http::Response;
use crate::model::{Block, Conversation, Turn, data_stream, elements, string_at};

pub(crate) fn conversation(body: &Json) -> Conversation {
    let contents = elements(body.get("contents").unwrap_or(&Json::Null));
    let parts = |content: &Json| elements(content.get("parts").unwrap_or(&Json::Null)).to_vec();
    let opening = contents
        .iter()
        .take_while(|content| string_at(content, "role") == "user")
        .flat_map(parts)
        .map(|part| format!("{}\n", string_at(&part, "text")))
        .collect();
    let tools = elements(body.get("tools").unwrap_or(&Json::Null));
    let declared = tools.iter().filter_map(|tool| tool.get("functionDeclarations")).flat_map(elements);
    let results = contents.iter().flat_map(parts).filter_map(|part| result(part.get("functionResponse")?));
    Conversation {
        opening,
        tools: declared.map(|tool| string_at(tool, "name").to_owned()).collect(),
        results: results.collect(),
    }
}

/// Returns the id and the text of a call's result: its output or its error.
fn result(response: &Json) -> Option<(String, String)> {
    let told = response.get("response")?;
    let text = [string_at(told, "output"), string_at(told, "error")].concat();
    Some((string_at(response, "id").to_owned(), text))
}

pub(crate) fn response(path: &str, turn: &Turn) -> Response {
    let parts: Vec<Json> = turn.iter().map(part).collect();
    let response = json!({
        "candidates": [{
            "content": {"role": "model", "parts": parts},
            "finishReason": "STOP",
            "index": 0,
        }],
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 50, "totalTokenCount": 150},
        "modelVersion": "scripted",
    });
    if path.ends_with(":streamGenerateContent") {
        return data_stream(&[response.to_string()]);
    }
    Response { content_type: "application/json", body: response.to_string().into_bytes() }
}

fn part((id, block): &(String, Block)) -> Json {
    match block {
        Block::Call { tool, input } => json!({"functionCall": {"id": id, "name": tool, "args": input}}),
        Block::FreeCall { tool, input } => {
            json!({"functionCall": {"id": id, "name": tool, "args": {"input": input}}})
        }
        Block::Text(text) => json!({"text": text}),
    }
}
