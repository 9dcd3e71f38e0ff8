//! The JSON of the two HTTP providers: requests, and the text of the model in the response. Each response has one text;
//! a response with none or several is in another format.

use serde::Deserialize;
use serde_json::{Value, json};

use super::http::Exchange;
use super::{Cost, Endpoint, Limits, Said};
use crate::error::Fault;
use crate::prompt::Request;

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    content: String,
}

#[derive(Deserialize)]
struct AnthropicMessage {
    content: Vec<Block>,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct Block {
    r#type: String,
    #[serde(default)]
    text: Option<String>,
}

/// Writes a request for chat completions.
pub(super) fn open_ai(endpoint: &Endpoint, request: &Request, limits: &Limits) -> Exchange {
    let body = json!({
        "model": endpoint.model,
        "temperature": 0,
        "max_tokens": limits.output_tokens,
        "stream": false,
        "messages": [
            { "role": "system", "content": request.instructions },
            { "role": "user", "content": request.document },
        ],
    });
    let key = endpoint.key.as_ref().map(|key| ("authorization", format!("Bearer {}", key.expose())));
    Exchange {
        url: whole(&endpoint.url, "/chat/completions"),
        headers: key.into_iter().collect(),
        body: body.to_string(),
    }
}

/// Writes a request for the Messages API.
pub(super) fn anthropic(endpoint: &Endpoint, request: &Request, limits: &Limits) -> Exchange {
    let body = json!({
        "model": endpoint.model,
        "temperature": 0,
        "max_tokens": limits.output_tokens,
        "system": request.instructions,
        "messages": [{ "role": "user", "content": request.document }],
    });
    let key = endpoint.key.as_ref().map(|key| ("x-api-key", key.expose().to_owned()));
    let version = ("anthropic-version", "2023-06-01".to_owned());
    Exchange {
        url: whole(&endpoint.url, "/v1/messages"),
        headers: [version].into_iter().chain(key).collect(),
        body: body.to_string(),
    }
}

/// Reads the response of chat completions.
pub(super) fn open_ai_said(body: &[u8]) -> Result<Said, Fault> {
    let Completion { choices, usage } = read(body)?;
    let [Choice { message }] = <[Choice; 1]>::try_from(choices).map_err(|_| Fault::Format)?;
    Ok(Said { text: message.content, cost: cost(&usage, "prompt_tokens", "completion_tokens") })
}

/// Reads the response of the Messages API.
pub(super) fn anthropic_said(body: &[u8]) -> Result<Said, Fault> {
    let AnthropicMessage { content, usage } = read(body)?;
    let [Block { r#type, text: Some(text) }] = <[Block; 1]>::try_from(content).map_err(|_| Fault::Format)?
    else {
        return Err(Fault::Format);
    };
    if r#type != "text" {
        return Err(Fault::Format);
    }
    Ok(Said { text, cost: cost(&usage, "input_tokens", "output_tokens") })
}

fn read<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Fault> {
    serde_json::from_slice(body).map_err(|_| match body.trim_ascii_start() {
        [b'<', ..] => Fault::Html,
        _ => Fault::Format,
    })
}

fn cost(usage: &Value, input: &str, output: &str) -> Option<Cost> {
    let tokens = |key| usage.get(key).and_then(Value::as_u64);
    Some(Cost { input_tokens: tokens(input)?, output_tokens: tokens(output)? })
}

/// Returns the URL of a method. A URL in the settings may name the method already.
fn whole(url: &str, path: &str) -> String {
    // The base URL of the Messages API is written with and without its version.
    let version = path.split('/').nth(1).filter(|first| *first == "v1" && url.ends_with("/v1"));
    let rest = if version.is_some() { path.trim_start_matches("/v1") } else { path };
    if url.ends_with(path) { url.to_owned() } else { format!("{url}{rest}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_and_a_whole_one_are_the_same() {
        for (url, path, expected) in [
            ("http://127.0.0.1/v1", "/chat/completions", "http://127.0.0.1/v1/chat/completions"),
            (
                "http://127.0.0.1/v1/chat/completions",
                "/chat/completions",
                "http://127.0.0.1/v1/chat/completions",
            ),
            ("https://a.b", "/v1/messages", "https://a.b/v1/messages"),
            ("https://a.b/v1", "/v1/messages", "https://a.b/v1/messages"),
            ("https://a.b/x/v1/messages", "/v1/messages", "https://a.b/x/v1/messages"),
        ] {
            assert_eq!(whole(url, path), expected);
        }
    }

    #[test]
    fn a_response_has_one_text() {
        type Read = fn(&[u8]) -> Result<Said, Fault>;
        let (open_ai, anthropic): (Read, Read) = (open_ai_said, anthropic_said);
        let cost = Some(Cost { input_tokens: 7, output_tokens: 2 });
        let said = |cost| Ok(Said { text: "t".to_owned(), cost });
        let message = r#"{"message":{"role":"assistant","content":"t"}}"#;
        let usage = r#""usage":{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9}"#;
        for (read, body, expected) in [
            (open_ai, format!(r#"{{"id":"x","choices":[{message}],{usage}}}"#), said(cost)),
            (open_ai, format!(r#"{{"choices":[{message}]}}"#), said(None)),
            (open_ai, format!(r#"{{"choices":[{message}],"usage":{{"prompt_tokens":-1}}}}"#), said(None)),
            (open_ai, format!(r#"{{"choices":[{message}],"usage":null}}"#), said(None)),
            (open_ai, format!(r#"{{"choices":[{message},{message}]}}"#), Err(Fault::Format)),
            (open_ai, format!(r#"{{"choices":[{message}],"choices":[{message}]}}"#), Err(Fault::Format)),
            (open_ai, r#"{"choices":[]}"#.to_owned(), Err(Fault::Format)),
            (open_ai, r#"{"choices":[{"message":{"content":null}}]}"#.to_owned(), Err(Fault::Format)),
            (open_ai, r#"{"error":{"message":"no such model"}}"#.to_owned(), Err(Fault::Format)),
            (open_ai, r#"{"answer":"allow","reason":"r"}"#.to_owned(), Err(Fault::Format)),
            (open_ai, format!(r#"{{"choices":[{message}]}} x"#), Err(Fault::Format)),
            (open_ai, String::new(), Err(Fault::Format)),
            (open_ai, "[".repeat(100_000), Err(Fault::Format)),
            (open_ai, "\n<!doctype html><p>Log in</p>".to_owned(), Err(Fault::Html)),
            (
                anthropic,
                r#"{"content":[{"type":"text","text":"t"}],"usage":{"input_tokens":7,"output_tokens":2}}"#
                    .to_owned(),
                said(cost),
            ),
            (anthropic, r#"{"content":[{"type":"text","text":"t"}]}"#.to_owned(), said(None)),
            (anthropic, r#"{"content":[{"type":"thinking","text":"t"}]}"#.to_owned(), Err(Fault::Format)),
            (anthropic, r#"{"content":[{"type":"text"}]}"#.to_owned(), Err(Fault::Format)),
            (anthropic, r#"{"content":[]}"#.to_owned(), Err(Fault::Format)),
            (
                anthropic,
                r#"{"content":[{"type":"text","text":"t"},{"type":"text","text":"u"}]}"#.to_owned(),
                Err(Fault::Format),
            ),
        ] {
            assert_eq!(read(body.as_bytes()), expected, "{body:.100}");
        }
    }
}
