//! [`decode`]: converts a hook's standard input to [`Incoming`]. The agents share this shape; the tables hold the
//! differences. This module must not know how a call is judged: it records problems on the call.

use castellan_event::{Agent, Call, IntakeProblem, Override, PATH_BYTES_MAX, Verdict};
use serde_json::{Map, Value as Json};

use crate::agent::AgentId;
use crate::limits::{MALFORMED_TEXT_BYTES_MAX, PAYLOAD_BYTES_MAX, WORD_BYTES_MAX};
use crate::spec::{EventKind, Moment};
use crate::whose::{Whose, whose};
use crate::{input, json};

/// The hook's own knowledge about a call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// Random, never zero, unique for each call.
    pub correlation_id: u64,
    /// Process id of the agent (the hook's parent); 0 if unknown.
    pub agent_pid: u32,
    /// Working directory of the hook: the call's directory if the payload names none.
    pub hook_cwd: String,
}

/// A decoded payload.
#[derive(Debug, Clone, PartialEq)]
pub enum Incoming {
    /// A question about a call before it runs (PreToolUse).
    Question(Call),
    /// A second question about the same call, before the agent's own prompt. The payload has no id of the call.
    Permission(Call),
    /// A call that has run (PostToolUse, PostToolUseFailure).
    Done(Done),
    /// An event that is not about a tool call.
    Session(SessionEvent),
}

/// A call that has run.
#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    /// The call with the input that really ran: another hook may have changed it since the question.
    pub call: Call,
    /// The tool's response; `null` if the payload has none.
    pub response: Json,
    /// True if the agent reports a failure.
    pub failed: bool,
}

/// An event of a session that is not about a tool call: a submitted prompt, the start or the end of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionEvent {
    /// The agent of the event.
    pub agent: Agent,
    /// The kind of event.
    pub moment: Moment,
    /// The prompt, the source of a session's start or the reason of its end; empty if the event has no text. A prompt
    /// need not come from the user: a tool can start an agent with one.
    pub text: String,
}

/// Returns the text that the user submitted; `None` for other events, and for a prompt without words. Qwen Code reports an
/// empty one after each result of a tool. The text need not come from a person, see [`SessionEvent::text`].
pub fn prompt_text(id: AgentId, event: &SessionEvent) -> Option<&str> {
    let known = id.spec().events.iter().find(|known| known.name == event.agent.event)?;
    let is_prompt = matches!(known.kind, EventKind::Session { text_key: Some("prompt"), .. });
    Some(event.text.as_str()).filter(|text| is_prompt && !text.trim().is_empty())
}

/// A payload without a readable call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Malformed {
    /// The error.
    pub message: String,
    /// The readable part of the agent's data.
    pub agent: Box<Agent>,
    /// The beginning of the payload.
    pub text: String,
    /// The sender, if it is not the agent of the registered hook.
    pub(crate) stranger: Option<Stranger>,
}

impl Malformed {
    /// Returns the guarded agent that sent the payload, and its own name of the event, if it started the hook of another agent.
    pub fn other_guarded(&self) -> Option<(AgentId, &str)> {
        match &self.stranger {
            Some(Stranger { whose: Whose::Guarded(sender), event }) => Some((*sender, event)),
            Some(Stranger { whose: Whose::Other(_), .. }) | None => None,
        }
    }
}

/// An agent that started the hook of another agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stranger {
    pub(crate) whose: Whose,
    /// The sender's own name of the event.
    pub(crate) event: String,
}

/// Why the payload has no readable call.
struct Refusal {
    message: String,
    stranger: Option<Stranger>,
}

impl From<String> for Refusal {
    fn from(message: String) -> Refusal {
        Refusal { message, stranger: None }
    }
}

/// Decodes the payload of `event`, the name that the hook was registered with.
///
/// A payload with a call yields the call with its problems, so that it can be denied and recorded. An unknown event, a
/// payload of another event, a size over [`PAYLOAD_BYTES_MAX`] or bad JSON is [`Malformed`].
pub fn decode(agent: AgentId, event: &str, payload: &[u8], origin: &Origin) -> Result<Incoming, Malformed> {
    let mut caller = Agent {
        name: agent.name().to_owned(),
        pid: origin.agent_pid,
        event: event.to_owned(),
        cwd: origin.hook_cwd.clone(),
        ..Agent::default()
    };
    read(agent, payload, origin.correlation_id, &mut caller).map_err(|refusal| Malformed {
        message: refusal.message,
        agent: Box::new(caller),
        text: beginning(payload),
        stranger: refusal.stranger,
    })
}

