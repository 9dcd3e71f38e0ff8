//! A scripted model: a server that an agent takes for its model's API, asks for the tool calls of a script, and keeps
//! what the agent says back. It must not know which agent talks to it, only which API it speaks.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value as Json;

use crate::http::{Request, Response, Server};
use crate::{anthropic, chat, gemini, openai};

/// The API that a model is reached by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// Anthropic Messages, `POST /v1/messages`.
    Anthropic,
    /// OpenAI Responses, `POST /v1/responses`.
    OpenAi,
    /// Gemini, `POST /v1beta/models/MODEL:streamGenerateContent`.
    Gemini,
    /// OpenAI chat completions, `POST /v1/chat/completions`.
    Chat,
}

/// What one conversation's model says, turn by turn. After its last turn it says `done`.
pub struct Script {
    /// The script is for the conversation whose opening contains this text; of the first script, it is ignored: that
    /// one serves every conversation that no other is for.
    pub prompt: String,
    /// The turns, in order. The next one is served when all calls of the one before have their results.
    pub turns: Vec<Vec<Block>>,
    /// Something that happens just before the turn with this number is served.
    pub before: Option<(usize, Happening)>,
}

/// What happens in the world while a model is at work.
pub type Happening = Box<dyn Fn() + Send + Sync>;

impl Script {
    /// A script for the main conversation.
    pub fn main(turns: impl Into<Vec<Vec<Block>>>) -> Script {
        Script { prompt: String::new(), turns: turns.into(), before: None }
    }

    /// A script for the conversation that opens with `prompt`: a sub-agent's.
    pub fn subagent(prompt: &str, turns: impl Into<Vec<Vec<Block>>>) -> Script {
        Script { prompt: prompt.to_owned(), turns: turns.into(), before: None }
    }

    /// The same script, with something that happens just before turn `turn` is served.
    pub fn before(self, turn: usize, happens: impl Fn() + Send + Sync + 'static) -> Script {
        Script { before: Some((turn, Box::new(happens))), ..self }
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script")
            .field("prompt", &self.prompt)
            .field("turns", &self.turns)
            .finish_non_exhaustive()
    }
}

/// One part of a turn.
#[derive(Debug, Clone)]
pub enum Block {
    /// A call of a tool that takes a JSON object.
    Call {
        /// The tool, by the agent's own name; `namespace.name` where the API groups tools.
        tool: String,
        /// Its input.
        input: Json,
    },
    /// A call of a tool that takes free text (OpenAI only; `apply_patch`).
    FreeCall {
        /// The tool, by the agent's own name.
        tool: String,
        /// Its input.
        input: String,
    },
    /// Something said.
    Text(String),
}

/// Stands in a call's input for the number of the terminal that the last result names.
pub const SESSION: &str = "$SESSION";

impl Block {
    /// The same in a terminal.
    fn within(mut self, session: Option<u64>) -> Block {
        if let (Block::Call { input: Json::Object(fields), .. }, Some(session)) = (&mut self, session) {
            fields.values_mut().filter(|value| *value == SESSION).for_each(|value| *value = session.into());
        }
        self
    }

    /// A call of `tool` with a JSON object.
    pub fn call(tool: &str, input: Json) -> Block {
        Block::Call { tool: tool.to_owned(), input }
    }

    pub(crate) fn is_call(&self) -> bool {
        match self {
            Block::Call { .. } | Block::FreeCall { .. } => true,
            Block::Text(_) => false,
        }
    }
}

/// What the agents told the model so far.
#[derive(Debug, Clone, Default)]
pub struct Heard {
    /// Names of all tools that were offered.
    pub tools: Vec<String>,
    /// What the model was told about each call, by call id: `<script>-<turn>-<block>`, all counted from 0.
    pub results: BTreeMap<String, String>,
    /// Every request that was neither empty nor a token count, in order of arrival.
    pub requests: Vec<Json>,
}

/// How long the end of the main conversation is held back for its sub-agents.
const SUBAGENTS_LIMIT: Duration = Duration::from_secs(30);

/// A running model. It stops when it is dropped.
#[derive(Debug)]
pub struct Model {
    server: Server,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    api: Api,
    scripts: Vec<Script>,
    heard: Mutex<Heard>,
    /// Rung whenever `heard` grows.
    news: Condvar,
}

impl Model {
    /// Starts a model on a free port of 127.0.0.1. The first script is the main conversation's.
    pub fn start(api: Api, scripts: Vec<Script>) -> std::io::Result<Model> {
        let state = Arc::new(State { api, scripts, heard: Mutex::default(), news: Condvar::new() });
        let server = Server::start({
            let state = Arc::clone(&state);
            move |request| state.answer(request)
        })?;
        Ok(Model { server, state })
    }

    /// Returns the port it listens on.
    pub fn port(&self) -> u16 {
        self.server.port()
    }

    /// Returns what it has heard so far.
    pub fn heard(&self) -> Heard {
        self.state.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns what it was told about the call with id `<script>-<turn>-<block>`; `None` when nothing yet.
    pub fn told(&self, call: &str) -> Option<String> {
        self.heard().results.get(call).cloned()
    }
}

/// What a request says, in no API's terms.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    /// The text that the conversation opens with.
    pub(crate) opening: String,
    /// Names of the tools offered; none for a request that only wants text, such as a title.
    pub(crate) tools: Vec<String>,
    /// Results of tool calls, in order: call id and text.
    pub(crate) results: Vec<(String, String)>,
}

/// What the model says next: blocks, each with the id of its call.
pub(crate) type Turn = Vec<(String, Block)>;

