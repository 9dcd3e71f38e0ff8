//! What an agent's own transcript says of its tool calls: one line → [`TranscriptEntry`]s. Which tools call no hook, and when that
//! matters, is a table of each agent. It must not know what was decided, nor where a transcript lies.
//!
//! Measured on Claude Code 2.1.330 and Codex 0.169.0: a call stands in the transcript before its hook is asked, what became of it
//! after that.

mod claude;
mod codex;

use castellan_event::ToolKind;
use serde_json::{Map, Value as Json};

use crate::agent::AgentId;
use crate::spec::{Acts, TranscriptFamily};
use crate::{json, tools};

/// What a line says of calls.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TranscriptLine {
    /// When it was written, as RFC 3339 in UTC; empty where it does not say.
    pub time: String,
    /// What it says, in order.
    pub entries: Vec<TranscriptEntry>,
}

/// What a line says of one call.
#[derive(Debug, Clone, PartialEq)]
pub enum TranscriptEntry {
    /// The model asks for a call.
    Begun(TranscriptCall),
    /// A call is over.
    Ended {
        /// Its id.
        id: String,
        /// Whether it was carried out, with or without success.
        ran: bool,
    },
    /// A call was carried out that begins nowhere in the transcript.
    Ran(TranscriptCall),
}

/// A call as a transcript tells it.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptCall {
    /// The agent's id of it, the one that hooks are told; empty where it has none.
    pub id: String,
    /// Canonical name of the tool.
    pub tool: String,
    /// What the model asked for. Paths are not yet absolute, and another hook may have changed it since.
    pub input: Json,
    /// Nothing that needs a decision: the agent's own state, or a tool that calls no hook and does nothing by itself.
    pub is_harmless: bool,
}

/// Reads one line, without its line break. A line that may be about calls and cannot be read is an error, which says why.
pub fn transcript_line(agent: AgentId, line: &[u8]) -> Result<TranscriptLine, String> {
    let line = str::from_utf8(line).map_err(|_| "not UTF-8".to_owned())?;
    if line.trim().is_empty() {
        return Ok(TranscriptLine::default());
    }
    if !line.starts_with('{') {
        return Err("not a JSON object".to_owned());
    }
    // Most lines, and all the long ones, are about something else.
    let spec = agent.spec();
    if !spec.transcript.words.iter().any(|word| line.contains(word)) {
        return Ok(TranscriptLine::default());
    }
    let fields = json::parse_object(line)?;
    let entries = match spec.families.transcript {
        TranscriptFamily::Messages => claude::entries(agent, &fields),
        TranscriptFamily::Items => codex::entries(agent, &fields),
        TranscriptFamily::Unread => Vec::new(),
    };
    Ok(TranscriptLine { time: text(&fields, "timestamp").to_owned(), entries })
}

/// Returns the folder in which the transcripts of a session's sub-agents lie, given the session's own; `None` where each has a
/// session of its own.
pub fn subagent_transcripts(agent: AgentId, transcript: &str) -> Option<String> {
    let folder = agent.spec().transcript.subagents?;
    Some(format!("{}/{folder}", transcript.strip_suffix(".jsonl")?))
}

/// A call by the agent's own name of the tool.
fn call(agent: AgentId, id: &str, raw: &str, input: Json) -> TranscriptCall {
    let hookless = agent.spec().transcript.hookless;
    let tool = tools::tool(agent, raw, String::new());
    let is_harmless = match hookless.iter().find(|hookless| hookless.tool == raw) {
        Some(hookless) => !acts(hookless.acts, &input),
        None => tool.kind == ToolKind::Internal,
    };
    TranscriptCall { id: id.to_owned(), tool: tool.name, input, is_harmless }
}

fn acts(acts: Acts, input: &Json) -> bool {
    match acts {
        Acts::Never => false,
        // What is no text at all is nothing known.
        Acts::Given(key) => input.get(key).is_none_or(|given| given.as_str() != Some("")),
        Acts::Naming(word) => input.as_str().is_none_or(|text| text.contains(word)),
    }
}

fn text<'a>(fields: &'a Map<String, Json>, key: &str) -> &'a str {
    fields.get(key).and_then(Json::as_str).unwrap_or_default()
}