fn read(id: AgentId, payload: &[u8], correlation_id: u64, caller: &mut Agent) -> Result<Incoming, Refusal> {
    if payload.len() > PAYLOAD_BYTES_MAX {
        return Err(format!("the payload has {} bytes, more than {PAYLOAD_BYTES_MAX}", payload.len()).into());
    }
    if payload.trim_ascii().is_empty() {
        return Err("the payload is empty".to_owned().into());
    }
    let text = String::from_utf8_lossy(payload);
    let mut problems = Vec::new();
    if matches!(text, std::borrow::Cow::Owned(_)) {
        problems.push(IntakeProblem::InvalidUtf8);
    }
    let mut fields =
        json::parse_object(&text).map_err(|error| format!("the payload cannot be read: {error}"))?;
    refuse_stranger(id, &fields)?;
    read_caller(&fields, caller, &mut problems);
    caller.overriding = read_override(&fields, &mut problems);
    refuse_aliases(&fields)?;
    let Some(kind) = id.event_kind(&caller.event) else {
        return Err(
            format!("`{}` is no event of {} that this version knows", caller.event, id.title()).into()
        );
    };
    match fields.get("hook_event_name").and_then(Json::as_str) {
        Some(name) if name == caller.event => {}
        Some(name) => {
            return Err(format!(
                "the payload is of event `{name}`, but its hook is registered for `{}`",
                caller.event
            )
            .into());
        }
        None => return Err("`hook_event_name` is missing or has the wrong type".to_owned().into()),
    }
    let mut call = |fields: &mut Map<String, Json>| {
        let problems = std::mem::take(&mut problems);
        input::read_call(id, fields, correlation_id, caller.clone(), problems)
    };
    Ok(match kind {
        EventKind::Question => Incoming::Question(call(&mut fields)),
        EventKind::Permission => Incoming::Permission(call(&mut fields)),
        EventKind::Done { failed } => {
            let call = call(&mut fields);
            let response = fields.remove(if failed { "error" } else { "tool_response" });
            Incoming::Done(Done { call, response: response.unwrap_or_default(), failed })
        }
        EventKind::Session { moment, text_key } => {
            let text = text_key.map_or(Ok(""), |key| session_text(key, &fields))?.to_owned();
            Incoming::Session(SessionEvent { agent: caller.clone(), moment, text })
        }
    })
}

/// Rejects the payload of an agent other than the registered one. A payload without a matching row is the registered
/// agent's.
fn refuse_stranger(id: AgentId, fields: &Map<String, Json>) -> Result<(), Refusal> {
    match whose(fields) {
        None => Ok(()),
        Some(Whose::Guarded(agent)) if agent == id => Ok(()),
        Some(whose) => {
            let event = fields.get("hook_event_name").and_then(Json::as_str).unwrap_or_default();
            Err(Refusal {
                message: format!("{} has started the hook of {}", whose.title(), id.title()),
                stranger: Some(Stranger { whose, event: event.to_owned() }),
            })
        }
    }
}

fn read_caller(fields: &Map<String, Json>, caller: &mut Agent, problems: &mut Vec<IntakeProblem>) {
    let slots = [
        ("session_id", WORD_BYTES_MAX, &mut caller.session_id),
        ("agent_id", WORD_BYTES_MAX, &mut caller.subagent_id),
        ("permission_mode", WORD_BYTES_MAX, &mut caller.permission_mode),
        ("transcript_path", PATH_BYTES_MAX, &mut caller.transcript_path),
        ("model", WORD_BYTES_MAX, &mut caller.model),
        ("turn_id", WORD_BYTES_MAX, &mut caller.turn_id),
        ("cwd", PATH_BYTES_MAX, &mut caller.cwd),
    ];
    for (key, bytes_max, slot) in slots {
        match fields.get(key) {
            Some(Json::String(value)) => *slot = input::limited(value, key, bytes_max, problems),
            None | Some(Json::Null) => {}
            Some(_) => problems.push(IntakeProblem::WrongType(key.to_owned())),
        }
    }
}

/// Reads the decision of a program that embeds the agent, in the form of claw-code's `PermissionContext`. An unreadable
/// decision is a problem of the call: it may have been a deny.
fn read_override(fields: &Map<String, Json>, problems: &mut Vec<IntakeProblem>) -> Option<Override> {
    let context = fields.get(OVERRIDE_KEY).filter(|context| !context.is_null())?;
    let read = || {
        let context = context.as_object()?;
        let known = context.keys().all(|key| matches!(key.as_str(), "override_decision" | "override_reason"));
        let verdict: Verdict = context.get("override_decision")?.as_str()?.parse().ok()?;
        let reason = context.get("override_reason").map_or(Some(""), Json::as_str)?;
        (known && verdict != Verdict::Defer && reason.len() <= WORD_BYTES_MAX)
            .then(|| Override { verdict, reason: reason.to_owned() })
    };
    let overriding = read();
    if overriding.is_none() {
        problems.push(IntakeProblem::WrongType(OVERRIDE_KEY.to_owned()));
    }
    overriding
}

const OVERRIDE_KEY: &str = "permission_context";

fn session_text<'a>(key: &str, fields: &'a Map<String, Json>) -> Result<&'a str, String> {
    let text = fields.get(key).and_then(Json::as_str);
    text.ok_or_else(|| format!("`{key}` is missing or has the wrong type"))
}

/// The keys of the payload. Other agents spell them differently (`toolInput`).
const CONTRACT_KEYS: &[&str] = &[
    "session_id",
    "agent_id",
    "permission_mode",
    "transcript_path",
    "model",
    "turn_id",
    "cwd",
    "hook_event_name",
    "tool_name",
    "tool_input",
    "tool_use_id",
    "tool_response",
    "mcp_context",
    OVERRIDE_KEY,
];

/// Rejects a key that is a known key in another spelling: castellan would not read the sender's value.
fn refuse_aliases(fields: &Map<String, Json>) -> Result<(), String> {
    for key in fields.keys().filter(|key| !CONTRACT_KEYS.contains(&key.as_str())) {
        let plain = unspelled(key);
        if let Some(known) = CONTRACT_KEYS.iter().find(|known| unspelled(known) == plain) {
            return Err(format!(
                "the key `{}` is not `{known}`, but could be read as it",
                key.escape_debug()
            ));
        }
    }
    Ok(())
}

fn unspelled(key: &str) -> String {
    let letters = key.chars().filter(|c| c.is_ascii_alphanumeric());
    letters.map(|c| c.to_ascii_lowercase()).collect()
}

fn beginning(payload: &[u8]) -> String {
    let start = payload.get(..MALFORMED_TEXT_BYTES_MAX).unwrap_or(payload);
    String::from_utf8_lossy(start).into_owned()
}
