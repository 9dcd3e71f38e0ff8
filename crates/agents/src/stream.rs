//! The JSON lines that an agent writes to its standard output, and the usage in its transcript: one line → session,
//! tool calls, reports of usage. This module must not know how reports are summed or what follows from a sum.
//!
//! castellan counts only what an agent reports. A report that it cannot read is an error, never zero.

mod claude;
mod codex;

use serde_json::{Map, Value as Json};

use crate::agent::AgentId;
use crate::json::{self, JsonError, Keep};
use crate::limits::TOKENS_MAX;
use crate::spec::TranscriptFamily;

/// Tokens by kind. Tokens that were read from a cache are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tokens {
    /// Input, without what came from a cache.
    pub input: u64,
    /// Output, with thinking.
    pub output: u64,
    /// Input that was stored in a cache.
    pub cache_creation: u64,
}

impl Tokens {
    /// Returns the larger value of each kind.
    pub fn max(self, other: Tokens) -> Tokens {
        Tokens {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cache_creation: self.cache_creation.max(other.cache_creation),
        }
    }

    /// Adds each kind; a sum that is too large stays at the largest number.
    #[must_use]
    pub fn plus(self, other: Tokens) -> Tokens {
        Tokens {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_creation: self.cache_creation.saturating_add(other.cache_creation),
        }
    }

    /// Subtracts each kind, down to zero.
    #[must_use]
    pub fn minus(self, other: Tokens) -> Tokens {
        Tokens {
            input: self.input.saturating_sub(other.input),
            output: self.output.saturating_sub(other.output),
            cache_creation: self.cache_creation.saturating_sub(other.cache_creation),
        }
    }
}

/// A report of usage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UsageReport {
    /// The usage of one response. A later report of the same response replaces smaller numbers.
    Response {
        /// The provider's id of the response.
        id: String,
        /// A sub-agent made the request.
        is_subagent: bool,
        /// The tokens so far.
        tokens: Tokens,
    },
    /// The usage of all responses of the main conversation since the last such report.
    Turn(Tokens),
    /// The usage of a whole thread, with earlier starts of the agent.
    Thread(Tokens),
}

/// A tool call in a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamCall {
    /// The agent's id of the call; empty if there is none.
    pub id: String,
    /// The agent's own name of the tool.
    pub tool: String,
    /// The input.
    pub input: Json,
}

/// The content of a line.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StreamLine {
    /// The agent's session id.
    pub session: Option<String>,
    /// The calls that the model requests.
    pub calls: Vec<StreamCall>,
    /// Reports of usage.
    pub usage: Vec<UsageReport>,
    /// The time of writing, as RFC 3339 in UTC; empty if the line has none.
    pub time: String,
}

/// The reason why a line cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StreamProblem {
    /// The line is no UTF-8.
    #[error("a line is not UTF-8")]
    NotUtf8,
    /// The line is no JSON object.
    #[error("a line is no JSON object: {0}")]
    Json(#[from] JsonError),
    /// A response has no usage, or one that is no number of tokens.
    #[error("a response reports no readable usage (`{0}`)")]
    Usage(&'static str),
}

/// Reads one line of the stream, without its line break.
pub fn stream_line(agent: AgentId, line: &[u8]) -> Result<StreamLine, StreamProblem> {
    match agent.spec().families.transcript {
        TranscriptFamily::Messages => claude::stream(&object(line, claude::KEPT)?),
        TranscriptFamily::Items => codex::stream(&object(line, Keep::All)?),
        TranscriptFamily::Unread => object(line, Keep::Keys(&[])).map(|_| StreamLine::default()),
    }
}

/// Reads the usage and the calls in one line of a transcript, without its line break.
pub fn transcript_usage(agent: AgentId, line: &[u8]) -> Result<StreamLine, StreamProblem> {
    let (fields, mut read);
    match agent.spec().families.transcript {
        TranscriptFamily::Messages => {
            fields = object(line, claude::KEPT)?;
            read = claude::transcript(&fields)?;
        }
        TranscriptFamily::Items => {
            fields = object(line, Keep::All)?;
            read = codex::transcript(&fields)?;
        }
        TranscriptFamily::Unread => {
            fields = object(line, Keep::Keys(&[("timestamp", Keep::All)]))?;
            read = StreamLine::default();
        }
    }
    text(&fields, "timestamp").clone_into(&mut read.time);
    Ok(read)
}

/// Returns the words without which no line of a transcript is about usage or a call.
pub fn transcript_words(agent: AgentId) -> impl Iterator<Item = &'static str> {
    agent.spec().transcript.words.iter().copied().chain(["usage"])
}

fn object(line: &[u8], keep: Keep) -> Result<Map<String, Json>, StreamProblem> {
    let line = str::from_utf8(line).map_err(|_| StreamProblem::NotUtf8)?;
    Ok(json::parse_kept(line, keep)?)
}

fn text<'a>(fields: &'a Map<String, Json>, key: &str) -> &'a str {
    fields.get(key).and_then(Json::as_str).unwrap_or_default()
}

/// Reads a number of tokens. A missing one is an error if `is_needed`, else zero.
fn tokens(usage: &Json, key: &'static str, is_needed: bool) -> Result<u64, StreamProblem> {
    match usage.get(key) {
        None | Some(Json::Null) if !is_needed => Ok(0),
        value => value
            .and_then(Json::as_u64)
            .filter(|tokens| *tokens <= TOKENS_MAX)
            .ok_or(StreamProblem::Usage(key)),
    }
}

#[cfg(test)]
mod tests;
