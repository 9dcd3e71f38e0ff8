//! A scripted model: a server in the place of a model's API, which requests the tool calls of a script and stores the
//! agent's messages. Must not depend on the agent, only on the API.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value as Json;

use crate::http::{Request, Response, Server};
use crate::{anthropic, chat, gemini, openai};

/// The API of a model.
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

/// The model's turns in one conversation. After its last turn the model answers `done`.
pub struct Script {
    /// A text in the opening of the script's conversation. Ignored for the first script, which serves every
    /// conversation without another script.
    pub prompt: String,
    /// The turns, in order. The next turn is served when all calls of the previous turn have results.
    pub turns: Vec<Vec<Block>>,
    /// An action just before the turn with this number is served.
    pub before: Option<(usize, Happening)>,
    /// The model also requests calls where the agent offers no tools.
    pub insists: bool,
}

/// An action that changes the world while a model runs.
pub type Happening = Box<dyn Fn() + Send + Sync>;

impl Script {
    /// A script for the main conversation.
    pub fn main(turns: impl Into<Vec<Vec<Block>>>) -> Script {
        Script { prompt: String::new(), turns: turns.into(), before: None, insists: false }
    }

    /// A script for the conversation that opens with `prompt`: a sub-agent's.
    pub fn subagent(prompt: &str, turns: impl Into<Vec<Vec<Block>>>) -> Script {
        Script { prompt: prompt.to_owned(), turns: turns.into(), before: None, insists: false }
    }

    /// Also requests calls where the agent offers no tools.
    #[must_use]
    pub fn insisting(self) -> Script {
        Script { insists: true, ..self }
    }

    /// Adds an action just before turn `turn` is served.
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

/// A part of a turn.
#[derive(Debug, Clone)]
pub enum Block {
    /// A call of a tool that takes a JSON object.
    Call {
        /// The tool, by the agent's own name; `namespace.name` if the API groups tools.
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
    /// A message.
    Text(String),
}

/// Placeholder in a call's input for the number of the terminal in the last result.
pub const SESSION: &str = "$SESSION";

/// Placeholder in a call's input for the file of a plan that the agent's request names.
pub const PLAN_FILE: &str = "$PLAN_FILE";

/// Returns the path of the plan file in a request: an absolute path below `plans` that ends in `.md`.
fn plan_file(request: &str) -> Option<String> {
    let end = request.find(".md").map(|_| request.match_indices(".md"))?;
    let paths = end.filter_map(|(at, _)| {
        let before = request.get(..at)?;
        let start =
            before.rfind(|c: char| !(c.is_ascii_alphanumeric() || "/._-".contains(c))).map_or(0, |at| at + 1);
        request.get(start..at + 3).filter(|path| path.starts_with('/') && path.contains("/plans/"))
    });
    paths.map(str::to_owned).next()
}

impl Block {
    /// Replaces [`PLAN_FILE`] by a path.
    fn name_plan_file(&mut self, path: &str) {
        if let Block::Call { input: Json::Object(fields), .. } = self {
            fields.values_mut().filter(|value| *value == PLAN_FILE).for_each(|value| *value = path.into());
        }
    }

    /// Replaces [`SESSION`] by the number of a terminal.
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

/// The messages of the agents to the model so far.
#[derive(Debug, Clone, Default)]
pub struct Heard {
    /// Names of all tools that were offered.
    pub tools: Vec<String>,
    /// The result of each call, by call id: `<script>-<turn>-<block>`, all counted from 0.
    pub results: BTreeMap<String, String>,
    /// Every request that was neither empty nor a token count, in order of arrival.
    pub requests: Vec<Json>,
}

/// Limit of the wait for sub-agents at the end of the main conversation.
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
    /// Notified when `heard` grows.
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

    /// Returns the port of the server.
    pub fn port(&self) -> u16 {
        self.server.port()
    }

    /// Returns all messages so far.
    pub fn heard(&self) -> Heard {
        self.state.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the result of the call with id `<script>-<turn>-<block>`; `None` if there is none yet.
    pub fn result_of(&self, call: &str) -> Option<String> {
        self.heard().results.get(call).cloned()
    }
}

/// The contents of a request, independent of the API.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    /// The text that the conversation opens with.
    pub(crate) opening: String,
    /// Names of the offered tools; none for a request that only wants text, such as a title.
    pub(crate) tools: Vec<String>,
    /// Results of tool calls, in order: call id and text.
    pub(crate) results: Vec<(String, String)>,
}

/// The model's next blocks, each with the id of its call.
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
        let (script, mut turn) = self.next_turn(&conversation);
        if let (Api::Anthropic, Some(answer)) = (self.api, anthropic::answer_to_question(&body)) {
            turn = vec![(String::new(), Block::Text(answer.to_owned()))];
        }
        if let Some(path) = plan_file(&String::from_utf8_lossy(&request.body)) {
            turn.iter_mut().for_each(|(_, block)| block.name_plan_file(&path));
        }
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

    /// Returns the number of the conversation's script, and its next turn.
    fn next_turn(&self, conversation: &Conversation) -> (usize, Turn) {
        let mut subagents = self.scripts.iter().enumerate().skip(1);
        let (number, script) = subagents
            .find(|(_, script)| conversation.opening.contains(&script.prompt))
            .map_or((0, self.scripts.first()), |(number, script)| (number, Some(script)));
        let turns = script
            .filter(|script| script.insists || !conversation.tools.is_empty())
            .map_or(&[][..], |script| &script.turns);
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

    /// Stores a request and returns its number. A request that `ends` the main conversation waits until the sub-agents
    /// have their results, because an agent may drop running sub-agents at its end.
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
            // After a timeout the conversation ends too; the test then sees the missing result.
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

/// Returns the terminal that a result reports as running.
fn session_of(results: &[(String, String)]) -> Option<u64> {
    let (_, after) = results.last()?.1.split_once("session ID ")?;
    after.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn call_id(script: usize, turn: usize, block: usize) -> String {
    format!("{script}-{turn}-{block}")
}

/// Returns the number of finished turns, from the number of calls with a result.
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

/// Encodes server-sent events, each with a type and data.
pub(crate) fn event_stream(events: &[(&str, Json)]) -> Response {
    let body: String = events.iter().map(|(kind, data)| format!("event: {kind}\ndata: {data}\n\n")).collect();
    Response { content_type: "text/event-stream", body: body.into_bytes() }
}

/// Encodes server-sent events without types.
pub(crate) fn data_stream(data: &[String]) -> Response {
    let body: String = data.iter().map(|data| format!("data: {data}\n\n")).collect();
    Response { content_type: "text/event-stream", body: body.into_bytes() }
}

/// Returns the text of a JSON string, or of a list of blocks with a `text` each.
pub(crate) fn text_of(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Array(blocks) => blocks.iter().map(text_of).collect::<Vec<_>>().join("\n"),
        Json::Object(block) => block.get("text").map(text_of).unwrap_or_default(),
        Json::Null | Json::Bool(_) | Json::Number(_) => String::new(),
    }
}

/// Returns the elements of a JSON list; none for another value.
pub(crate) fn elements(value: &Json) -> &[Json] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns the string at `key`, or an empty string.
pub(crate) fn string_at<'a>(value: &'a Json, key: &str) -> &'a str {
    value.get(key).and_then(Json::as_str).unwrap_or_default()
}
