//! The tool calls in an agent's own transcript: one line → [`TranscriptEntry`]s. Each agent's table lists the tools
//! without a hook, and when they matter. This module must not know the verdicts or the place of a transcript.
//!
//! Measured on Claude Code 2.1.330 and Codex 0.169.0: the transcript contains a call before its hook runs, and the
//! call's outcome after that.

mod claude;
mod codex;

use castellan_event::ToolKind;
use serde_json::{Map, Value as Json};

use crate::agent::AgentId;
use crate::json::JsonError;
use crate::spec::{Acts, TranscriptFamily};
use crate::{json, tools};

/// The calls in a line.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TranscriptLine {
    /// The time of writing, as RFC 3339 in UTC; empty if the line has none.
    pub time: String,
    /// The entries, in order.
    pub entries: Vec<TranscriptEntry>,
}

/// An entry about one call.
#[derive(Debug, Clone, PartialEq)]
pub enum TranscriptEntry {
    /// The model requests a call.
    Begun(TranscriptCall),
    /// A call is over.
    Ended {
        /// Its id.
        id: String,
        /// True if the call ran, with or without success.
        ran: bool,
    },
    /// A call that ran and has no beginning in the transcript.
    Ran(TranscriptCall),
}

/// A call in a transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptCall {
    /// The agent's id of the call, equal to the id in hooks; empty if there is none.
    pub id: String,
    /// Canonical name of the tool.
    pub tool: String,
    /// The model's input. Paths are not yet absolute, and another hook may have changed the input since.
    pub input: Json,
    /// The call needs no decision: it concerns the agent's own state, or its tool has no hook and no effect by itself.
    pub is_harmless: bool,
}

/// The reason why a line of a transcript cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TranscriptError {
    /// The line is no UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// The line does not begin like a JSON object.
    #[error("not a JSON object")]
    NoObject,
    /// The line may concern calls and is no JSON object.
    #[error(transparent)]
    Json(#[from] JsonError),
}

/// Reads one line, without its line break. A line that may concern calls and does not parse is an error.
pub fn transcript_line(agent: AgentId, line: &[u8]) -> Result<TranscriptLine, TranscriptError> {
    let line = str::from_utf8(line).map_err(|_| TranscriptError::NotUtf8)?;
    if line.trim().is_empty() {
        return Ok(TranscriptLine::default());
    }
    if !line.starts_with('{') {
        return Err(TranscriptError::NoObject);
    }
    // Most lines, and all the long ones, concern something else.
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

/// Returns the folder of a session's sub-agent transcripts, given its own; `None` if each sub-agent has its own
/// session.
pub fn subagent_transcripts(agent: AgentId, transcript: &str) -> Option<String> {
    let folder = agent.spec().transcript.subagents?;
    Some(format!("{}/{folder}", transcript.strip_suffix(".jsonl")?))
}

/// Builds a call from the agent's own name of the tool.
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
        // A value that is not text is unknown, so the tool may act.
        Acts::Given(key) => input.get(key).is_none_or(|given| given.as_str() != Some("")),
        Acts::Naming(word) => input.as_str().is_none_or(|text| text.contains(word)),
    }
}

fn text<'a>(fields: &'a Map<String, Json>, key: &str) -> &'a str {
    fields.get(key).and_then(Json::as_str).unwrap_or_default()
}
