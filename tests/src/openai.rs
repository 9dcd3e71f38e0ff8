//! The OpenAI Responses API of Codex 0.169.0: parses requests, and encodes a turn as a response.

use serde_json::{Value as Json, json};

use crate::http::Response;
use crate::model::{Block, Conversation, Turn, elements, event_stream, string_at, text_of};

pub(crate) fn conversation(body: &Json) -> Conversation {
    let input = elements(body.get("input").unwrap_or(&Json::Null));
    // Codex opens with several messages: the repository's instructions, the environment, the prompt. A sub-agent's task
    // arrives as a message of its parent.
    let opening = input
        .iter()
        .take_while(|item| {
            matches!(string_at(item, "type"), "message" | "additional_tools" | "agent_message")
        })
        .filter(|item| string_at(item, "role") == "user" || string_at(item, "type") == "agent_message")
        .flat_map(|item| elements(item.get("content").unwrap_or(&Json::Null)))
        .map(|part| format!("{}{}\n", string_at(part, "text"), string_at(part, "encrypted_content")))
        .collect();
    // Newer models receive their tools, grouped, in the conversation instead of beside it.
    let told = input.iter().filter(|item| string_at(item, "type") == "additional_tools");
    let tools = std::iter::once(body).chain(told).flat_map(tool_names).collect();
    let results = input
        .iter()
        .filter(|item| string_at(item, "type").ends_with("_output"))
        .map(|item| {
            (string_at(item, "call_id").to_owned(), text_of(item.get("output").unwrap_or(&Json::Null)))
        })
        .collect();
    Conversation { opening, tools, results }
}

/// Returns the names of the `tools` of a value, each namespace before its tools. Hosted tools have only a type.
fn tool_names(holder: &Json) -> Vec<String> {
    let tools = elements(holder.get("tools").unwrap_or(&Json::Null));
    let names = tools.iter().flat_map(|tool| {
        let name = if string_at(tool, "name").is_empty() { "type" } else { "name" };
        std::iter::once(string_at(tool, name).to_owned()).chain(tool_names(tool))
    });
    names.collect()
}

pub(crate) fn response(number: usize, turn: &Turn) -> Response {
    let id = format!("resp_{number}");
    let items: Vec<Json> = turn.iter().enumerate().map(|(index, part)| item(number, index, part)).collect();
    let usage = json!({"input_tokens": 100, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 50,
                       "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 150});
    let created = json!({"id": id, "object": "response", "status": "in_progress", "output": []});
    let completed =
        json!({"id": id, "object": "response", "status": "completed", "output": items, "usage": usage});
    let mut events = vec![("response.created", json!({"type": "response.created", "response": created}))];
    for (index, item) in items.iter().enumerate() {
        for kind in ["response.output_item.added", "response.output_item.done"] {
            events.push((kind, json!({"type": kind, "output_index": index, "item": item})));
        }
    }
    events.push(("response.completed", json!({"type": "response.completed", "response": completed})));
    for (sequence, (_, event)) in events.iter_mut().enumerate() {
        if let Json::Object(event) = event {
            event.insert("sequence_number".to_owned(), sequence.into());
        }
    }
    event_stream(&events)
}

fn item(number: usize, index: usize, (call_id, block): &(String, Block)) -> Json {
    let id = format!("item_{number}_{index}");
    match block {
        Block::Call { tool, input } => {
            let (namespace, name) =
                tool.split_once('.').map_or((None, &**tool), |(space, name)| (Some(space), name));
            json!({"type": "function_call", "id": id, "call_id": call_id, "namespace": namespace, "name": name,
                   "arguments": input.to_string(), "status": "completed"})
        }
        Block::FreeCall { tool, input } => json!({"type": "custom_tool_call", "id": id, "call_id": call_id,
                                                  "name": tool, "input": input, "status": "completed"}),
        Block::Text(text) => json!({"type": "message", "id": id, "role": "assistant", "status": "completed",
                                    "content": [{"type": "output_text", "text": text, "annotations": []}]}),
    }
}