impl State {
    fn answer(&self, request: &Request) -> Response {
        let endpoint = match self.api {
            Api::Anthropic => "/messages",
            Api::OpenAi => "/responses",
            Api::Gemini => "enerateContent",
            Api::Chat => "/chat/completions",
        };
        if request.method != "POST" || !request.path.ends_with(endpoint) {
            // Token counts, model lists, telemetry: the agents accept an empty answer.
            let body = br#"{"input_tokens":10,"totalTokens":10,"data":[],"models":[]}"#;
            return Response { content_type: "application/json", body: body.into() };
        }
        let body: Json = serde_json::from_slice(&request.body).unwrap_or_default();
        let conversation = match self.api {
            Api::Anthropic => anthropic::conversation(&body),
            Api::OpenAi => openai::conversation(&body),
            Api::Gemini => gemini::conversation(&body),
            Api::Chat => chat::conversation(&body),
        };
        let (script, turn) = self.next_turn(&conversation);
        let ends =
            script == 0 && !conversation.tools.is_empty() && !turn.iter().any(|(_, block)| block.is_call());
        let number = self.hear(body.clone(), conversation, ends);
        match self.api {
            Api::Anthropic => anthropic::response(&body, number, &turn),
            Api::OpenAi => openai::response(number, &turn),
            Api::Gemini => gemini::response(&request.path, &turn),
            Api::Chat => chat::response(&body, &turn),
        }
    }

    /// Returns the number of the script that the conversation follows, and its next turn.
    fn next_turn(&self, conversation: &Conversation) -> (usize, Turn) {
        let mut subagents = self.scripts.iter().enumerate().skip(1);
        let (number, script) = subagents
            .find(|(_, script)| conversation.opening.contains(&script.prompt))
            .map_or((0, self.scripts.first()), |(number, script)| (number, Some(script)));
        let turns = script.filter(|_| !conversation.tools.is_empty()).map_or(&[][..], |script| &script.turns);
        let index = turns_done(turns, conversation.results.len());
        if let Some((_, happens)) =
            script.and_then(|script| script.before.as_ref()).filter(|(turn, _)| *turn == index)
        {
            happens();
        }
        let turn = match turns.get(index) {
            Some(blocks) => {
                let ids = (0..).map(|block| call_id(number, index, block));
                let session = session_of(&conversation.results);
                ids.zip(blocks.iter().map(|block| block.clone().within(session))).collect()
            }
            None => vec![(String::new(), Block::Text("done".to_owned()))],
        };
        (number, turn)
    }

    /// Keeps what a request says and returns the request's number. A request that `ends` the main conversation is
    /// held until the sub-agents have their results: an agent may drop those that still run when it ends.
    fn hear(&self, body: Json, conversation: Conversation, ends: bool) -> usize {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        for tool in conversation.tools {
            if !heard.tools.contains(&tool) {
                heard.tools.push(tool);
            }
        }
        heard.results.extend(conversation.results);
        heard.requests.push(body);
        let number = heard.requests.len();
        self.news.notify_all();
        if ends {
            let waiting =
                |heard: &mut Heard| self.subagent_calls().any(|call| !heard.results.contains_key(&call));
            // On a timeout the conversation ends all the same: the test sees which result is missing.
            drop(self.news.wait_timeout_while(heard, SUBAGENTS_LIMIT, waiting));
        }
        number
    }

    fn subagent_calls(&self) -> impl Iterator<Item = String> {
        let scripts = self.scripts.iter().enumerate().skip(1);
        let turns = scripts.flat_map(|(number, script)| {
            script.turns.iter().enumerate().map(move |(turn, blocks)| (number, turn, blocks))
        });
        turns.flat_map(|(number, turn, blocks)| {
            let calls = blocks.iter().enumerate().filter(|(_, block)| block.is_call());
            calls.map(move |(block, _)| call_id(number, turn, block))
        })
    }
}

/// The terminal that a result says is still running.
fn session_of(results: &[(String, String)]) -> Option<u64> {
    let (_, after) = results.last()?.1.split_once("session ID ")?;
    after.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn call_id(script: usize, turn: usize, block: usize) -> String {
    format!("{script}-{turn}-{block}")
}

/// Returns how many turns are over, given the number of calls that have a result.
fn turns_done(turns: &[Vec<Block>], results: usize) -> usize {
    let mut calls = 0;
    turns
        .iter()
        .take_while(|turn| {
            calls += turn.iter().filter(|block| block.is_call()).count();
            calls <= results && turn.iter().any(Block::is_call)
        })
        .count()
}

/// Server-sent events: each a type and its data.
pub(crate) fn event_stream(events: &[(&str, Json)]) -> Response {
    let body: String = events.iter().map(|(kind, data)| format!("event: {kind}\ndata: {data}\n\n")).collect();
    Response { content_type: "text/event-stream", body: body.into_bytes() }
}

/// Server-sent events without types: their data.
pub(crate) fn data_stream(data: &[String]) -> Response {
    let body: String = data.iter().map(|data| format!("data: {data}\n\n")).collect();
    Response { content_type: "text/event-stream", body: body.into_bytes() }
}

/// The text of a JSON value that is a string, or a list of blocks with a `text` each.
pub(crate) fn text_of(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Array(blocks) => blocks.iter().map(text_of).collect::<Vec<_>>().join("\n"),
        Json::Object(block) => block.get("text").map(text_of).unwrap_or_default(),
        Json::Null | Json::Bool(_) | Json::Number(_) => String::new(),
    }
}

/// The elements of a JSON list; none when the value is no list.
pub(crate) fn elements(value: &Json) -> &[Json] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The string at `key`, empty when there is none.
pub(crate) fn string_at<'a>(value: &'a Json, key: &str) -> &'a str {
    value.get(key).and_then(Json::as_str).unwrap_or_default()
}
